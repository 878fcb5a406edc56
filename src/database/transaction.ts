import { Refusal } from "../refusals.ts";
import { info, warn } from "./acquire-queue.ts";
import type { PooledConnection } from "./acquire-queue.ts";
import type { Borrow } from "./connection-pool.ts";
import { LinkFailure } from "./connection.ts";
import type { StatementResult, StatementValues } from "./connection.ts";
import { DatabaseError, failureOf } from "./failure.ts";
import type { DatabaseFailure } from "./failure.ts";
import type { Statement } from "./statement.ts";

// Savepoints are a transaction's own affair; its beginning and its end are not.
const controls =
  /(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))\b/iy;

/** Whether a statement begins or ends a transaction. */
export function controlsTransaction(sql: string): boolean {
  controls.lastIndex = beginningOf(sql);
  return controls.test(sql);
}

// Blanks, empty statements and comments to the end of the line; those between marks hold others (PostgreSQL §4.1.5).
const ignored = /(?:[\s;]|--[^\n\r]*)*/y;
const mark = /\/\*|\*\//g;

/** Where a statement's first word is. */
function beginningOf(sql: string): number {
  for (let at = 0; ; at = endOfComment(sql, at)) {
    ignored.lastIndex = at;
    ignored.test(sql);
    at = ignored.lastIndex;
    if (!sql.startsWith("/*", at)) return at;
  }
}

function endOfComment(sql: string, start: number): number {
  mark.lastIndex = start;
  for (let depth = 0; ;) {
    const found = mark.exec(sql);
    if (found === null) return sql.length;
    depth += found[0] === "/*" ? 1 : -1;
    if (depth === 0) return mark.lastIndex;
  }
}

/** What statements run on: a pool, or a connection that was borrowed from one. */
export interface Database {
  /** Runs a statement with its parameters. Throws a {@link DatabaseError}. */
  exec<P extends readonly unknown[], A>(statement: Statement<P, A>, ...params: P): Promise<A>;
}

/** A connection while it is lent: its statements run one after another, and none once it went back. */
export class Lease implements Database {
  readonly #slot: PooledConnection;
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

