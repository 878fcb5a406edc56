import { openStatement } from "../tracing/current-span.ts";
import type { OpenSpan } from "../tracing/span.ts";
import type { Answer, Description, Link, LinkFailure, LinkTrouble, Values } from "./link.ts";

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
  /** The connection that takes its place when it is given back. */
  successor: Slot | undefined = undefined;
  /** Whether what runs ends what its borrower did. */
  isEnding = false;

  constructor(link: Link, endsAt: number) {
    this.link = link;
    this.endsAt = endsAt;
  }

  run(sql: string, values: Values): Promise<Answer> {
    this.runningMs = 0;
    this.isEnding = false;
    return this.#run(sql, values);
  }

  /** Has the server describe a statement, which it does not run. */
  describe(sql: string): Promise<Description> {
    this.runningMs = 0;
    this.isEnding = false;
    return this.link.describe(sql);
  }

  /** Asks whether the server is there. */
  ask(): Promise<Answer> {
    this.runningMs = 0;
    this.isEnding = false;
    return this.link.run("select 1", []);
  }

  /** Commits, or rolls back. */
  end(sql: "commit" | "rollback"): Promise<Answer> {
    this.runningMs = 0;
    this.isEnding = true;
    return this.#run(sql, []);
  }

  /** Makes the session new; one that cannot be is of no use to anybody. */
  async renew(sql: string): Promise<void> {
    this.runningMs = 0;
    this.isEnding = true;
    await this.link.script(sql).catch(() => this.link.cut());
  }

  #run(sql: string, values: Values): Promise<Answer> {
    const span = openStatement(sql);
    return span === undefined ? this.link.run(sql, values) : traced(span, this.link.run(sql, values));
  }
}

async function traced(span: OpenSpan, running: Promise<Answer>): Promise<Answer> {
  try {
    return await running;
  } catch (thrown) {
    const kind = kindOf((thrown as LinkFailure).trouble);
    span.set("error.type", kind);
    span.fail(kind);
    throw thrown;
  } finally {
    span.end();
  }
}

// The server's code or what became of the link: what is said of it may quote a value.
function kindOf(trouble: LinkTrouble): string {
  return trouble.kind === "refused" ? trouble.code : trouble.kind;
}
