import { DatabaseError, failureOf } from "./failure.ts";
import { LinkFailure } from "./link.ts";
import type { Answer, Values } from "./link.ts";
import type { Slot } from "./slot.ts";
import type { Statement } from "./statement.ts";
import { controlsTransaction } from "./transaction-control.ts";

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
  #isRunning = false;
  // Those whose turn comes after what runs.
  readonly #turns: (() => void)[] = [];
  #whenIdle: (() => void) | undefined = undefined;
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

  exec<P extends readonly unknown[], A>(statement: Statement<P, A>, ...params: P): Promise<A> {
    const read = this.#exec(statement, params);
    // Of a failure that nobody waits for, the commit tells: a statement that failed stops the transaction.
    if (this.#isTransaction) read.catch(nothing);
    return read;
  }

  async #exec<P extends readonly unknown[], A>(statement: Statement<P, A>, params: P): Promise<A> {
    if (this.#hasEnded) throw new DatabaseError({ kind: "connection_closed" });
    const { sql } = statement;
    if (this.#isTransaction && controlsTransaction(sql)) throw nested();
    const values = statement.print(params);
    if (this.#isRunning) await new Promise<void>((resolve) => this.#turns.push(resolve));
    this.#isRunning = true;
    let answer: Answer;
    try {
      if (this.isAborted) throw abandoned();
      if (bounds.test(sql)) this.#slot.isUnbounded = true;
      answer = await this.#slot.run(sql, values);
    } catch (thrown) {
      throw thrown instanceof LinkFailure ? this.#failureOf(thrown, sql, values) : thrown;
    } finally {
      this.#next();
    }
    return statement.read(answer);
  }

  #next(): void {
    const turn = this.#turns.shift();
    if (turn !== undefined) return turn();
    this.#isRunning = false;
    this.#whenIdle?.();
  }

  /** Lets what runs come to its end, and takes no more. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    if (this.#isRunning) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
    this.#signal?.removeEventListener("abort", this.#abort);
    // A cancellation under way could still hit what runs next.
    if (this.#cancelling !== undefined) await this.#cancelling;
  }

  #failureOf({ trouble }: LinkFailure, sql: string, values: Values): DatabaseError {
    if (this.#cancelling !== undefined && trouble.kind === "refused" && trouble.code === "57014") return abandoned();
    const failure = failureOf(trouble, sql, values);
    if (failure.kind === "not_serializable") this.hasConflicted = true;
    return new DatabaseError(failure);
  }

  readonly #abort = (): void => {
    if (this.#slot.link.isRunning) this.#cancelling = this.#slot.link.cancel();
  };
}

// A statement that sets the server's bound is about to take longer than the pool's own allows for.
const bounds = /\bstatement_timeout\b/i;

function nothing(): void {}

function nested(): DatabaseError {
  return new DatabaseError({ kind: "not_committed", detail: "a transaction neither begins nor ends inside another" });
}

// Nobody is left to be told that the server did what it was asked: no bug, so no error in the log.
function abandoned(): DatabaseError {
  const detail = "the statement was ended, as who asked for it went away";
  return new DatabaseError({ kind: "db", code: "57014", detail }, true);
}
