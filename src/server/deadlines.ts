import { httpDate } from "../http/fields.ts";
import { attempt } from "../logging/raised.ts";

/** Lets the process end while a timer runs; a runtime whose timers hold no process has no need of it. */
export function holdsNothing(timer: unknown): void {
  if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function")
    timer.unref();
}

/** Whoever waits on a client. */
export interface DeadlineListener {
  /** It took too long. */
  expire(): void;
}

/** A wait on a client. */
export interface Deadline {
  /** Bytes of a body came: the wait is that much longer, up to the time that the body may stand still. */
  arrived(bytes: number): void;
  /** Nobody waits for the client now: what time is left stays. */
  rest(): void;
  /** It is waited for again. */
  goOn(): void;
  clear(): void;
}

/**
 * Every wait on a client's body and on its taking of an answer, looked at now and then by one timer: a timer or a
 * clock reading for each request would cost it more than the wait is worth. A wait is over at most two looks late,
 * which is a tenth of the shortest.
 */
export class Deadlines {
  readonly #bodyTimeoutMs: number;
  readonly #minBodyRate: number;
  readonly #everyMs: number;
  /** The longest body that comes at `minBodyRate` in half of the time that a body may stand still. */
  readonly shortBytes: number;
  /** The waits, as a ring that begins and ends here: one is taken out as quickly as it is put in. */
  readonly #ring = new RunningDeadline(this, 0, 0, { expire() {} });
  #timer: ReturnType<typeof setInterval> | undefined;
  /**
   * The time of the last look. A wait that goes on and rests between two looks is not charged, one that a look falls
   * into is charged the time between two: over a body's many waits that comes to what they took.
   */
  now: number = performance.now();
  #date: string | undefined = undefined;

  constructor(limits: {
    readonly bodyTimeoutMs: number;
    readonly minBodyRate: number;
    readonly sendTimeoutMs: number;
  }) {
    this.#bodyTimeoutMs = limits.bodyTimeoutMs;
    this.#minBodyRate = limits.minBodyRate;
    this.shortBytes = (limits.bodyTimeoutMs * limits.minBodyRate) / 2000;
    this.#everyMs = Math.max(1, Math.min(500, limits.bodyTimeoutMs / 20, limits.sendTimeoutMs / 20));
  }

  /** The time as a `Date` says it, read once between two looks: to read the clock takes a request 30 to 100 ns. */
  get date(): string {
    if (this.#timer === undefined) return httpDate(Date.now());
    return (this.#date ??= httpDate(Date.now()));
  }

  start(): void {
    this.now = performance.now();
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#look(), this.#everyMs);
    holdsNothing(this.#timer);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Waits for a body: `bodyTimeoutMs`, and a second for each `minBodyRate` bytes that came. Time is not saved up: however
   * fast a body came, it stands still for `bodyTimeoutMs` and no longer.
   */
  body(waiting: DeadlineListener): Deadline {
    return this.#wait(this.#bodyTimeoutMs, 1000 / this.#minBodyRate, waiting);
  }

  /** Waits a set time. */
  time(ms: number, waiting: DeadlineListener): Deadline {
    return this.#wait(ms, 0, waiting);
  }

  /** When a body that stands still from now on is over. The clock is as old as the last look, so one look is added. */
  get stallEnd(): number {
    return this.now + this.#everyMs + this.#bodyTimeoutMs;
  }

  /** Has a wait looked at from now on. */
  add(wait: RunningDeadline): void {
    wait.putBefore(this.#ring);
  }

  // The clock is as old as the last look, so one look is added: no wait is over early.
  #wait(ms: number, msPerByte: number, waiting: DeadlineListener): Deadline {
    const wait = new RunningDeadline(this, this.now + this.#everyMs + ms, msPerByte, waiting);
    this.add(wait);
    return wait;
  }

  #look(): void {
    this.now = performance.now();
    this.#date = undefined;
    // All of them before the first: what is done at the end of one may put others in and take others out.
    const due: RunningDeadline[] = [];
    for (let wait = this.#ring.next; wait !== this.#ring; wait = wait.next) if (wait.isDue) due.push(wait);
    // Where one raises, the waits behind it are over none the less.
    for (const wait of due) attempt(undefined, () => wait.expire());
  }
}

class RunningDeadline implements Deadline {
  next: RunningDeadline = this;
  #before: RunningDeadline = this;
  readonly #sweep: Deadlines;
  #until: number;
  #leftMs = 0;
  readonly #msPerByte: number;
  readonly #waiting: DeadlineListener;

  constructor(sweep: Deadlines, until: number, msPerByte: number, waiting: DeadlineListener) {
    this.#sweep = sweep;
    this.#until = until;
    this.#msPerByte = msPerByte;
    this.#waiting = waiting;
  }

  putBefore(next: RunningDeadline): void {
    this.next = next;
    this.#before = next.#before;
    next.#before.next = this;
    next.#before = this;
  }

  arrived(bytes: number): void {
    if (this.#msPerByte === 0) return;
    this.#until = Math.min(this.#until + bytes * this.#msPerByte, this.#sweep.stallEnd);
  }

  rest(): void {
    if (!this.#isWatched) return;
    this.#leftMs = this.#until - this.#sweep.now;
    this.clear();
  }

  goOn(): void {
    if (this.#isWatched) return;
    this.#until = this.#sweep.now + this.#leftMs;
    this.#sweep.add(this);
  }

  get isDue(): boolean {
    return this.#sweep.now >= this.#until;
  }

  /** Ends the wait, unless another's end has ended it. */
  expire(): void {
    if (!this.#isWatched) return;
    this.clear();
    this.#waiting.expire();
  }

  get #isWatched(): boolean {
    return this.next !== this;
  }

  clear(): void {
    this.#before.next = this.next;
    this.next.#before = this.#before;
    this.next = this;
    this.#before = this;
  }
}
