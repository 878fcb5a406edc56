import type { Answer, Link, Values } from "./link.ts";

/** One connection of a pool, and what the pool's housekeeping knows of it. */
export class Slot {
  readonly link: Link;
  /** When it is renewed, by `performance.now()`. */
  endsAt: number;
  /** How long the statement runs that runs: counted by the sweep, as a clock asked for every statement costs more. */
  runningMs = 0;
  idleMs = 0;
  /** Set where the borrower gave the server a bound of its own. */
  isUnbounded = false;

  constructor(link: Link, endsAt: number) {
    this.link = link;
    this.endsAt = endsAt;
  }

  run(sql: string, values: Values): Promise<Answer> {
    this.runningMs = 0;
    return this.link.run(sql, values);
  }
}
