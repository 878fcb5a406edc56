import { DatabaseError, failureOf } from "./failure.ts";
import type { LinkFailure } from "./link.ts";
import type { Answer, Values } from "./link.ts";
import type { Slot } from "./slot.ts";
import type { Statement } from "./statement.ts";

/** What statements run on: a pool, or a connection that was borrowed from one. */
export interface Database {
  /** Runs a statement with its parameters. Throws a {@link DatabaseError}. */
  exec<P extends readonly unknown[], A>(statement: Statement<P, A>, ...params: P): Promise<A>;
}

/** A connection while it is lent: its statements run one after another, and none once it went back. */
export class Lease implements Database {
  readonly #slot: Slot;
  readonly #signal: AbortSignal | undefined;
  readonly #isTransaction: boolean;
  #last: Promise<unknown> | undefined = undefined;
  #cancelling: Promise<void> | undefined = undefined;
  #hasEnded = false;
  /** Whether a concurrent transaction stood in the way of one of its statements. */
  hasConflicted = false;

  constructor(slot: Slot, signal: AbortSignal | undefined, isTransaction: boolean) {
    this.#slot = slot;
    this.#signal = signal;
    this.#isTransaction = isTransaction;
    signal?.addEventListener("abort", this.#abort);
  }

  get isAborted(): boolean {
    return this.#signal?.aborted === true;
  }

  async exec<P extends readonly unknown[], A>(statement: Statement<P, A>, ...params: P): Promise<A> {
    if (this.#hasEnded) throw new DatabaseError({ kind: "connection_closed" });
    if (this.#isTransaction && controls.test(statement.sql)) throw nested();
    const values = statement.print(params);
    const before = this.#last;
    const answer =
      before === undefined ? this.#run(statement, values) : before.then(() => this.#run(statement, values));
    // Of a failure nobody waited for, the end of the work is told by what the server makes of the commit.
    const last = answer.then(nothing, nothing).finally(() => {
      if (this.#last === last) this.#last = undefined;
    });
    this.#last = last;
    return statement.read(await answer);
  }

  /** Lets what runs come to its end, and takes no more. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    this.#signal?.removeEventListener("abort", this.#abort);
    await this.#last;
    // A cancellation under way could still hit what runs next.
    await this.#cancelling;
  }

  async #run({ sql }: Statement<never, unknown>, values: Values): Promise<Answer> {
    if (this.isAborted) throw abandoned();
    if (bounds.test(sql)) this.#slot.isUnbounded = true;
    try {
      return await this.#slot.run(sql, values);
    } catch (thrown) {
      const { trouble } = thrown as LinkFailure;
      if (this.#cancelling !== undefined && trouble.kind === "refused" && trouble.code === "57014") throw abandoned();
      const failure = failureOf(trouble, sql, values);
      if (failure.kind === "not_serializable") this.hasConflicted = true;
      throw new DatabaseError(failure);
    }
  }

  readonly #abort = (): void => {
    if (this.#slot.link.isRunning) this.#cancelling = this.#slot.link.cancel();
  };
}

// A statement that sets the server's bound is about to take longer than the pool's own allows for.
const bounds = /\bstatement_timeout\b/i;
// Savepoints are the transaction's own affair; its beginning and its end are not.
const controls =
  /^\s*(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))\b/i;

function nothing(): void {}

function nested(): DatabaseError {
  return new DatabaseError({ kind: "not_committed", detail: "a transaction neither begins nor ends inside another" });
}

// Nobody is left to be told that the server did what it was asked: no bug, so no error in the log.
function abandoned(): DatabaseError {
  const detail = "the statement was ended, as who asked for it went away";
  return new DatabaseError({ kind: "db", code: "57014", detail }, true);
}
