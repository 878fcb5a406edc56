/** A wait on a client, with the instant it is over. */
export interface Deadline {
  /** Bytes came: the wait is that much longer. */
  arrived(bytes: number): void;
  readonly passed: boolean;
  clear(): void;
}

/**
 * Every wait on a client's body and on its taking of an answer, looked at now and then by one timer: a timer for each
 * request would cost it more than the wait is worth. A deadline may so pass up to a tenth of the shorter time late.
 */
export class Sweep {
  readonly #bodyTimeoutMs: number;
  readonly #minBodyRate: number;
  readonly #everyMs: number;
  readonly #waiting = new Set<Wait>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: { readonly bodyTimeoutMs: number; readonly minBodyRate: number; readonly sendTimeoutMs: number }) {
    this.#bodyTimeoutMs = limits.bodyTimeoutMs;
    this.#minBodyRate = limits.minBodyRate;
    this.#everyMs = Math.max(1, Math.min(1000, limits.bodyTimeoutMs / 10, limits.sendTimeoutMs / 10));
  }

  /** Waits for a body: its own time, and a second for each `minBodyRate` bytes of it. */
  body(expire: () => void): Deadline {
    return this.#wait(this.#bodyTimeoutMs, 1000 / this.#minBodyRate, expire);
  }

  /** Waits a set time. */
  time(ms: number, expire: () => void): Deadline {
    return this.#wait(ms, 0, expire);
  }

  #wait(ms: number, msPerByte: number, expire: () => void): Deadline {
    const wait = new Wait(performance.now() + ms, msPerByte, expire, this.#waiting);
    this.#waiting.add(wait);
    this.#timer ??= setInterval(() => this.#look(), this.#everyMs).unref();
    return wait;
  }

  #look(): void {
    const now = performance.now();
    for (const wait of this.#waiting) wait.look(now);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

class Wait implements Deadline {
  passed = false;
  #at: number;
  readonly #msPerByte: number;
  readonly #expire: () => void;
  readonly #waiting: Set<Wait>;

  constructor(at: number, msPerByte: number, expire: () => void, waiting: Set<Wait>) {
    this.#at = at;
    this.#msPerByte = msPerByte;
    this.#expire = expire;
    this.#waiting = waiting;
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
    this.#waiting.delete(this);
  }
}
