import { onAbort } from "../following.ts";
import { current } from "../logging/context.ts";
import type { Level, LogContext, OpenSpan } from "../logging/entry.ts";
import { describeRaised, isA } from "../logging/raised.ts";
import { log } from "../logging/writer.ts";
import { openStatement } from "../telemetry/span.ts";
import { ConnectionFailure } from "./connection.ts";
import type {
  StatementResult,
  StatementColumns,
  DatabaseConnection,
  ConnectionError,
  StatementValues,
} from "./connection.ts";
import { DatabaseError } from "./failure.ts";
import type { Pace } from "./pace.ts";

const source = "framework.postgres";

export function warn(message: string, context: LogContext | undefined = current()): void {
  write("warn", message, context);
}

export function info(message: string): void {
  write("info", message);
}

export function error(message: string): void {
  write("error", message);
}

function write(level: Level, message: string, context: LogContext | undefined = current()): void {
  log({ level, source, message, fields: {}, context });
}

export function reasonOf(failure: unknown): string {
  const reason = isA(ConnectionFailure, failure) ? failure.reason : undefined;
  if (reason === undefined) return describeRaised(failure).kind;
  return reason.kind === "refused" ? `${reason.severity} ${reason.code}: ${reason.message}` : reason.why;
}

export function unsent(failure: unknown): DatabaseError {
  return new DatabaseError({ kind: "unsent", detail: reasonOf(failure) });
}

/** One connection of a pool, with the counters that {@link ConnectionPool} checks. */
export class PooledConnection {
  readonly connection: DatabaseConnection;
  /** When it is replaced, by `performance.now()`. */
  endsAt: number;
  /** How long the running statement has run. The pool's interval counts it: reading a clock for each statement costs more. */
  runningMs = 0;
  idleMs = 0;
  /** Whether the borrower set `statement_timeout` itself. */
  isUnbounded = false;
  /** Whether a transaction changed what outlasts it: settings of the session, its locks, temporary tables. */
  hasChangedSession = false;
  /** Whether the borrower began or ended a transaction by a statement of its own, so that one may be open. */
  mayBeInTransaction = false;
  /** The connection that replaces it when it is released. */
  successor: PooledConnection | undefined = undefined;
  /** Whether the running statement ends a transaction or resets the session. */
  isEnding = false;
  /** Whether a caller has borrowed it. */
  isUsed = false;
  #cancelling: Promise<void> | undefined = undefined;
  /** How many borrow it besides one: each runs a quick statement that only reads. */
  sharers = 0;

  constructor(connection: DatabaseConnection, endsAt: number) {
    this.connection = connection;
    this.endsAt = endsAt;
  }

  run(sql: string, values: StatementValues): Promise<StatementResult> {
    // As `#next`, without a closure for each statement.
    if (this.#cancelling !== undefined) return this.#next(false, () => this.#run(sql, values));
    this.runningMs = 0;
    this.isEnding = false;
    return this.#run(sql, values);
  }

  script(sql: string): Promise<StatementResult> {
    return this.#next(false, () => this.connection.script(sql));
  }

  describe(sql: string): Promise<StatementColumns> {
    return this.#next(false, () => this.connection.describe(sql));
  }

  ping(): Promise<StatementResult> {
    return this.#next(false, () => this.connection.run("select 1", []));
  }

  end(sql: "commit" | "rollback"): Promise<StatementResult> {
    return this.#next(true, () => this.#run(sql, []));
  }

  /** Asks the server to cancel the running statement. The next one waits until that request cannot hit it. */
  cancel(): void {
    this.#cancelling ??= this.connection.cancel().finally(() => (this.#cancelling = undefined));
  }

  #next<A>(isEnding: boolean, act: () => Promise<A>): Promise<A> {
    this.runningMs = 0;
    this.isEnding = isEnding;
    return this.#cancelling === undefined ? act() : this.#cancelling.then(act);
  }

  /** Resets the session. A connection that cannot be reset is closed: the next borrower would inherit its state. */
  async renew(sql: string): Promise<void> {
    await this.#next(true, () => this.connection.script(sql)).catch(() => this.connection.cut());
  }

  #run(sql: string, values: StatementValues): Promise<StatementResult> {
    const span = openStatement(sql);
    return span === undefined ? this.connection.run(sql, values) : traced(span, this.connection.run(sql, values));
  }
}

async function traced(span: OpenSpan, running: Promise<StatementResult>): Promise<StatementResult> {
  try {
    return await running;
  } catch (thrown) {
    const kind = reasonKind((thrown as ConnectionFailure).reason);
    span.set("error.type", kind);
    span.fail(kind);
    throw thrown;
  } finally {
    span.end();
  }
}

// The SQLSTATE or the kind, and not the message, which may quote a value.
function reasonKind(reason: ConnectionError): string {
  return reason.kind === "refused" ? reason.code : reason.kind;
}

