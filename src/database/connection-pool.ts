import { inBackground } from "../logging/raised.ts";
import { PooledConnection, AcquireQueue, gaveUp, unsent, warn, reasonOf } from "./acquire-queue.ts";
import { LinkFailure } from "./connection.ts";
import type { OpenConnection } from "./connection.ts";
import { DatabaseError } from "./failure.ts";

export interface ConnectionPoolOptions {
  readonly size: number;
  readonly waitMs: number;
  /** What a statement may take on the wire, whatever the server does; undefined for any time. */
  readonly answerMs: number | undefined;
  readonly maxLifetimeMs: number;
  readonly idleCheckMs: number;
}

/** How long a borrow waits, and what ends the waiting. */
export interface Borrow {
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

const firstBackoffMs = 100;
const maxBackoffMs = 1000;
/** How long an idle connection may take to say that it is there. */
const askMs = 5000;
/** How long a commit may take that may take long: what was deferred is checked in it. */
const endMs = 60_000;

/**
 * A fixed number of places for a connection each. A place is idle, lent, being opened, or down; a connection that dies
 * leaves its place down, and one attempt at a time, further and further apart, finds out when the server is back.
 */
export class ConnectionPool {
  readonly #open: OpenConnection;
  readonly #options: ConnectionPoolOptions;
  // The last one given back is lent first: so few connections are busy, and the others' caches stay out of the way.
  readonly #idle: PooledConnection[] = [];
  readonly #acquired = new Set<PooledConnection>();
  readonly #waiting = new AcquireQueue();
  #opening = 0;
  #leaving = 0;
  #isRenewing = false;
  #down = 0;
  #replaced = 0;
  #backoffMs = 0;
  #attempt: ReturnType<typeof setTimeout> | undefined = undefined;
  #why = "";
  #isClosed = false;
  #sweep: ReturnType<typeof setInterval> | undefined = undefined;
  readonly #sweepMs: number;
  #whenClosed: (() => void) | undefined = undefined;
  #closing: Promise<void> | undefined = undefined;

  private constructor(open: OpenConnection, options: ConnectionPoolOptions) {
    this.#open = open;
    this.#options = options;
    this.#sweepMs = Math.max(1, Math.min(1000, options.idleCheckMs / 4, options.maxLifetimeMs / 4));
  }

