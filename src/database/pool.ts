import { AsyncLocalStorage } from "node:async_hooks";
import { ambient } from "../ambient.ts";
import { needsOptions, needsText } from "../arguments.ts";
import { following } from "../following.ts";
import { isHeldUntilEnd } from "../inputs/held.ts";
import { current, currentDeadline } from "../logging/context.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { measurePool } from "../telemetry/measure.ts";
import { warn } from "./acquire-queue.ts";
import { Batches } from "./batches.ts";
import type { PooledConnection } from "./acquire-queue.ts";
import { ConnectionPool } from "./connection-pool.ts";
import type { Borrow, ConnectionPoolOptions } from "./connection-pool.ts";
import type {
  StatementResult,
  StatementColumns,
  ConnectionFailure,
  OpenConnection,
  StatementValues,
} from "./connection.ts";
import { DatabaseError, failureOf } from "./failure.ts";
import { Paces } from "./pace.ts";
import type { Pace } from "./pace.ts";
import { needsStatement } from "./statement.ts";
import type { Statement } from "./statement.ts";
import { queryStatement } from "./query.ts";
import type { BatchOptions, QueryOptions, QueryResult, QueryRow, Queryable } from "./queryable.ts";
import {
  Lease,
  batchSizeOf,
  beginOn,
  checkBorrow,
  checkBorrower,
  controlsTransaction,
  rollBack,
  transact,
} from "./transaction.ts";
import type { ConnectionSource, TransactionOptions } from "./transaction.ts";

/** A readiness check for `Health.routes`. */
export interface PoolCheck {
  /** The name of the check. */
  readonly name: string;
  /** Borrows a connection and runs `select 1`. A busy pool passes without waiting. */
  readonly probe: () => Promise<Result<void, string>>;
}

/** The counts of a pool. */
export interface PoolStats {
  /** The number of connections that the pool keeps open. */
  readonly size: number;
  /** Connections that no caller has borrowed, also where they are lost and not yet open again. */
  readonly idle: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
  /** Connections opened in place of one that died or passed its lifetime. */
  readonly replaced: number;
}

/** When a connection's session is reset: by default after `use`, which may have changed it, and after a transaction that did. */
export type Reset = "use" | "always" | "never";

/** What is set in the sessions of a pool. */
export interface SessionSettings {
  readonly reset: Reset;
  /** A script for what a reset takes away; or empty. */
  readonly session: string;
  /** What follows the `begin` of each transaction; or empty. */
  readonly local: string;
}

/** DISCARD ALL without its DEALLOCATE ALL: the prepared statements stay. */
const resetting =
  "set session authorization default; select pg_advisory_unlock_all(); close all; unlisten *; " +
  "reset all; discard temp; discard sequences";

const longHoldMs = 250;

/** One action on a connection that is borrowed for it. */
type Act<A> = (pooled: PooledConnection, sql: string, values: StatementValues) => Promise<A>;
const run: Act<StatementResult> = (pooled, sql, values) => pooled.run(sql, values);
const noOptions: Borrow = {};

/** Runs a statement that is cancelled once the signal aborts. */
function runUntil(signal: AbortSignal): Act<StatementResult> {
  return async (pooled, sql, values) => {
    const lease = new Lease(pooled, signal, false);
    try {
      return await lease.answer(sql, values);
    } finally {
      await lease.end();
    }
  };
}

/** A borrower's work. Inside of a request its deadline ends it, too. */
async function untilDeadline<Options extends Borrow, A>(
  options: Options,
  work: (options: Options) => Promise<A>,
): Promise<A> {
  const deadline = currentDeadline();
  if (deadline === undefined) return work(options);
  if (options.signal === undefined) return work({ ...options, signal: deadline.signal });
  const ending = following([options.signal, deadline.signal]);
  try {
    return await work({ ...options, signal: ending.signal });
  } finally {
    ending.release();
  }
}