  constructor(slot: PooledConnection, signal: AbortSignal | undefined, isTransaction: boolean) {
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
    let answer: StatementResult;
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

  #failureOf({ trouble }: LinkFailure, sql: string, values: StatementValues): DatabaseError {
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

export type Isolation = "read committed" | "repeatable read" | "serializable";

export interface TransactionOptions extends Borrow {
  /** The database's own default where it is not given. */
  readonly isolation?: Isolation;
  /** How often the work is run again in full where a concurrent transaction stood in its way; 0 by default. */
  readonly retries?: number;
  /** Whether what a refused work wrote is kept all the same, as a count of wrong codes is. */
  readonly keep?: (refusal: Refusal) => boolean;
}

/** Where connections come from, and go back to. */
interface BorrowedConnection {
  take(borrow: Borrow): Promise<PooledConnection>;
  give(slot: PooledConnection): void;
}

const begins: ReadonlyMap<Isolation | undefined, string> = /* @__PURE__ */ new Map([
  [undefined, "begin"],
  ["read committed", "begin isolation level read committed"],
  ["repeatable read", "begin isolation level repeatable read"],
  ["serializable", "begin isolation level serializable"],
]);

/** What came of one run of the work. */
type AttemptOutcome<A> =
  | { readonly kind: "done"; readonly value: A }
  | { readonly kind: "failed"; readonly thrown: unknown };

/** Runs a work in a transaction, again where that was asked for; answers what it answered, with the connection to give back. */
export async function transact<A>(
  slots: BorrowedConnection,
  work: (db: Database) => Promise<A>,
  options: TransactionOptions,
  lent: (slot: PooledConnection) => void,
): Promise<A> {
  const begin = begins.get(options.isolation);
  if (begin === undefined) throw new Error("isolation is read committed, repeatable read or serializable");
  const slot = await begun(slots, begin, options, lent);
  for (let left = options.retries ?? 0; ; left--) {
    const outcome = await attempt(slot, work, options);
    if (outcome.kind === "done") return outcome.value;
    const { thrown } = outcome;
    const isConflict = thrown instanceof DatabaseError && thrown.failure.kind === "not_serializable";
    if (!isConflict || left <= 0 || options.signal?.aborted) throw thrown;
    info(`a transaction is run again: ${thrown.message}`);
    await slot.run(begin, []).catch((failure: unknown) => {
      // As where the first one fails: it is not what the next borrower should get.
      slot.link.cut();
      throw notBegun(failure);
    });
  }
}

/** A connection with a transaction begun on it. Where that fails nothing was done, so another connection is tried, once. */
async function begun(
  slots: BorrowedConnection,
  begin: string,
  borrow: Borrow,
  lent: (slot: PooledConnection) => void,
): Promise<PooledConnection> {
  for (let isSecond = false; ; isSecond = true) {
    const slot = await slots.take(borrow);
    try {
      await slot.run(begin, []);
      lent(slot);
      return slot;
    } catch (failure) {
      // Whatever is wrong with it, it is not what the next borrower should get.
      slot.link.cut();
      slots.give(slot);
      if (isSecond) throw notBegun(failure);
    }
  }
}

async function attempt<A>(
  slot: PooledConnection,
  work: (db: Database) => Promise<A>,
  { signal, keep }: TransactionOptions,
): Promise<AttemptOutcome<A>> {
  const lease = new Lease(slot, signal, true);
  let value: A;
  try {
    value = await work(lease);
  } catch (thrown) {
    await lease.end();
    await rollBack(slot);
    return { kind: "failed", thrown };
  }
  await lease.end();
  const refused: Refusal | undefined = value instanceof Refusal ? value : undefined;
  if (refused !== undefined && keep?.(refused) !== true) {
    await rollBack(slot);
    return { kind: "done", value };
  }
  const failure = lease.isAborted ? await abandon(slot) : await commit(slot, lease.hasConflicted);
  if (failure === undefined) return { kind: "done", value };
  if (refused === undefined) return { kind: "failed", thrown: new DatabaseError(failure) };
  const error = new DatabaseError(failure);
  warn(`what a refused work wrote is not kept: ${error.message}`);
  return { kind: "done", value };
}

async function abandon(slot: PooledConnection): Promise<DatabaseFailure> {
  await rollBack(slot);
  return { kind: "not_committed", detail: "who asked for it went away" };
}

/** A connection that does not roll back is of no use to anybody. */
async function rollBack(slot: PooledConnection): Promise<void> {
  slot.isUnbounded = false;
  if (slot.link.isOpen) await slot.end("rollback").catch(() => slot.link.cut());
}

/** Commits; answers why that was not to be. */
async function commit(slot: PooledConnection, hasConflicted: boolean): Promise<DatabaseFailure | undefined> {
  try {
    const { command } = await slot.end("commit");
    if (command === "COMMIT") return undefined;
    // The server rolls back what a failed statement stopped, whatever it is asked (PostgreSQL, COMMIT).
    const detail = "one of its statements had failed";
    return { kind: hasConflicted ? "not_serializable" : "not_committed", detail };
  } catch (thrown) {
    // What is deferred runs now, and may quote a value of any statement before.
    const failure = failureOf((thrown as LinkFailure).trouble, "commit", undefined);
    if (failure.kind === "connection_closed")
      return { kind: "not_committed", detail: "its connection closed before the commit was sent" };
    return failure.kind === "db" ? { kind: "not_committed", detail: failure.detail } : failure;
  } finally {
    // Of what the transaction set, its bound is gone with it.
    slot.isUnbounded = false;
  }
}

function notBegun(failure: unknown): DatabaseError {
  const why = failureOf((failure as LinkFailure).trouble, "begin", []);
  const detail = "detail" in why ? why.detail : "the connection closed before the transaction began";
  return new DatabaseError({ kind: "unsent", detail });
}