  /** Opens every connection. Where one cannot be, the others are closed, and the first reason is thrown. */
  static async filled(open: OpenConnection, options: ConnectionPoolOptions): Promise<ConnectionPool> {
    const slots = new ConnectionPool(open, options);
    const opened = await Promise.allSettled(Array.from({ length: options.size }, () => slots.#openSlot()));
    for (const { value } of opened.filter((one) => one.status === "fulfilled")) slots.#idle.push(value);
    const failed = opened.find((one) => one.status === "rejected");
    if (failed !== undefined) {
      await slots.close();
      throw failed.reason instanceof LinkFailure ? unsent(failed.reason) : failed.reason;
    }
    // A connection may have died while the others were opened.
    for (const slot of slots.#idle.slice()) if (!slot.link.isOpen) slots.#died(slot);
    slots.#sweep = setInterval(() => slots.#maintain(), slots.#sweepMs);
    return slots;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether every place is lent: none is idle, and none is down or being opened. */
  get isAllLent(): boolean {
    return this.#acquired.size >= this.#options.size;
  }

  stats(): { readonly size: number; readonly idle: number; readonly waiting: number; readonly replaced: number } {
    const { size } = this.#options;
    const idle = this.#isClosed ? 0 : size - this.#acquired.size;
    return { size, idle, waiting: this.#waiting.size, replaced: this.#replaced };
  }

  /** A connection of one's own until it is given back: at once where one is idle, else in the order of asking. */
  take(borrow: Borrow): PooledConnection | Promise<PooledConnection> {
    if (this.#isClosed) return Promise.reject(new DatabaseError({ kind: "pool_closed" }));
    const { waitMs = this.#options.waitMs, signal } = borrow;
    if (signal?.aborted) return Promise.reject(gaveUp());
    const slot = this.#idle.pop();
    if (slot === undefined) return this.#isUnreachable ? this.#refuseSoon() : this.#waiting.enqueue(waitMs, signal);
    this.#acquired.add(slot);
    return slot;
  }

  /** Takes a connection back, for whoever has waited longest. */
  give(slot: PooledConnection): void {
    if (slot.successor !== undefined) this.#replace(slot, slot.successor);
    else if (this.#isClosed) {
      this.#acquired.delete(slot);
      inBackground(this.#dismiss(slot));
    } else if (!slot.link.isOpen) {
      this.#acquired.delete(slot);
      this.#wentDown();
    } else if (!this.#waiting.handOff(slot)) {
      this.#acquired.delete(slot);
      slot.idleMs = 0;
      this.#idle.push(slot);
    }
  }

  /** Closes a connection that nobody is to have any more. */
  async #dismiss({ link }: PooledConnection): Promise<void> {
    this.#leaving++;
    try {
      await link.shut();
    } finally {
      this.#leaving--;
      this.#tellClosed();
    }
  }

  /** No one borrows from now on. Settles when every connection is closed, those that are lent after they came back. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweep);
    clearTimeout(this.#attempt);
    this.#waiting.close();
    for (const slot of this.#idle.splice(0)) inBackground(this.#dismiss(slot));
    if (!this.#isEmpty) await new Promise<void>((resolve) => (this.#whenClosed = resolve));
  }

  get #isEmpty(): boolean {
    return this.#acquired.size + this.#opening + this.#leaving === 0 && !this.#isRenewing;
  }

  #tellClosed(): void {
    if (this.#isClosed && this.#isEmpty) this.#whenClosed?.();
  }

  // Its timer makes a caller that asks again and again let the event loop turn, which is what finds the server back.
  async #refuseSoon(): Promise<never> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    throw new DatabaseError({ kind: "unsent", detail: this.#why });
  }

  /** With every place down and an attempt due later, there is nothing to wait for. */
  get #isUnreachable(): boolean {
    return this.#attempt !== undefined && this.#opening === 0 && this.#down === this.#options.size;
  }

  async #openSlot(): Promise<PooledConnection> {
    const opened: PooledConnection[] = [];
    const link = await this.#open({ closed: () => opened.forEach((slot) => this.#died(slot)) });
    // A tenth of a life apart, so that connections opened together do not all end together.
    const slot = new PooledConnection(
      link,
      performance.now() + this.#options.maxLifetimeMs * (0.9 + Math.random() * 0.2),
    );
    opened.push(slot);
    return slot;
  }

  /** One that is lent is found dead when it is given back. */
  #died(slot: PooledConnection): void {
    const at = this.#idle.indexOf(slot);
    if (at === -1) return;
    this.#idle.splice(at, 1);
    this.#wentDown();
  }

  #wentDown(): void {
    this.#down++;
    this.#revive();
  }

  /** Opens what is down: all of it, unless the server is known to be away; then one when its time has come. */
  #revive(): void {
    if (this.#isClosed || this.#attempt !== undefined) return;
    if (this.#backoffMs > 0) this.#attemptLater();
    else while (this.#down > 0) inBackground(this.#fill());
  }

  #attemptLater(): void {
    if (this.#down === 0) return;
    const apart = 0.75 + Math.random() * 0.5;
    this.#attempt = setTimeout(() => {
      this.#attempt = undefined;
      if (this.#down > 0) inBackground(this.#fill());
    }, this.#backoffMs * apart);
  }

  async #fill(): Promise<void> {
    this.#down--;
    this.#opening++;
    try {
      const slot = await this.#openSlot();
      this.#opening--;
      this.#backoffMs = 0;
      this.#replaced++;
      this.#settleOpened(slot);
    } catch (failure) {
      this.#opening--;
      this.#down++;
      this.#failed(failure);
    }
    this.#tellClosed();
  }

  #settleOpened(slot: PooledConnection): void {
    clearTimeout(this.#attempt);
    this.#attempt = undefined;
    this.#acquired.add(slot);
    this.give(slot);
    this.#revive();
  }

  #failed(failure: unknown): void {
    this.#why = reasonOf(failure);
    if (this.#isClosed) return;
    if (this.#attempt === undefined && this.#opening === 0) {
      if (this.#backoffMs === 0) warn(`the database is not reached: ${this.#why}`);
      this.#backoffMs = Math.min(Math.max(firstBackoffMs, this.#backoffMs * 2), maxBackoffMs);
      this.#attemptLater();
    }
    if (!this.#isUnreachable) return;
    this.#waiting.refuseAll(() => unsent(failure));
  }

  /** Bounds what runs, renews what is old, and asks what was long idle whether it is there. */
  #maintain(): void {
    const { idleCheckMs } = this.#options;
    for (const slot of this.#acquired) {
      if (!slot.link.isRunning) continue;
      slot.runningMs += this.#sweepMs;
      if (slot.runningMs > this.#boundOf(slot)) slot.link.cut();
    }
    for (const slot of this.#idle.slice()) {
      slot.idleMs += this.#sweepMs;
      // The last idle one is somebody's who may come any moment.
      if (this.#idle.length > 1 && slot.idleMs > idleCheckMs) inBackground(this.#ask(slot));
    }
    if (!this.#isRenewing) this.#renewOldest();
  }

  /**
   * What a statement may take on the wire, in milliseconds. Where its borrower lifted that bound, or the pool has none, the
   * end of a transaction has one still: whoever waits for it cannot ask for more, and on a dead network would for TCP.
   */
  #boundOf(slot: PooledConnection): number {
    const { answerMs } = this.#options;
    if (answerMs !== undefined && !slot.isUnbounded) return answerMs;
    return slot.isEnding ? Math.max(endMs, answerMs ?? 0) : Number.POSITIVE_INFINITY;
  }

  async #ask(slot: PooledConnection): Promise<void> {
    this.#borrowIdle(slot);
    const timer = setTimeout(() => slot.link.cut(), askMs);
    await slot.ask().catch(() => slot.link.cut());
    clearTimeout(timer);
    this.give(slot);
  }

  /** One that is past its time, whether it is lent or not: in a pool that is busy none is ever idle for long. */
  #renewOldest(): void {
    const now = performance.now();
    for (const slots of [this.#idle, this.#acquired])
      for (const slot of slots) {
        if (now > slot.endsAt) return inBackground(this.#renew(slot));
      }
  }

  /** The new connection stands before the old one goes, which nobody loses who has it. */
  async #renew(slot: PooledConnection): Promise<void> {
    this.#isRenewing = true;
    slot.endsAt = Number.POSITIVE_INFINITY;
    try {
      const fresh = await this.#openSlot();
      if (this.#acquired.has(slot)) slot.successor = fresh;
      else if (this.#idle.includes(slot)) this.#replace(this.#borrowIdle(slot), fresh);
      // It died, and its place has another one by now, or the pool is closed.
      else inBackground(this.#dismiss(fresh));
    } catch {
      slot.endsAt = performance.now() + this.#options.idleCheckMs;
    }
    this.#isRenewing = false;
    this.#tellClosed();
  }

  /** Has a connection that nobody has any more go, and another one come. */
  #replace(slot: PooledConnection, fresh: PooledConnection): void {
    this.#acquired.delete(slot);
    inBackground(this.#dismiss(slot));
    this.#replaced++;
    this.#acquired.add(fresh);
    this.give(fresh);
  }

  #borrowIdle(slot: PooledConnection): PooledConnection {
    this.#idle.splice(this.#idle.indexOf(slot), 1);
    this.#acquired.add(slot);
    return slot;
  }
}
