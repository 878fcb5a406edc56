import { AsyncLocalStorage } from "node:async_hooks";
import { current } from "../logging/context.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { measurePool } from "../telemetry/measure.ts";
import { warn } from "./acquire-queue.ts";
import type { PooledConnection } from "./acquire-queue.ts";
import { ConnectionPool } from "./connection-pool.ts";
import type { Borrow, ConnectionPoolOptions } from "./connection-pool.ts";
import type { StatementResult, StatementColumns, LinkFailure, OpenConnection, StatementValues } from "./connection.ts";
import { DatabaseError, failureOf } from "./failure.ts";
import type { Statement } from "./statement.ts";
import { Lease, controlsTransaction, transact } from "./transaction.ts";
import type { Database, TransactionOptions } from "./transaction.ts";

/** A readiness check, as `Health.routes` takes it. */
export interface PoolCheck {
  readonly name: string;
  readonly probe: () => Promise<Result<void, string>>;
}

export interface PoolStats {
  readonly size: number;
  /** How many are not lent. */
  readonly idle: number;
  /** How many borrowers wait. */
  readonly waiting: number;
  /** How many connections were opened in place of one that died, or was old. */
  readonly replaced: number;
}

/** When a connection's session is made new: after `use`, which may have changed it, by default. */
export type Reset = "use" | "always" | "never";

/** Every way there is of changing a session but its prepared statements, undone. */
const resetting =
  "rollback; set session authorization default; select pg_advisory_unlock_all(); close all; unlisten *; " +
  "reset all; discard temp; discard sequences";

const longHoldMs = 250;

/** What is done with a connection that is borrowed for it alone. */
type Act<A> = (slot: PooledConnection, sql: string, values: StatementValues) => Promise<A>;
const run: Act<StatementResult> = (slot, sql, values) => slot.run(sql, values);
/** A borrow that waits as long as the pool has it. */
const asLong: Borrow = {};

/** What the work that runs has borrowed already. */
interface Borrowed {
  readonly from: Pool;
  readonly before: Borrowed | undefined;
}
const borrowed = /* @__PURE__ */ new AsyncLocalStorage<Borrowed>();

/**
 * Runs a work that holds a connection, so that one that waits for another can be warned of. In a request that has its
 * context alone: up to Node 22 the first storage makes every promise of the process slower, a transaction by a half.
 */
function holding<A>(from: Pool, work: (db: Database) => Promise<A>, db: Database): Promise<A> {
  return current() === undefined ? work(db) : borrowed.run({ from, before: borrowed.getStore() }, work, db);
}

/** A fixed number of connections to a database, lent one at a time. */
export class Pool implements Database {
  readonly #slots: ConnectionPool;
  readonly #reset: Reset;
  readonly #measuring: (() => void)[] = [];

  private constructor(slots: ConnectionPool, reset: Reset) {
    this.#slots = slots;
    this.#reset = reset;
  }

  /** Resolves once every connection is open. */
  static async over(open: OpenConnection, options: ConnectionPoolOptions, reset: Reset): Promise<Pool> {
    return new Pool(await ConnectionPool.filled(open, options), reset);
  }

  /** Runs one statement on a connection borrowed for it. */
  async exec<P extends readonly unknown[], A>(statement: Statement<P, A>, ...params: P): Promise<A> {
    const values = statement.print(params);
    const { sql } = statement;
    if (controlsTransaction(sql)) throw new DatabaseError({ kind: "not_committed", detail: "none was begun here" });
    const answer = await this.#once(run, sql, values);
    return statement.read(answer);
  }

  /** What the database makes of a statement that it does not run. */
  describe(sql: string): Promise<StatementColumns> {
    return this.#once((slot, sql) => slot.describe(sql), sql, []);
  }

  /**
   * Lends a connection for several statements outside of a transaction, and makes its session new afterwards.
   *
   * @param options `waitMs` in place of the pool's, and a signal that ends the wait and the statement that runs.
   */
  async use<A>(work: (db: Database) => Promise<A>, options: Borrow = {}): Promise<A> {
    const slot = await this.#take(options);
    const startedAt = performance.now();
    const lease = new Lease(slot, options.signal, false);
    try {
      return await holding(this, work, lease);
    } finally {
      await lease.end();
      await this.#giveBack(slot, this.#reset === "never" ? "rollback" : resetting, startedAt);
    }
  }

