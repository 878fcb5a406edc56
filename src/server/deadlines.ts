import { unrefTimer } from "../async.ts";
import { httpDate } from "../http/fields.ts";
import { endedEarly, serverStopped } from "../inputs/body-source.ts";
import type { BodyFailure } from "../inputs/body-source.ts";
import { attempt } from "../logging/raised.ts";

/** The owner of a deadline. */
export interface DeadlineListener {
  /** The client took too long. */
  expire(): void;
}

/** A time limit for a client. */
export interface Deadline {
  /**
   * Bytes of a body arrived, or the client took some of a response: extends the deadline, up to its whole timeout.
   *
   * @param freeMs Time that is not charged.
   */
  arrived(bytes: number, freeMs?: number): void;
  /** The server does not wait for the client now: the remaining time stays. */
  pause(): void;
  /** The server waits again. */
  resume(): void;
  /** Starts it again after it has expired, for its whole timeout. */
  restart(): void;
  /** Continues after it has expired, if `arrived` has extended it since. Returns whether it does. */
  goOn(): boolean;
  clear(): void;
}

/**
 * All deadlines for clients, checked periodically by one timer: a timer or a clock reading for each request would cost more.
 * A deadline expires at most two checks late, a tenth of the shortest.
 */
export class Deadlines {
  readonly #bodyTimeoutMs: number;
  readonly #minBodyRate: number;
  readonly #sendTimeoutMs: number;
  readonly #minSendRate: number;
  readonly #everyMs: number;
  /** The longest body that arrives within half of the body timeout at `minBodyRate`. */
  readonly shortBytes: number;
  /** The deadlines, as a ring: adding and removing take the same time. */
  readonly #ring = new RunningDeadline(this, 0, 0, { expire() {} });
  #timer: ReturnType<typeof setInterval> | undefined;
  /**
   * The time of the last check. A deadline that resumes and pauses between two checks is not charged, and one that a check
   * falls into is charged the whole interval. Over the many waits of a body this averages out.
   */
  now: number = performance.now();
  #date: string | undefined = undefined;
  /** Whether the server has cut what was in flight, because it stops: what ends from now on did not end because of its client. */
  isCut = false;

  constructor(limits: {
    readonly bodyTimeoutMs: number;
    readonly minBodyRate: number;
    readonly sendTimeoutMs: number;
    readonly minSendRate: number;
  }) {
    this.#bodyTimeoutMs = limits.bodyTimeoutMs;
    this.#minBodyRate = limits.minBodyRate;
    this.#sendTimeoutMs = limits.sendTimeoutMs;
    this.#minSendRate = limits.minSendRate;
    this.shortBytes = (limits.bodyTimeoutMs * limits.minBodyRate) / 2000;
    this.#everyMs = Math.max(1, Math.min(500, limits.bodyTimeoutMs / 20, limits.sendTimeoutMs / 20));
  }

  /** The value of `Date`, read once between two checks: reading the clock takes a request 30 to 100 ns. */
  get date(): string {
    if (this.#timer === undefined) return httpDate(Date.now());
    return (this.#date ??= httpDate(Date.now()));
  }

  start(): void {
    this.now = performance.now();
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#check(), this.#everyMs);
    unrefTimer(this.#timer);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** The time that a stopping server had for what was in flight is over. */
  cut(): void {
    this.isCut = true;
  }

  /** Why a body ends before it is whole. */
  get brokenBody(): BodyFailure {
    return this.isCut ? serverStopped : endedEarly;
  }

  /**
   * A deadline for a body: `bodyTimeoutMs`, and a second more for each `minBodyRate` bytes that arrive. Time is not saved
   * up: a fast body may still pause for `bodyTimeoutMs` at most.
   */
  body(listener: DeadlineListener): Deadline {
    return this.#start(this.#bodyTimeoutMs, 1000 / this.#minBodyRate, listener);
  }

  /**
   * A deadline for a client that reads a response: `sendTimeoutMs`, and a second more for each `minSendRate` bytes that it takes.
   * As for a body, time is not saved up.
   */
  sending(listener: DeadlineListener): Deadline {
    return this.#start(this.#sendTimeoutMs, 1000 / this.#minSendRate, listener);
  }

  /** A deadline of a fixed time. */
  time(ms: number, listener: DeadlineListener): Deadline {
    return this.#start(ms, 0, listener);
  }

  /** The end of a time that begins now. The clock is as old as the last check, so one interval is added: none expires early. */
  endOf(ms: number): number {
    return this.now + this.#everyMs + ms;
  }

  /** Starts checking a deadline. */
  add(deadline: RunningDeadline): void {
    deadline.putBefore(this.#ring);
  }

  #start(ms: number, msPerByte: number, listener: DeadlineListener): Deadline {
    const deadline = new RunningDeadline(this, ms, msPerByte, listener);
    this.add(deadline);
    return deadline;
  }

  #check(): void {
    this.now = performance.now();
    this.#date = undefined;
    // Collected first, because an expiry may add and remove deadlines.
    const due: RunningDeadline[] = [];
    for (let deadline = this.#ring.next; deadline !== this.#ring; deadline = deadline.next)
      if (deadline.isDue) due.push(deadline);
    // If one throws, the others expire all the same.
    for (const deadline of due) attempt(undefined, () => deadline.expire());
  }
}

class RunningDeadline implements Deadline {
  next: RunningDeadline = this;
  #previous: RunningDeadline = this;
  readonly #deadlines: Deadlines;
  readonly #ms: number;
  #endsAt: number;
  #leftMs = 0;
  readonly #msPerByte: number;
  readonly #listener: DeadlineListener;

  constructor(deadlines: Deadlines, ms: number, msPerByte: number, listener: DeadlineListener) {
    this.#deadlines = deadlines;
    this.#ms = ms;
    this.#endsAt = deadlines.endOf(ms);
    this.#msPerByte = msPerByte;
    this.#listener = listener;
  }

  putBefore(next: RunningDeadline): void {
    this.next = next;
    this.#previous = next.#previous;
    next.#previous.next = this;
    next.#previous = this;
  }

  arrived(bytes: number, freeMs: number = 0): void {
    if (this.#msPerByte === 0) return;
    this.#endsAt = Math.min(this.#endsAt + bytes * this.#msPerByte + freeMs, this.#deadlines.endOf(this.#ms));
  }

  pause(): void {
    if (!this.#isRunning) return;
    this.#leftMs = this.#endsAt - this.#deadlines.now;
    this.clear();
  }

  resume(): void {
    if (this.#isRunning) return;
    this.#endsAt = this.#deadlines.now + this.#leftMs;
    this.#deadlines.add(this);
  }

  restart(): void {
    this.#endsAt = this.#deadlines.endOf(this.#ms);
    this.#deadlines.add(this);
  }

  goOn(): boolean {
    if (this.isDue) return false;
    if (!this.#isRunning) this.#deadlines.add(this);
    return true;
  }

  get isDue(): boolean {
    return this.#deadlines.now >= this.#endsAt;
  }

  /** Expires it, unless the expiry of another one has cleared it. */
  expire(): void {
    if (!this.#isRunning) return;
    this.clear();
    this.#listener.expire();
  }

  get #isRunning(): boolean {
    return this.next !== this;
  }

  clear(): void {
    this.#previous.next = this.next;
    this.next.#previous = this.#previous;
    this.next = this;
    this.#previous = this;
  }
}
