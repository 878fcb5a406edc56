import { inBackground } from "../logging/raised.ts";
import { PooledConnection, AcquireQueue, gaveUp, info, unsent, warn, reasonOf } from "./acquire-queue.ts";
import { ConnectionFailure } from "./connection.ts";
import type { OpenConnection } from "./connection.ts";
import { DatabaseError } from "./failure.ts";
import type { Pace } from "./pace.ts";

export interface ConnectionPoolOptions {
  readonly size: number;
  readonly waitMs: number;
  /** How long a statement may take before the pool closes its connection; undefined for no limit. */
  readonly answerMs: number | undefined;
  /** How long a statement may take before the pool asks the server to cancel it; undefined where the server has that limit. */
  readonly cancelMs: number | undefined;
  readonly maxLifetimeMs: number;
  readonly idleCheckMs: number;
}

/** How long a borrower waits for a connection, and a signal that ends the wait. */
export interface Borrow {
  /** How long to wait for a connection; the pool's `waitMs` by default. Then it fails with `pool_busy`. */
  readonly waitMs?: number;
  /**
   * Aborting it leaves the queue, cancels the running statement and rolls a transaction back. Pass `clientGone`. The deadline of the
   * request does the same without being passed.
   */
  readonly signal?: AbortSignal;
}

const firstBackoffMs = 100;
const maxBackoffMs = 1000;
/** How long an idle connection may take to answer `select 1`. */
const pingMs = 5000;
/** How long an old connection stays where no other could be opened, at most. */
const renewAgainMs = 60_000;
/** The least limit of what ends a transaction: a commit checks deferred constraints, which may take long. */
const commitMs = 60_000;

/** Whether the pool lends connections. Once it closes it only waits for those that are borrowed, opening or closing. */
type PoolLife =
  /** `sweep` looks after its connections, from when all of them are open. */
  | { readonly at: "open"; readonly sweep: ReturnType<typeof setInterval> | undefined }
  | { readonly at: "closing"; readonly closed: Promise<void>; readonly whenEmpty: () => void };

/**
 * A fixed number of places, one connection each. A place is idle, acquired, opening or down. A connection that dies leaves
 * its place down. While the server is unreachable, one attempt at a time is made to reopen it, with growing back-off.
 */
export class ConnectionPool {
  readonly #open: OpenConnection;
  readonly #options: ConnectionPoolOptions;
  // Last in, first out: few connections are busy, and the idle sessions' caches do not displace theirs.
  readonly #idle: PooledConnection[] = [];
  readonly #acquired = new Set<PooledConnection>();
  readonly #waiting: AcquireQueue;
  #openingCount = 0;
  #closingCount = 0;
  #isRenewing = false;
  #downCount = 0;
  #replaced = 0;
  #backoffMs = 0;
  /** How many connections in a row were lost that no caller had borrowed. */
  #unusedLosses = 0;
  #attempt: ReturnType<typeof setTimeout> | undefined = undefined;
  #why = "";
  #life: PoolLife = { at: "open", sweep: undefined };
  readonly #sweepMs: number;

  private constructor(open: OpenConnection, options: ConnectionPoolOptions) {
    this.#open = open;
    this.#options = options;
    this.#waiting = new AcquireQueue(options.size);
    this.#sweepMs = Math.max(1, Math.min(1000, options.idleCheckMs / 4, options.maxLifetimeMs / 4));
  }