interface Waiter {
  readonly resolve: (pooled: PooledConnection) => void;
  readonly reject: (why: DatabaseError) => void;
  readonly waitMs: number;
  readonly startedAt: number;
  readonly endsAt: number;
  /** The context of the waiting request: the one that releases a connection runs in another. */
  readonly context: LogContext | undefined;
  readonly pace: Pace | undefined;
  /** Ends its listening to the signal. */
  unlisten: (() => void) | undefined;
}

const longWaitMs = 100;
/** How many share a connection. Where all shared, a `GET` of the orders example took 1.10 of Fastify's CPU with six, 0.97 with four. */
const maxTogether = 4;
// Past it a timer fires at once.
const maxTimerMs = 2 ** 31 - 1;

/** The callers that wait for a connection, in the order of their calls, each for at most its `waitMs`. */
export class AcquireQueue {
  readonly #waiting = new Set<Waiter>();
  // One timer for all waiters, which is not cancelled when the queue is empty: nearly every wait ends long before it is
  // due, and a timer for each would double its cost.
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  #firesAt = Number.POSITIVE_INFINITY;
  #warnedAt = Number.NEGATIVE_INFINITY;
  readonly #connections: number;

  /** @param connections How many the pool has. */
  constructor(connections: number) {
    this.#connections = connections;
  }

  get size(): number {
    return this.#waiting.size;
  }

  enqueue(waitMs: number, signal: AbortSignal | undefined, pace: Pace | undefined): Promise<PooledConnection> {
    return new Promise((resolve, reject) => {
      const startedAt = performance.now();
      const endsAt = startedAt + waitMs;
      const context = current();
      const waiter: Waiter = { resolve, reject, waitMs, startedAt, endsAt, context, pace, unlisten: undefined };
      if (signal !== undefined) waiter.unlisten = onAbort(signal, () => this.#refuse(waiter, gaveUp(signal)));
      this.#waiting.add(waiter);
      if (endsAt < this.#firesAt) this.#fireAt(endsAt, startedAt);
    });
  }

  /**
   * Hands a connection to the waiter that has waited longest. Returns false if the queue is empty. Several waiters with quick
   * statements share it where each connection has several waiters: their statements are one `write` and their results one
   * `read`.
   */
  handOff(pooled: PooledConnection): boolean {
    const most = Math.min(maxTogether, Math.floor(this.#waiting.size / this.#connections));
    let count = 0;
    for (const waiter of this.#waiting) {
      const isSharer = most > 1 && isQuick(waiter, pooled);
      if (count > 0 && !isSharer) break;
      this.#leave(waiter);
      this.#warnOfWait(waiter);
      pooled.isUsed = true;
      waiter.resolve(pooled);
      count++;
      if (!isSharer || count >= most) break;
    }
    if (count > 1) {
      pooled.sharers = count - 1;
      pooled.connection.gather();
    }
    return count > 0;
  }

  refuseAll(why: () => DatabaseError): void {
    for (const waiter of this.#waiting) this.#refuse(waiter, why());
  }

  /** Rejects every waiter. No caller may enqueue afterwards. */
  close(): void {
    clearTimeout(this.#timer);
    this.refuseAll(() => new DatabaseError({ kind: "pool_closed" }));
  }

  #refuse(waiter: Waiter, why: DatabaseError): void {
    this.#leave(waiter);
    waiter.reject(why);
  }

  #leave(waiter: Waiter): void {
    this.#waiting.delete(waiter);
    waiter.unlisten?.();
  }

  #fireAt(at: number, now: number): void {
    clearTimeout(this.#timer);
    this.#firesAt = at;
    const fire = (): void => this.#expire();
    this.#timer = setTimeout(fire, Math.min(at - now, maxTimerMs));
  }

  #expire(): void {
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const waiter of this.#waiting) {
      const { waitMs, endsAt } = waiter;
      if (endsAt <= now) this.#refuse(waiter, new DatabaseError({ kind: "pool_busy", waitedMs: waitMs }));
      else next = Math.min(next, endsAt);
    }
    this.#firesAt = Number.POSITIVE_INFINITY;
    if (next !== Number.POSITIVE_INFINITY) this.#fireAt(next, now);
  }

  // If one waits long, so do the next ones: one line a second is enough.
  #warnOfWait({ startedAt, context }: Waiter): void {
    const now = performance.now();
    const waitedMs = Math.round(now - startedAt);
    if (waitedMs <= longWaitMs || now - this.#warnedAt < 1000) return;
    this.#warnedAt = now;
    warn(`a wait for a connection took ${waitedMs} ms`, context);
  }
}

function isQuick({ pace }: Waiter, { connection }: PooledConnection): boolean {
  return pace?.isQuick === true && connection.isPrepared(pace.sql);
}

/** The caller's signal was aborted. */
export function gaveUp(signal: AbortSignal): DatabaseError {
  return new DatabaseError({ kind: "unsent", detail: "the caller went away before it had a connection" }, true, signal);
}