/** The connections that the current work holds. */
interface Borrowed {
  readonly from: Pool;
  readonly before: Borrowed | undefined;
}
const borrowed = /* @__PURE__ */ new AsyncLocalStorage<Borrowed>();

/**
 * Marks the work as one that holds a connection, to warn if it waits for another. Only inside a request: up to Node 22 the
 * first `AsyncLocalStorage` slows every promise of the process, a transaction by a half.
 */
function holding<A>(from: Pool, work: (db: Queryable) => Promise<A>, db: Queryable): Promise<A> {
  return current() === undefined ? work(db) : borrowed.run({ from, before: borrowed.getStore() }, work, db);
}

/** A pool with a fixed number of database connections. */
export class Pool implements Queryable {
  readonly #connections: ConnectionPool;
  readonly #reset: Reset;
  readonly #resetting: string;
  readonly #local: string;
  readonly #source: ConnectionSource;
  readonly #measuring: (() => void)[] = [];
  readonly #paces = new Paces();

  private constructor(connections: ConnectionPool, { reset, session, local }: SessionSettings) {
    this.#connections = connections;
    this.#reset = reset;
    this.#resetting = session === "" ? resetting : `${resetting}; ${session}`;
    this.#local = local;
    this.#source = {
      local,
      acquire: (borrow) => this.#acquire(borrow),
      release: (pooled) => connections.release(pooled),
    };
  }

  /** Resolves once every connection is open. */
  static async over(open: OpenConnection, options: ConnectionPoolOptions, sessions: SessionSettings): Promise<Pool> {
    ambient.use();
    return new Pool(await ConnectionPool.filled(open, options), sessions);
  }

  /** Runs one statement on a borrowed connection. */
  async exec<P extends readonly unknown[], A>(statement: Statement<P, A>, ...params: P): Promise<A> {
    needsStatement("Pool.exec: its statement", statement);
    return this.#exec(statement, params, noOptions);
  }

  async query<R = readonly unknown[]>(
    text: string,
    values: readonly unknown[],
    options: QueryOptions & Borrow & { readonly rows: "lists" },
  ): Promise<QueryResult<R>>;
  async query<R = QueryRow>(
    text: string,
    values?: readonly unknown[],
    options?: QueryOptions & Borrow,
  ): Promise<QueryResult<R>>;
  async query(
    text: string,
    values: readonly unknown[] = [],
    options: QueryOptions & Borrow = noOptions,
  ): Promise<QueryResult<never>> {
    const statement = queryStatement("Pool.query", text, values, options);
    checkBorrow("Pool.query", options);
    return this.#exec(statement, [values], options);
  }

  batches<R = readonly unknown[]>(
    text: string,
    values: readonly unknown[],
    options: BatchOptions & Borrow & { readonly rows: "lists" },
  ): AsyncIterableIterator<readonly R[]>;
  batches<R = QueryRow>(
    text: string,
    values?: readonly unknown[],
    options?: BatchOptions & Borrow,
  ): AsyncIterableIterator<readonly R[]>;
  batches(
    text: string,
    values: readonly unknown[] = [],
    options: BatchOptions & Borrow = {},
  ): AsyncIterableIterator<readonly never[]> {
    queryStatement("Pool.batches", text, values, options);
    checkBorrow("Pool.batches", options);
    batchSizeOf("Pool.batches", options);
    return new Batches((signal) => this.#batches(text, values, { ...options, signal }), options.signal);
  }

  /** In a transaction: a cursor ends with it. It writes nothing, so that its end has no outcome to tell. */
  async *#batches(
    text: string,
    values: readonly unknown[],
    options: BatchOptions & Borrow & { readonly signal: AbortSignal },
  ): AsyncGenerator<readonly never[], "complete"> {
    const begin = "begin read only";
    const { waitMs, signal, ...reading } = options;
    const borrow = waitMs === undefined ? { signal } : { waitMs, signal };
    const pooled = await beginOn(
      this.#source,
      (pooled) => (this.#local === "" ? pooled.run(begin, []) : pooled.script(`${begin}${this.#local}`)),
      borrow,
      () => {},
    );
    const lease = new Lease(pooled, signal, true);
    try {
      yield* lease.batches<never>(text, values, reading);
    } finally {
      await lease.end();
      await rollBack(pooled);
      await this.#releaseAfterTransaction(pooled, undefined);
    }
    return "complete";
  }

  async #exec<P extends readonly unknown[], A>(statement: Statement<P, A>, params: P, borrow: Borrow): Promise<A> {
    const values = statement.print(params);
    const { sql } = statement;
    if (controlsTransaction(sql)) throw new DatabaseError({ kind: "not_committed", detail: "none was begun here" });
    const deadline = currentDeadline();
    if (deadline === undefined && borrow.signal === undefined)
      return statement.read(await this.#once(run, sql, values, borrow, this.#paceOf(statement)));
    return untilDeadline(borrow, async (until) => {
      // One of the two has a signal.
      const signal = until.signal as AbortSignal;
      return statement.read(await this.#once(runUntil(signal), sql, values, until));
    });
  }

  /** Describes a statement without running it. */
  async describe(sql: string): Promise<StatementColumns> {
    needsText("Pool.describe: its SQL", sql);
    return this.#once((pooled, sql) => pooled.describe(sql), sql, [], noOptions);
  }

  /**
   * Borrows one connection for several statements outside a transaction, and resets its session afterwards.
   *
   * @param options `waitMs` overrides the pool's. `signal` ends the wait and cancels the running statement.
   */
  async use<A>(work: (db: Queryable) => Promise<A>, options: Borrow = {}): Promise<A> {
    checkBorrower("Pool.use", work, options);
    return untilDeadline(options, async (borrow) => {
      const pooled = await this.#acquire(borrow);
      const startedAt = performance.now();
      const lease = new Lease(pooled, borrow.signal, false);
      try {
        return await holding(this, work, lease);
      } finally {
        await lease.end();
        await this.#release(pooled, this.#reset === "never" ? "" : this.#resetting, startedAt);
      }
    });
  }

  /**
   * Runs `work` in a transaction. A returned value commits. A returned refusal rolls back and is returned, unless `keep`
   * says otherwise. A thrown error rolls back and is rethrown. `work` runs once, unless `retries` allows more runs after a
   * conflict with a concurrent transaction.
   *
   * Publish events and call other servers after the transaction: until it commits, nothing is kept. Where `work` may refuse, look
   * first: `if (sold instanceof Refusal) return sold`.
   */
  async transaction<A>(work: (db: Queryable) => Promise<A>, options: TransactionOptions = {}): Promise<A> {
    checkBorrower("Pool.transaction", work, options);
    let pooled: PooledConnection | undefined;
    let startedAt = 0;
    try {
      return await untilDeadline(options, (until) =>
        transact(
          this.#source,
          (db) => holding(this, work, db),
          until,
          (lent) => {
            pooled = lent;
            startedAt = performance.now();
          },
        ),
      );
    } finally {
      if (pooled !== undefined) await this.#releaseAfterTransaction(pooled, startedAt);
    }
  }

  /**
   * A readiness check: it borrows a connection and runs `select 1`. A busy pool passes. A closed pool, or one that cannot
   * reach its database, fails.
   */
  check(name = "postgres"): PoolCheck {
    needsText("Pool.check: its name", name);
    return { name, probe: () => this.#probe() };
  }

  stats(): PoolStats {
    return this.#connections.stats();
  }

  /** Publishes the pool's metrics until it is closed: on OpenTelemetry's metrics API, and in `Metrics.routes`. */
  measure(options: { readonly name?: string } = {}): void {
    needsOptions("Pool.measure", options, "name");
    const { name = "postgres" } = options;
    needsText("Pool.measure: name", name);
    this.#measuring.push(
      measurePool(name, () => {
        const { size, idle, waiting } = this.stats();
        return { idle: this.#connections.idleCount, used: size - idle, pending: waiting };
      }),
    );
  }

  /** Refuses every further borrower. Settles when every connection is closed; borrowed ones close once they are released. */
  close(): Promise<void> {
    for (const end of this.#measuring.splice(0)) end();
    return this.#connections.close();
  }

  /** Its pace, where it may share a connection. */
  #paceOf(statement: object & { readonly sql: string }): Pace | undefined {
    return this.#reset === "always" ? undefined : this.#paces.of(statement);
  }

  /** Retries once, on another connection, if nothing was sent on the first. */
  async #once<A>(
    act: Act<A>,
    sql: string,
    values: StatementValues,
    borrow: Borrow,
    pace?: Pace,
    isRetry = false,
  ): Promise<A> {
    const taken = this.#connections.acquire(borrow, pace);
    const hasWaited = taken instanceof Promise;
    const pooled = hasWaited ? await this.#warned(taken) : taken;
    try {
      if (!hasWaited || pace === undefined) return await act(pooled, sql, values);
      const startedAt = performance.now();
      const result = await act(pooled, sql, values);
      pace.ran(performance.now() - startedAt);
      return result;
    } catch (thrown) {
      if (thrown instanceof DatabaseError) throw thrown;
      const { reason } = thrown as ConnectionFailure;
      const failure = failureOf(reason, sql, values);
      if (failure.kind !== "connection_closed") throw new DatabaseError(failure);
      if (isRetry) throw new DatabaseError({ kind: "unsent", detail: "the connection closed before the statement" });
    } finally {
      if (this.#reset === "always") await this.#release(pooled, this.#resetting, undefined);
      else this.#connections.release(pooled);
    }
    // Alone: of callers that share a connection, only one is answered where the server has forgotten the statement.
    return this.#once(act, sql, values, borrow, undefined, true);
  }

  async #acquire(borrow: Borrow): Promise<PooledConnection> {
    const taken = this.#connections.acquire(borrow);
    return taken instanceof Promise ? this.#warned(taken) : taken;
  }

  /** Warns of a possible deadlock: two pieces of work that each hold a connection and wait for another. */
  #warned(waiting: Promise<PooledConnection>): Promise<PooledConnection> {
    if (this.#isHeld() && !this.#connections.isClosed)
      warn("work that holds a connection waits for another of the same pool: hand the first one on");
    return waiting;
  }

  /** Whether the running work holds one of its connections: inside of `use` or `transaction`, or by `Dep.transaction`. */
  #isHeld(): boolean {
    for (let held = borrowed.getStore(); held !== undefined; held = held.before) if (held.from === this) return true;
    return isHeldUntilEnd(this);
  }

  #releaseAfterTransaction(pooled: PooledConnection, startedAt: number | undefined): Promise<void> {
    const resets = this.#reset === "always" || (this.#reset === "use" && pooled.hasChangedSession);
    return this.#release(pooled, resets ? this.#resetting : "", startedAt);
  }

  async #release(pooled: PooledConnection, reset: string, startedAt: number | undefined): Promise<void> {
    // Where no transaction is open, a rollback is a warning in the server's log.
    const renewing = pooled.mayBeInTransaction ? `rollback; ${reset}` : reset;
    // The borrower's statement_timeout was for its own statements.
    pooled.isUnbounded = false;
    pooled.hasChangedSession = false;
    pooled.mayBeInTransaction = false;
    if (renewing !== "" && pooled.connection.isOpen) await pooled.renew(renewing);
    this.#connections.release(pooled);
    const heldMs = startedAt === undefined ? 0 : Math.round(performance.now() - startedAt);
    if (heldMs > longHoldMs) warn(`a connection was held for ${heldMs} ms`);
  }

  async #probe(): Promise<Result<void, string>> {
    if (this.#connections.isClosed) return error("the database pool is closed");
    if (this.#connections.isExhausted) return ok();
    try {
      await this.#once(run, "select 1", [], noOptions);
      return ok();
    } catch (thrown) {
      const { failure, message } = thrown as DatabaseError;
      return failure.kind === "pool_busy" ? ok() : error(message);
    }
  }
}