  /** Opens every connection. If one fails, it closes the others and throws the first failure. */
  static async filled(open: OpenConnection, options: ConnectionPoolOptions): Promise<ConnectionPool> {
    const pool = new ConnectionPool(open, options);
    const opened = await Promise.allSettled(Array.from({ length: options.size }, () => pool.#openOne()));
    for (const { value } of opened.filter((one) => one.status === "fulfilled")) pool.#idle.push(value);
    const failed = opened.find((one) => one.status === "rejected");
    if (failed !== undefined) {
      await pool.close();
      throw failed.reason instanceof ConnectionFailure ? unsent(failed.reason) : failed.reason;
    }
    // A connection may have closed while the others were opened.
    for (const pooled of pool.#idle.slice()) if (!pooled.connection.isOpen) pool.#onClosed(pooled);
    pool.#life = { at: "open", sweep: setInterval(() => pool.#maintain(), pool.#sweepMs) };
    return pool;
  }

  get isClosed(): boolean {
    return this.#life.at === "closing";
  }

  /** The connections that are open, and that no caller has borrowed. */
  get idleCount(): number {
    return this.#idle.length;
  }

  /** Whether every place is acquired: none is idle, down or opening. */
  get isExhausted(): boolean {
    return this.#acquired.size >= this.#options.size;
  }

  stats(): { readonly size: number; readonly idle: number; readonly waiting: number; readonly replaced: number } {
    const { size } = this.#options;
    const idle = this.isClosed ? 0 : size - this.#acquired.size;
    return { size, idle, waiting: this.#waiting.size, replaced: this.#replaced };
  }

  /** Acquires a connection: at once if one is idle, otherwise in the order of the calls. */
  acquire(borrow: Borrow, pace?: Pace): PooledConnection | Promise<PooledConnection> {
    if (this.isClosed) return Promise.reject(new DatabaseError({ kind: "pool_closed" }));
    const { waitMs = this.#options.waitMs, signal } = borrow;
    if (signal?.aborted) return Promise.reject(gaveUp(signal));
    const pooled = this.#idle.pop();
    if (pooled === undefined)
      return this.#isUnreachable ? this.#refuseSoon() : this.#waiting.enqueue(waitMs, signal, pace);
    this.#acquired.add(pooled);
    pooled.isUsed = true;
    return pooled;
  }

  /** Takes a connection back and hands it to the longest waiter. */
  release(pooled: PooledConnection): void {
    if (pooled.sharers > 0) {
      pooled.sharers--;
      // The limit is of one statement.
      pooled.runningMs = 0;
    } else if (pooled.successor !== undefined) this.#replace(pooled, pooled.successor);
    else if (this.isClosed) {
      this.#acquired.delete(pooled);
      inBackground(this.#shut(pooled));
    } else if (!pooled.connection.isOpen) {
      this.#acquired.delete(pooled);
      this.#markDown(pooled);
    } else if (!this.#waiting.handOff(pooled)) {
      this.#acquired.delete(pooled);
      pooled.idleMs = 0;
      this.#idle.push(pooled);
    }
  }

  async #shut({ connection }: PooledConnection): Promise<void> {
    this.#closingCount++;
    try {
      await connection.shut();
    } finally {
      this.#closingCount--;
      this.#checkClosed();
    }
  }

  /** Refuses every further borrower. Settles when every connection is closed; acquired ones close once they are released. */
  close(): Promise<void> {
    if (this.#life.at === "closing") return this.#life.closed;
    clearInterval(this.#life.sweep);
    clearTimeout(this.#attempt);
    let whenEmpty = (): void => {};
    const closed = new Promise<void>((resolve) => (whenEmpty = resolve));
    this.#life = { at: "closing", closed, whenEmpty };
    this.#waiting.close();
    for (const pooled of this.#idle.splice(0)) inBackground(this.#shut(pooled));
    this.#checkClosed();
    return closed;
  }

  get #isEmpty(): boolean {
    return this.#acquired.size + this.#openingCount + this.#closingCount === 0 && !this.#isRenewing;
  }

  #checkClosed(): void {
    if (this.#life.at === "closing" && this.#isEmpty) this.#life.whenEmpty();
  }

  // The timer lets the event loop turn for a caller that retries in a loop; otherwise no attempt to reconnect could run.
  async #refuseSoon(): Promise<never> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    throw new DatabaseError({ kind: "unsent", detail: this.#why });
  }

  /** Whether every place is down and the next attempt is due later: then a borrower fails at once. */
  get #isUnreachable(): boolean {
    return this.#attempt !== undefined && this.#openingCount === 0 && this.#downCount === this.#options.size;
  }

  async #openOne(): Promise<PooledConnection> {
    const opened: PooledConnection[] = [];
    const connection = await this.#open({ closed: () => opened.forEach((pooled) => this.#onClosed(pooled)) });
    // Lifetimes vary by a tenth, so that connections opened together are not all replaced together.
    const pooled = new PooledConnection(
      connection,
      performance.now() + this.#options.maxLifetimeMs * (0.9 + Math.random() * 0.2),
    );
    opened.push(pooled);
    return pooled;
  }

  /** Only for an idle one: `release` notices that an acquired one is closed. */
  #onClosed(pooled: PooledConnection): void {
    const at = this.#idle.indexOf(pooled);
    if (at === -1) return;
    this.#idle.splice(at, 1);
    this.#markDown(pooled);
  }

  #markDown({ isUsed }: PooledConnection): void {
    this.#downCount++;
    this.#unusedLosses = isUsed ? 0 : this.#unusedLosses + 1;
    // A server that ends each connection as soon as it is open would be connected to without a pause.
    if (this.#unusedLosses > this.#options.size) {
      const doubled = firstBackoffMs * 2 ** (this.#unusedLosses - this.#options.size - 1);
      this.#backoffMs = Math.min(doubled, maxBackoffMs);
    }
    this.#revive();
  }

  /** Reopens every place that is down. During back-off it reopens one, when the back-off ends. */
  #revive(): void {
    if (this.isClosed || this.#attempt !== undefined) return;
    if (this.#backoffMs > 0) this.#attemptLater();
    else while (this.#downCount > 0) inBackground(this.#fill());
  }

  #attemptLater(): void {
    if (this.#downCount === 0) return;
    const apart = 0.75 + Math.random() * 0.5;
    this.#attempt = setTimeout(() => {
      this.#attempt = undefined;
      if (this.#downCount > 0) inBackground(this.#fill());
    }, this.#backoffMs * apart);
  }

  async #fill(): Promise<void> {
    this.#downCount--;
    this.#openingCount++;
    try {
      const pooled = await this.#openOne();
      this.#openingCount--;
      if (this.#backoffMs > 0) info("the database is reached again");
      this.#backoffMs = 0;
      this.#replaced++;
      this.#settleOpened(pooled);
    } catch (failure) {
      this.#openingCount--;
      this.#downCount++;
      this.#failed(failure);
    }
    this.#checkClosed();
  }

  #settleOpened(pooled: PooledConnection): void {
    clearTimeout(this.#attempt);
    this.#attempt = undefined;
    this.#acquired.add(pooled);
    this.release(pooled);
    this.#revive();
  }

  #failed(failure: unknown): void {
    this.#why = reasonOf(failure);
    if (this.isClosed) return;
    if (this.#attempt === undefined && this.#openingCount === 0) {
      if (this.#backoffMs === 0) warn(`the database is not reached: ${this.#why}`);
      this.#backoffMs = Math.min(Math.max(firstBackoffMs, this.#backoffMs * 2), maxBackoffMs);
      this.#attemptLater();
    }
    if (!this.#isUnreachable) return;
    this.#waiting.refuseAll(() => unsent(failure));
  }

  /** Closes connections whose statement runs too long, pings idle ones, and replaces old ones. */
  #maintain(): void {
    const { idleCheckMs, cancelMs = Number.POSITIVE_INFINITY } = this.#options;
    for (const pooled of this.#acquired) {
      if (!pooled.connection.isRunning) continue;
      pooled.runningMs += this.#sweepMs;
      if (pooled.runningMs > this.#boundOf(pooled)) pooled.connection.cut();
      else if (pooled.runningMs > cancelMs && !pooled.isUnbounded && !pooled.isEnding) pooled.cancel();
    }
    for (const pooled of this.#idle.slice()) {
      pooled.idleMs += this.#sweepMs;
      // The last idle one stays free for the next borrower.
      if (this.#idle.length > 1 && pooled.idleMs > idleCheckMs) inBackground(this.#ping(pooled));
    }
    if (!this.#isRenewing) this.#renewOldest();
  }

  /**
   * The limit of the running statement, in milliseconds. If the borrower or the pool lifted it, the end of a transaction
   * still has one: on a dead network its caller would otherwise wait for TCP to give up.
   */
  #boundOf(pooled: PooledConnection): number {
    const { answerMs } = this.#options;
    if (answerMs !== undefined && !pooled.isUnbounded) return answerMs;
    return pooled.isEnding ? Math.max(commitMs, answerMs ?? 0) : Number.POSITIVE_INFINITY;
  }

  async #ping(pooled: PooledConnection): Promise<void> {
    this.#takeIdle(pooled);
    const timer = setTimeout(() => pooled.connection.cut(), pingMs);
    await pooled.ping().catch(() => pooled.connection.cut());
    clearTimeout(timer);
    this.release(pooled);
  }

  /** Acquired connections count too: in a busy pool none is idle for long. */
  #renewOldest(): void {
    const now = performance.now();
    for (const connections of [this.#idle, this.#acquired])
      for (const pooled of connections) {
        if (now > pooled.endsAt) return inBackground(this.#renew(pooled));
      }
  }

  /** Opens the new connection before the old one closes. A borrower keeps the old one until it releases it. */
  async #renew(pooled: PooledConnection): Promise<void> {
    this.#isRenewing = true;
    pooled.endsAt = Number.POSITIVE_INFINITY;
    try {
      const fresh = await this.#openOne();
      if (this.#acquired.has(pooled)) pooled.successor = fresh;
      else if (this.#idle.includes(pooled)) this.#replace(this.#takeIdle(pooled), fresh);
      // The old one died meanwhile and its place was refilled, or the pool closed.
      else inBackground(this.#shut(fresh));
    } catch {
      pooled.endsAt = performance.now() + Math.min(renewAgainMs, this.#options.idleCheckMs);
    }
    this.#isRenewing = false;
    this.#checkClosed();
  }

  #replace(pooled: PooledConnection, fresh: PooledConnection): void {
    this.#acquired.delete(pooled);
    inBackground(this.#shut(pooled));
    this.#replaced++;
    this.#acquired.add(fresh);
    this.release(fresh);
  }

  #takeIdle(pooled: PooledConnection): PooledConnection {
    this.#idle.splice(this.#idle.indexOf(pooled), 1);
    this.#acquired.add(pooled);
    return pooled;
  }
}
