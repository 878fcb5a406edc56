/** A wait on a client. */
export interface Deadline {
  /** Bytes came: the wait is that much longer. */
  arrived(bytes: number): void;
  readonly passed: boolean;
  clear(): void;
}

/**
 * Every wait on a client's body and on its taking of an answer, looked at now and then by one timer: a timer or a
 * clock reading for each request would cost it more than the wait is worth. A wait is over at most two looks late,
 * which is a tenth of the shortest.
 */
export class Sweep {
  readonly #bodyTimeoutMs: number;
  readonly #minBodyRate: number;
  readonly #everyMs: number;
  /** The waits, as a ring that begins and ends here: one is taken out as quickly as it is put in. */
  readonly #ring = new Wait(0, 0, () => {});
  #now = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: {
    readonly bodyTimeoutMs: number;
    readonly minBodyRate: number;
    readonly sendTimeoutMs: number;
  }) {
    this.#bodyTimeoutMs = limits.bodyTimeoutMs;
    this.#minBodyRate = limits.minBodyRate;
    this.#everyMs = Math.max(1, Math.min(500, limits.bodyTimeoutMs / 20, limits.sendTimeoutMs / 20));
  }

  start(): void {
    this.#now = performance.now();
    this.#timer ??= setInterval(() => this.#look(), this.#everyMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Waits for a body: its own time, and a second for each `minBodyRate` bytes of it. */
  body(expire: () => void): Deadline {
    return this.#wait(this.#bodyTimeoutMs, 1000 / this.#minBodyRate, expire);
  }

  /** Waits a set time. */
  time(ms: number, expire: () => void): Deadline {
    return this.#wait(ms, 0, expire);
  }

  // The clock is as old as the last look, so one look is added: no wait is over early.
  #wait(ms: number, msPerByte: number, expire: () => void): Deadline {
    const wait = new Wait(this.#now + this.#everyMs + ms, msPerByte, expire);
    wait.putBefore(this.#ring);
    return wait;
  }

  #look(): void {
    this.#now = performance.now();
    for (let wait = this.#ring.next; wait !== this.#ring;) {
      const { next } = wait;
      wait.look(this.#now);
      wait = next;
    }
  }
}

class Wait implements Deadline {
  passed = false;
  next: Wait = this;
  #before: Wait = this;
  #at: number;
  readonly #msPerByte: number;
  readonly #expire: () => void;

  constructor(at: number, msPerByte: number, expire: () => void) {
    this.#at = at;
    this.#msPerByte = msPerByte;
    this.#expire = expire;
  }

  putBefore(next: Wait): void {
    this.next = next;
    this.#before = next.#before;
    next.#before.next = this;
    next.#before = this;
  }

  arrived(bytes: number): void {
    this.#at += bytes * this.#msPerByte;
  }

  look(now: number): void {
    if (now < this.#at) return;
    this.clear();
    this.passed = true;
    this.#expire();
  }

  clear(): void {
    this.#before.next = this.next;
    this.next.#before = this.#before;
    this.next = this;
    this.#before = this;
  }
}