  /**
   * Runs a work in a transaction. A value that it returns commits; a refusal rolls back and is handed on, unless `keep`
   * says otherwise; what it throws rolls back and is thrown on. It is run once, whatever happens, unless `retries` says
   * how often it may be run again where a concurrent transaction stood in its way.
   *
   * What is no statement, as publishing or calling another server, belongs after it: only then is the work kept.
   */
  async transaction<A>(work: (db: Database) => Promise<A>, options: TransactionOptions = {}): Promise<A> {
    let slot: PooledConnection | undefined;
    let startedAt = 0;
    try {
      return await transact(
        { take: (borrow) => this.#take(borrow), give: (slot) => this.#slots.give(slot) },
        (db) => holding(this, work, db),
        options,
        (lent) => {
          slot = lent;
          startedAt = performance.now();
        },
      );
    } finally {
      if (slot !== undefined) await this.#giveBack(slot, this.#reset === "always" ? resetting : undefined, startedAt);
    }
  }

  /**
   * A readiness check: it borrows a connection and asks it something. A pool that is busy is ready all the same; one that
   * is closed is not, and none that does not reach its database.
   */
  check(name = "postgres"): PoolCheck {
    return { name, probe: () => this.#probe() };
  }

  stats(): PoolStats {
    return this.#slots.stats();
  }

  /** Has its figures among the process's until it is closed: on OpenTelemetry's metrics API, and in `Metrics.routes`. */
  measure({ name = "postgres" }: { readonly name?: string } = {}): void {
    this.#measuring.push(
      measurePool(name, () => {
        const { size, idle, waiting } = this.stats();
        return { idle, used: size - idle, pending: waiting };
      }),
    );
  }

  /** Lends no more, and settles when every connection is closed: those that are lent, once they were given back. */
  close(): Promise<void> {
    for (const end of this.#measuring.splice(0)) end();
    return this.#slots.close();
  }

  /** One act on a connection borrowed for it; on another, once, where nothing could be sent on the first. */
  async #once<A>(act: Act<A>, sql: string, values: StatementValues, isSecond = false): Promise<A> {
    const taken = this.#slots.take(asLong);
    const slot = taken instanceof Promise ? await this.#taken(taken) : taken;
    try {
      return await act(slot, sql, values);
    } catch (thrown) {
      const { trouble } = thrown as LinkFailure;
      const failure = failureOf(trouble, sql, values);
      if (failure.kind !== "connection_closed") throw new DatabaseError(failure);
      if (isSecond) throw new DatabaseError({ kind: "unsent", detail: "the connection closed before the statement" });
    } finally {
      if (this.#reset === "always") await this.#giveBack(slot, resetting, undefined);
      else this.#slots.give(slot);
    }
    return this.#once(act, sql, values, true);
  }

  async #take(borrow: Borrow): Promise<PooledConnection> {
    const taken = this.#slots.take(borrow);
    return taken instanceof Promise ? this.#taken(taken) : taken;
  }

  /** Who holds a connection and waits for another may wait for one that waits likewise. */
  #taken(waiting: Promise<PooledConnection>): Promise<PooledConnection> {
    for (let held = borrowed.getStore(); held !== undefined; held = held.before)
      if (held.from === this && !this.#slots.isClosed) {
        warn("work that holds a connection waits for another of the same pool: hand the first one on");
        break;
      }
    return waiting;
  }

  async #giveBack(slot: PooledConnection, renewing: string | undefined, startedAt: number | undefined): Promise<void> {
    // What bound the borrower set was for its own statements.
    slot.isUnbounded = false;
    if (renewing !== undefined && slot.link.isOpen) await slot.renew(renewing);
    this.#slots.give(slot);
    const heldMs = startedAt === undefined ? 0 : Math.round(performance.now() - startedAt);
    if (heldMs > longHoldMs) warn(`a connection was held for ${heldMs} ms`);
  }

  async #probe(): Promise<Result<void, string>> {
    if (this.#slots.isClosed) return error("the database pool is closed");
    if (this.#slots.isAllLent) return ok();
    try {
      await this.#once(run, "select 1", []);
      return ok();
    } catch (thrown) {
      const { failure, message } = thrown as DatabaseError;
      return failure.kind === "pool_busy" ? ok() : error(message);
    }
  }
}
