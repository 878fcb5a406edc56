import { current } from "../logging/context.ts";
import type { Level, LogContext, OpenSpan } from "../logging/entry.ts";
import { log } from "../logging/writer.ts";
import { openStatement } from "../telemetry/span.ts";
import { LinkFailure } from "./connection.ts";
import type {
  StatementResult,
  StatementColumns,
  DatabaseConnection,
  ConnectionError,
  StatementValues,
} from "./connection.ts";
import { DatabaseError } from "./failure.ts";

const source = "framework.postgres";

export function warn(message: string, context: LogContext | undefined = current()): void {
  write("warn", message, context);
}

export function info(message: string): void {
  write("info", message);
}

/** What a program says that cannot begin. */
export function error(message: string): void {
  write("error", message);
}

function write(level: Level, message: string, context: LogContext | undefined = current()): void {
  log({ level, source, message, fields: {}, context });
}

/** Why there is no connection. */
export function reasonOf(failure: unknown): string {
  const trouble = failure instanceof LinkFailure ? failure.trouble : undefined;
  if (trouble === undefined) return failure instanceof Error ? failure.name : typeof failure;
  return trouble.kind === "refused" ? `${trouble.severity} ${trouble.code}: ${trouble.message}` : trouble.why;
}

export function unsent(failure: unknown): DatabaseError {
  return new DatabaseError({ kind: "unsent", detail: reasonOf(failure) });
}

/** One connection of a pool, and what the pool's housekeeping knows of it. */
export class PooledConnection {
  readonly link: DatabaseConnection;
  /** When it is renewed, by `performance.now()`. */
  endsAt: number;
  /** How long the statement runs that runs: counted by the sweep, as a clock asked for every statement costs more. */
  runningMs = 0;
  idleMs = 0;
  /** Set where the borrower gave the server a bound of its own. */
  isUnbounded = false;
  /** The connection that takes its place when it is given back. */
  successor: PooledConnection | undefined = undefined;
  /** Whether what runs ends what its borrower did. */
  isEnding = false;

  constructor(link: DatabaseConnection, endsAt: number) {
    this.link = link;
    this.endsAt = endsAt;
  }

  run(sql: string, values: StatementValues): Promise<StatementResult> {
    this.runningMs = 0;
    this.isEnding = false;
    return this.#run(sql, values);
  }

  /** Has the server describe a statement, which it does not run. */
  describe(sql: string): Promise<StatementColumns> {
    this.runningMs = 0;
    this.isEnding = false;
    return this.link.describe(sql);
  }

  /** Asks whether the server is there. */
  ask(): Promise<StatementResult> {
    this.runningMs = 0;
    this.isEnding = false;
    return this.link.run("select 1", []);
  }

  /** Commits, or rolls back. */
  end(sql: "commit" | "rollback"): Promise<StatementResult> {
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

  #run(sql: string, values: StatementValues): Promise<StatementResult> {
    const span = openStatement(sql);
    return span === undefined ? this.link.run(sql, values) : traced(span, this.link.run(sql, values));
  }
}

async function traced(span: OpenSpan, running: Promise<StatementResult>): Promise<StatementResult> {
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
function kindOf(trouble: ConnectionError): string {
  return trouble.kind === "refused" ? trouble.code : trouble.kind;
}

interface Waiter {
  readonly resolve: (slot: PooledConnection) => void;
  readonly reject: (why: DatabaseError) => void;
  readonly waitMs: number;
  readonly startedAt: number;
  readonly endsAt: number;
  /** Of the request that waits: whoever hands it a connection is another. */
  readonly context: LogContext | undefined;
  readonly signal: AbortSignal | undefined;
  /** Its listening to the signal. */
  abort: (() => void) | undefined;
}

const longWaitMs = 100;
// Past it a timer fires at once.
const maxTimerMs = 2 ** 31 - 1;

/** Who waits for a connection, in the order of asking, each for as long as it will. */
export class AcquireQueue {
  readonly #waiting = new Set<Waiter>();
  // One timer for all of them, which goes on when nobody waits: nearly every wait ends long before it is due, and a timer
  // for each would cost as much as the rest of it.
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;
  #firesAt = Number.POSITIVE_INFINITY;
  #warnedAt = Number.NEGATIVE_INFINITY;

  get size(): number {
    return this.#waiting.size;
  }

  enqueue(waitMs: number, signal: AbortSignal | undefined): Promise<PooledConnection> {
    return new Promise((resolve, reject) => {
      const startedAt = performance.now();
      const endsAt = startedAt + waitMs;
      const context = current();
      const waiter: Waiter = { resolve, reject, waitMs, startedAt, endsAt, context, signal, abort: undefined };
      if (signal !== undefined) this.#listen(waiter, signal);
      this.#waiting.add(waiter);
      if (endsAt < this.#firesAt) this.#fireAt(endsAt, startedAt);
    });
  }

  /** Hands a connection to whoever has waited longest; answers whether anybody waits. */
  handOff(slot: PooledConnection): boolean {
    const [waiter] = this.#waiting;
    if (waiter === undefined) return false;
    this.#leave(waiter);
    this.#warnOfWait(waiter);
    waiter.resolve(slot);
    return true;
  }

  refuseAll(why: () => DatabaseError): void {
    for (const waiter of this.#waiting) this.#refuse(waiter, why());
  }

  /** Refuses all who wait; no one may join after it. */
  close(): void {
    clearTimeout(this.#timer);
    this.refuseAll(() => new DatabaseError({ kind: "pool_closed" }));
  }

  #listen(waiter: Waiter, signal: AbortSignal): void {
    const abort = (): void => this.#refuse(waiter, gaveUp());
    waiter.abort = abort;
    signal.addEventListener("abort", abort);
  }

  #refuse(waiter: Waiter, why: DatabaseError): void {
    this.#leave(waiter);
    waiter.reject(why);
  }

  #leave(waiter: Waiter): void {
    this.#waiting.delete(waiter);
    if (waiter.abort !== undefined) waiter.signal?.removeEventListener("abort", waiter.abort);
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

  // Where one waits long the next one does as well: a line a second says it.
  #warnOfWait({ startedAt, context }: Waiter): void {
    const now = performance.now();
    const waitedMs = Math.round(now - startedAt);
    if (waitedMs <= longWaitMs || now - this.#warnedAt < 1000) return;
    this.#warnedAt = now;
    warn(`a wait for a connection took ${waitedMs} ms`, context);
  }
}

/** Nobody is left to be told. */
export function gaveUp(): DatabaseError {
  return new DatabaseError({ kind: "unsent", detail: "who asked for a connection went away" });
}
