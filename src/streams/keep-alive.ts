import { attempt } from "../logging/last-net.ts";

/** A bound to how long something stays quiet, until it is ended. */
export interface KeptAlive {
  /** It was heard of just now. */
  heard(): void;
  end(): void;
}

/** Calls `onQuiet` whenever it was not heard of for that long; the call itself counts as being heard of. */
export function keepAlive(ms: number, onQuiet: () => void): KeptAlive {
  return new Wait(ms, onQuiet);
}

/**
 * A wait with a timer of its own, which is not set anew with every event: once due, it looks when it was last heard of,
 * and goes on for what is left. One timer for all would die on Workers with the request that had set it.
 */
class Wait implements KeptAlive {
  readonly #ms: number;
  readonly #onQuiet: () => void;
  /** On the monotonic clock. */
  #heardAt: number = performance.now();
  #timer: ReturnType<typeof setTimeout>;

  constructor(ms: number, onQuiet: () => void) {
    this.#ms = ms;
    this.#onQuiet = onQuiet;
    this.#timer = setTimeout(this.#look, ms);
  }

  heard(): void {
    this.#heardAt = performance.now();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  readonly #look = (): void => {
    const leftMs = this.#heardAt + this.#ms - performance.now();
    // A timer may be a fraction of a millisecond early.
    if (leftMs >= 1) {
      this.#timer = setTimeout(this.#look, leftMs);
      return;
    }
    this.heard();
    this.#timer = setTimeout(this.#look, this.#ms);
    attempt(undefined, this.#onQuiet);
  };
}
