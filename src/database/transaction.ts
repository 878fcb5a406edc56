import { isObject, needs, needsCount, needsFunction, needsOptions } from "../arguments.ts";
import { onAbort } from "../following.ts";
import { currentDeadline } from "../logging/context.ts";
import { isA } from "../logging/raised.ts";
import { Queue } from "../queue.ts";
import { Refusal } from "../refusals.ts";
import { info, warn } from "./acquire-queue.ts";
import type { PooledConnection } from "./acquire-queue.ts";
import type { Borrow } from "./connection-pool.ts";
import { ConnectionFailure } from "./connection.ts";
import type { StatementResult, StatementValues } from "./connection.ts";
import { DatabaseError, clipped, failureOf } from "./failure.ts";
import type { DatabaseFailure } from "./failure.ts";
import { queryStatement } from "./query.ts";
import type { QueryStatement } from "./query.ts";
import type { BatchOptions, QueryOptions, QueryResult, QueryRow, Queryable } from "./queryable.ts";
import { needsStatement } from "./statement.ts";
import type { Statement } from "./statement.ts";

// Statements that begin or end a transaction. Savepoints are allowed.
const controls =
  /(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))\b/iy;

/** Whether a statement begins or ends a transaction. */
export function controlsTransaction(sql: string): boolean {
  controls.lastIndex = beginningOf(sql);
  return controls.test(sql);
}

// White space, empty statements and line comments. Block comments nest (PostgreSQL §4.1.5), so a loop reads them.
const ignored = /(?:[\s;]|--[^\n\r]*)*/y;
const mark = /\/\*|\*\//g;

/** The index of a statement's first word. */
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

/** Where a borrowed connection is. While it is ending, the statements that it has accepted still run, and it takes no others. */
type LeaseState =
  | { readonly at: "idle" }
  | { readonly at: "running" }
  | { readonly at: "ending"; readonly whenIdle: () => void }
  | { readonly at: "ended" };

const idle: LeaseState = { at: "idle" };
const running: LeaseState = { at: "running" };
const ended: LeaseState = { at: "ended" };

/** A borrowed connection. Its statements run one after another, and are refused once it is released. */
export class Lease implements Queryable {
  readonly #pooled: PooledConnection;
  readonly signal: AbortSignal | undefined;
  readonly #unlisten: (() => void) | undefined;
  readonly #isTransaction: boolean;
  #state: LeaseState = idle;
  /** The numbers of its open cursors. */
  readonly #cursors = new Set<number>();
  // Statements that wait for the running one.
  readonly #turns = new Queue<() => void>();
  #cancelling: Promise<void> | undefined = undefined;
  readonly #keep: TransactionOptions["keep"];
  /** A refusal, and the answer of `keep` for it. */
  #kept: readonly [refused: Refusal, commits: boolean] | undefined = undefined;
  /** Whether one of its statements conflicted with a concurrent transaction. */
  hasConflicted = false;
  /** Whether a refusal is kept in it, which is committed; its work is rolled back already, unless that is committed too. */
  keepsRefusal = false;

  constructor(
    pooled: PooledConnection,
    signal: AbortSignal | undefined,
    isTransaction: boolean,
    keep?: TransactionOptions["keep"],
  ) {
    this.#pooled = pooled;
    this.signal = signal;
    this.#isTransaction = isTransaction;
    this.#keep = keep;
    this.#unlisten = signal && onAbort(signal, () => this.#abort());
  }

  get isAborted(): boolean {
    return this.signal?.aborted === true;
  }

  get isTransaction(): boolean {
    return this.#isTransaction;
  }

