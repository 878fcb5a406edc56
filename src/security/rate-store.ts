import { keyOf } from "../http/bytes.ts";
import { OldestFirst } from "../oldest-first.ts";

/** How often a key may pass, in the terms of the generic cell rate algorithm. */
export interface RateRule {
  /** Between two that pass, on the average. */
  readonly intervalMs: number;
  /** How many may pass at once. */
  readonly burst: number;
}

/** Where it is kept who asked how often. */
export interface RateStore {
  /**
   * Counts one request of a key, where it passes.
   *
   * @param now The instant of the request; a store that several processes share keeps the time itself.
   * @returns 0 where it passes, and otherwise after how many milliseconds one would.
   */
  take(key: string, rule: RateRule, now: Date): number | Promise<number>;
}

/** A store in memory, which answers at once. */
export interface RateMemory {
  take(key: string, rule: RateRule, now: Date): number;
}

/** How much a store in memory holds. */
export interface RateMemoryOptions {
  /** Keys: 100,000 unless set. Past that, and past 64 characters a key, the one counted longest ago is forgotten. */
  readonly most?: number;
}

/** After so many that passed, twice as many keys are looked at, for whether they need be known any more. */
const sweepEvery = 1000;
const charactersOfKey = 64;

/** Counts in memory, for a server that is one process: each of several would count for itself. */
export function memory({ most = 100_000 }: RateMemoryOptions = {}): RateMemory {
  if (!Number.isSafeInteger(most) || most < 1) {
    throw new Error(`Rate.memory: most is a whole number, 1 or more, and not ${most}`);
  }
  return new MemoryRateStore(most);
}

/**
 * The generic cell rate algorithm (ITU-T I.371): of each key one instant is kept, at which all that passed would have
 * been used up at an even pace. One more passes while that lies less than a burst ahead.
 */
class MemoryRateStore implements RateMemory {
  readonly #most: number;
  /** By key, in milliseconds since 1970; the one counted longest ago first. */
  readonly #usedUp = new OldestFirst<number>();
  /** Of all keys together: a key may be whatever a client sends. */
  #characters = 0;
  #passed = 0;

  constructor(most: number) {
    this.#most = most;
  }

  take(counted: string, { intervalMs, burst }: RateRule, at: Date): number {
    const key = keyOf(counted);
    const now = at.getTime();
    const known = this.#usedUp.get(key);
    // A clock that was set back would otherwise keep everybody waiting until it is where it was.
    const usedUp = known === undefined || known < now ? now : Math.min(known, now + intervalMs * burst);
    const ahead = usedUp - now - intervalMs * (burst - 1);
    // Sums of fractions, such as three thirds of a second, fall short or over by far less than this.
    if (ahead > 1e-6) return ahead;
    if (++this.#passed % sweepEvery === 0) this.#sweep(now);
    if (this.#usedUp.set(key, usedUp + intervalMs)) this.#characters += key.length;
    while (this.#usedUp.size > this.#most || this.#characters > this.#most * charactersOfKey) {
      this.#forgotten(this.#usedUp.deleteOldest() ?? "");
    }
    return 0;
  }

  #sweep(now: number): void {
    const isOver = (usedUp: number): boolean => usedUp <= now;
    this.#usedUp.sweep(2 * sweepEvery, isOver, (key) => this.#forgotten(key));
  }

  #forgotten(key: string): void {
    this.#characters -= key.length;
  }
}