  /** Whether the work of a refusal is committed. */
  commits(refused: Refusal): boolean {
    if (this.#kept?.[0] !== refused) this.#kept = [refused, this.#keep?.(refused) === true];
    return this.#kept[1];
  }

  exec<P extends readonly unknown[], A>(statement: Statement<P, A>, ...params: P): Promise<A> {
    const read = this.#exec(statement, params);
    // A promise that the work does not await must not become an unhandled rejection: the commit reports the failure.
    if (this.#isTransaction) read.catch(ignore);
    return read;
  }

  query<R = readonly unknown[]>(
    text: string,
    values: readonly unknown[],
    options: QueryOptions & { readonly rows: "lists" },
  ): Promise<QueryResult<R>>;
  query<R = QueryRow>(text: string, values?: readonly unknown[], options?: QueryOptions): Promise<QueryResult<R>>;
  query(text: string, values: readonly unknown[] = [], options?: QueryOptions): Promise<QueryResult<never>> {
    try {
      return this.exec(queryStatement("Database.query", text, values, options), values);
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  batches<R = readonly unknown[]>(
    text: string,
    values: readonly unknown[],
    options: BatchOptions & { readonly rows: "lists" },
  ): AsyncIterableIterator<readonly R[]>;
  batches<R = QueryRow>(
    text: string,
    values?: readonly unknown[],
    options?: BatchOptions,
  ): AsyncIterableIterator<readonly R[]>;
  batches(
    text: string,
    values: readonly unknown[] = [],
    options: BatchOptions = {},
  ): AsyncIterableIterator<readonly never[]> {
    const query = queryStatement("Database.batches", text, values, options);
    return this.#batches(query, values, batchSizeOf("Database.batches", options));
  }

  /** The rows of a cursor. It ends with the transaction; without one the server keeps the rows, until it is closed. */
  async *#batches(
    query: QueryStatement,
    values: readonly unknown[],
    size: number,
  ): AsyncGenerator<readonly never[], void> {
    const { sql } = query;
    checkReads(sql);
    const texts = query.print([values]);
    let number = 1;
    while (this.#cursors.has(number)) number++;
    this.#cursors.add(number);
    const name = `usher_cursor_${number}`;
    const hold = this.#isTransaction ? "" : "with hold ";
    const declare = `declare ${name} no scroll cursor ${hold}for ${sql}`;
    try {
      await this.#inTurn(sql, texts, () => this.#pooled.run(declare, texts));
      try {
        for (let isLast = false; !isLast;) {
          // By the simple protocol: the columns of a prepared FETCH may not change.
          const fetch = (): Promise<StatementResult> => this.#pooled.script(`fetch forward ${size} from ${name}`);
          const { rows } = query.read(await this.#inTurn(sql, texts, fetch));
          isLast = rows.length < size;
          if (rows.length > 0) yield rows;
        }
      } finally {
        // In a transaction that has failed or ended it is closed.
        await this.#inTurn(sql, texts, () => this.#pooled.script(`close ${name}`)).catch(ignore);
      }
    } finally {
      this.#cursors.delete(number);
    }
  }

  /** Runs a statement alone; its failure is that of its connection, or that the signal ended it. */
  async answer(sql: string, values: StatementValues): Promise<StatementResult> {
    if (this.isAborted) throw this.#abandoned();
    try {
      return await this.#pooled.run(sql, values);
    } catch (thrown) {
      throw isA(ConnectionFailure, thrown) && this.#isCancelled(thrown) ? this.#abandoned() : thrown;
    }
  }

  async #exec<P extends readonly unknown[], A>(statement: Statement<P, A>, params: P): Promise<A> {
    this.#needsOpen();
    needsStatement("Database.exec: its statement", statement);
    const { sql } = statement;
    if (controlsTransaction(sql)) {
      if (this.#isTransaction) throw nestedTransaction();
      this.#pooled.mayBeInTransaction = true;
    }
    const values = statement.print(params);
    const answer = await this.#inTurn(sql, values, () => {
      if (setsTimeout.test(sql)) this.#pooled.isUnbounded = true;
      if (changesSession(sql)) this.#pooled.hasChangedSession = true;
      return this.#pooled.run(sql, values);
    });
    return statement.read(answer);
  }

  #needsOpen(): void {
    if (this.#state.at === "ending" || this.#state.at === "ended")
      throw new DatabaseError({ kind: "connection_closed", ended: this.#isTransaction ? "transaction" : "use" });
  }

  /** Runs a statement when those before it have ended. Its text and values are for the error. */
  async #inTurn(sql: string, values: StatementValues, act: () => Promise<StatementResult>): Promise<StatementResult> {
    this.#needsOpen();
    if (this.#state.at === "running") await new Promise<void>((resolve) => this.#turns.push(resolve));
    else this.#state = running;
    try {
      if (this.isAborted) throw this.#abandoned();
      return await act();
    } catch (thrown) {
      throw isA(ConnectionFailure, thrown) ? this.#failureOf(thrown, sql, values) : thrown;
    } finally {
      this.#next();
    }
  }

  #next(): void {
    const turn = this.#turns.shift();
    if (turn !== undefined) return turn();
    if (this.#state.at !== "ending") {
      this.#state = idle;
      return;
    }
    const { whenIdle } = this.#state;
    this.#state = ended;
    whenIdle();
  }

  /** Waits for the running statement and refuses later ones. */
  async end(): Promise<void> {
    if (this.#state.at === "running") {
      await new Promise<void>((whenIdle) => (this.#state = { at: "ending", whenIdle }));
    } else this.#state = ended;
    this.#unlisten?.();
    // A pending cancel request could still hit the next statement.
    if (this.#cancelling !== undefined) await this.#cancelling;
  }

  #isCancelled({ reason }: ConnectionFailure): boolean {
    return this.#cancelling !== undefined && reason.kind === "refused" && reason.code === "57014";
  }

  #failureOf(thrown: ConnectionFailure, sql: string, values: StatementValues): DatabaseError {
    if (this.#isCancelled(thrown)) return this.#abandoned();
    const failure = failureOf(thrown.reason, sql, values);
    if (failure.kind === "not_serializable") this.hasConflicted = true;
    return new DatabaseError(failure);
  }

  #abandoned(): DatabaseError {
    return abandonedBy(this.signal);
  }

  #abort(): void {
    if (this.#pooled.connection.isRunning) this.#cancelling = this.#pooled.connection.cancel();
  }
}

/** The caller has gone and the server cancelled as asked: no bug, so "busy" and no error line in the log. */
export function abandonedBy(signal: AbortSignal | undefined): DatabaseError {
  const detail = "the statement was ended, because its caller went away";
  return new DatabaseError({ kind: "db", code: "57014", detail }, true, signal);
}

const readers = /(?:select|with|values|table)\b|\(/iy;

/** A cursor has only what reads (PostgreSQL, DECLARE). */
function checkReads(sql: string): void {
  readers.lastIndex = beginningOf(sql);
  if (readers.test(sql)) return;
  const detail = `batches are of a select, values, table or with, for ${clipped(sql)}`;
  throw new DatabaseError({ kind: "db", code: undefined, detail });
}

/** The most rows of a batch. */
export function batchSizeOf(at: string, { size = 1000 }: BatchOptions): number {
  needsCount(`${at}: size`, size);
  return size;
}

/** What keeps the refusal of a transaction in it. */
export type RefusalKeeper = Pick<Lease, "commits" | "keepsRefusal">;

/** The open transaction of a `db`; undefined for a pool, and for a connection outside of one. */
export function openTransaction(db: unknown): RefusalKeeper | undefined {
  return isA(Lease, db) && db.isTransaction ? db : undefined;
}

// A statement that sets statement_timeout is about to run longer than the pool's limit.
const setsTimeout = /\bstatement_timeout\b/i;

// What they do lasts until the session ends.
const changers =
  /(?:set\b(?!\s+(?:local|transaction|constraints)\b)|reset\b|listen\b|declare\b|create\s+(?:or\s+replace\s+)?(?:(?:local|global)\s+)?temp)/iy;
const changingParts =
  /\bset_config\s*\(|\bpg_(?:try_)?advisory_lock|\bpg_temp\.|\binto\s+(?:(?:local|global)\s+)?temp(?:orary)?\s/i;

function changesSession(sql: string): boolean {
  changers.lastIndex = beginningOf(sql);
  return changers.test(sql) || changingParts.test(sql);
}

function ignore(): void {}

function nestedTransaction(): DatabaseError {
  return new DatabaseError({ kind: "not_committed", detail: "a transaction neither begins nor ends inside another" });
}

/** The isolation level of a transaction, as PostgreSQL names it. */
export type Isolation = "read committed" | "repeatable read" | "serializable";

/** The options of a transaction. */
export interface TransactionOptions extends Borrow {
  /** The database's default unless given. */
  readonly isolation?: Isolation;
  /** How often the whole work is run again after a conflict with a concurrent transaction; 0 by default. */
  readonly retries?: number;
  /**
   * Whether to commit although the work returned this refusal, for example to keep a count of wrong codes. If it throws, the
   * transaction rolls back.
   */
  readonly keep?: (refusal: Refusal) => boolean;
}

/** What lends connections. */
export interface ConnectionSource {
  /** What follows each `begin`, as one message with it; or empty. */
  readonly local: string;
  acquire(borrow: Borrow): Promise<PooledConnection>;
  release(pooled: PooledConnection): void;
}

const begins: ReadonlyMap<Isolation | undefined, string> = /* @__PURE__ */ new Map([
  [undefined, "begin"],
  ["read committed", "begin isolation level read committed"],
  ["repeatable read", "begin isolation level repeatable read"],
  ["serializable", "begin isolation level serializable"],
]);

/** Looks at what only JavaScript gets wrong before a connection is borrowed. */
export function checkBorrower(at: string, work: unknown, options: TransactionOptions): void {
  needsFunction(`${at}: its work`, work);
  checkBorrow(at, options);
}

/** Looks at the options of one who borrows a connection. */
export function checkBorrow(at: string, options: TransactionOptions): void {
  // With those of a query by text, which has looked at its own.
  needsOptions(at, options, "isolation retries keep waitMs signal rows types size");
  const { signal, waitMs, retries } = options;
  const isSignal = signal === undefined || (isObject(signal) && typeof signal.addEventListener === "function");
  needs(isSignal, `${at}: signal`, signal, "an AbortSignal");
  for (const [name, value] of Object.entries({ waitMs, retries })) {
    // With NaN it would wait, or run the work again, for ever.
    const isBound = value === undefined || (typeof value === "number" && value >= 0);
    needs(isBound, `${at}: ${name}`, value, "a number from 0");
  }
}

/** The result of one run of the work. */
type AttemptOutcome<A> =
  | { readonly kind: "done"; readonly value: A }
  | { readonly kind: "failed"; readonly thrown: unknown };

/** Runs `work` in a transaction, with retries. `onBorrowed` gets the connection, which the caller must release. */
export async function transact<A>(
  source: ConnectionSource,
  work: (db: Queryable) => Promise<A>,
  options: TransactionOptions,
  onBorrowed: (pooled: PooledConnection) => void,
): Promise<A> {
  const begin = begins.get(options.isolation);
  if (begin === undefined)
    throw new Error("Pool.transaction: isolation must be read committed, repeatable read or serializable");
  const beginsOn: BeginTransaction = (pooled) =>
    source.local === "" ? pooled.run(begin, []) : pooled.script(`${begin}${source.local}`);
  const pooled = await beginOn(source, beginsOn, options, onBorrowed);
  for (let left = options.retries ?? 0; ; left--) {
    const outcome = await attempt(pooled, work, options);
    if (outcome.kind === "done") return outcome.value;
    const { thrown } = outcome;
    const conflict = DatabaseError.of(thrown);
    if (conflict?.failure.kind !== "not_serializable" || left <= 0 || options.signal?.aborted) throw thrown;
    info(`a transaction is run again: ${conflict.message}`);
    await beginsOn(pooled).catch((failure: unknown) => {
      // Its state is unknown, so the next borrower must not get it.
      pooled.connection.cut();
      throw notBegun(failure);
    });
  }
}

type BeginTransaction = (pooled: PooledConnection) => Promise<StatementResult>;

/** Begins a transaction. If that fails nothing was done, so it tries one other connection. */
export async function beginOn(
  source: ConnectionSource,
  beginsOn: BeginTransaction,
  borrow: Borrow,
  onBorrowed: (pooled: PooledConnection) => void,
): Promise<PooledConnection> {
  for (let isRetry = false; ; isRetry = true) {
    const pooled = await source.acquire(borrow);
    try {
      await beginsOn(pooled);
      onBorrowed(pooled);
      return pooled;
    } catch (failure) {
      // Its state is unknown, so the next borrower must not get it.
      pooled.connection.cut();
      source.release(pooled);
      if (isRetry) throw notBegun(failure);
    }
  }
}

async function attempt<A>(
  pooled: PooledConnection,
  work: (db: Queryable) => Promise<A>,
  { signal, keep }: TransactionOptions,
): Promise<AttemptOutcome<A>> {
  const lease = new Lease(pooled, signal, true, keep);
  let value: A;
  let refused: Refusal | undefined;
  let commits: boolean;
  try {
    value = await work(lease);
    refused = isA(Refusal, value) ? value : undefined;
    commits = refused === undefined || lease.keepsRefusal || lease.commits(refused);
  } catch (thrown) {
    await lease.end();
    await rollBack(pooled);
    return { kind: "failed", thrown };
  }
  await lease.end();
  if (!commits) {
    await rollBack(pooled);
    return { kind: "done", value };
  }
  const thrown = lease.isAborted ? await abandon(pooled, lease.signal) : await commit(pooled, lease.hasConflicted);
  if (thrown === undefined) return { kind: "done", value };
  if (refused === undefined || lease.keepsRefusal) return { kind: "failed", thrown };
  warn(`what a refused work wrote is not kept: ${thrown.message}`);
  return { kind: "done", value };
}

/** The caller has gone, which is no bug. */
async function abandon(pooled: PooledConnection, signal: AbortSignal | undefined): Promise<DatabaseError> {
  await rollBack(pooled);
  return new DatabaseError({ kind: "not_committed", detail: "its caller went away" }, true, signal);
}

/** Closes a connection that does not roll back: the next borrower would be inside the transaction. */
export async function rollBack(pooled: PooledConnection): Promise<void> {
  pooled.isUnbounded = false;
  if (pooled.connection.isOpen) await pooled.end("rollback").catch(() => pooled.connection.cut());
}

/** SQLSTATE: the prepared statement does not exist, as after DEALLOCATE ALL. */
const unprepared = "26000";

/** Commits; resolves with the failure if it did not. */
async function commit(pooled: PooledConnection, hasConflicted: boolean): Promise<DatabaseError | undefined> {
  const failure = await failedCommit(pooled, hasConflicted);
  return failure && new DatabaseError(failure);
}

async function failedCommit(pooled: PooledConnection, hasConflicted: boolean): Promise<DatabaseFailure | undefined> {
  // Until the server answers, the outcome is unknown.
  currentDeadline()?.noteCommit();
  try {
    const { command } = await pooled.end("commit");
    if (command === "COMMIT") return undefined;
    // After a failed statement the server answers COMMIT with ROLLBACK (PostgreSQL, COMMIT).
    const detail = "one of its statements had failed";
    return { kind: hasConflicted ? "not_serializable" : "not_committed", detail };
  } catch (thrown) {
    const { reason } = thrown as ConnectionFailure;
    // The server has forgotten the prepared COMMIT, so it did not run: the transaction has failed, and is still open.
    if (reason.kind === "refused" && reason.code === unprepared) await rollBack(pooled);
    // Deferred constraints are checked now; their message may quote a value of any earlier statement.
    const failure = failureOf(reason, "commit", undefined);
    if (failure.kind === "connection_closed")
      return { kind: "not_committed", detail: "its connection closed before the commit was sent" };
    return failure.kind === "db" ? { kind: "not_committed", detail: failure.detail } : failure;
  } finally {
    // The server drops a statement_timeout that the transaction set.
    pooled.isUnbounded = false;
  }
}

function notBegun(failure: unknown): DatabaseError {
  const why = failureOf((failure as ConnectionFailure).reason, "begin", []);
  const detail = "detail" in why ? why.detail : "the connection closed before the transaction began";
  return new DatabaseError({ kind: "unsent", detail });
}
