import { needsOptions } from "../arguments.ts";
import { keyOf } from "../http/bytes.ts";
import { FairStore } from "../fair-store.ts";
import type { Caller } from "../fair-store.ts";

/** The rate of one key, in the terms of the generic cell rate algorithm. */
export interface RateRule {
  /** The average time between two requests that pass. */
  readonly intervalMs: number;
  /** The number of requests that may pass at once. */
  readonly burst: number;
}

/** Counts the requests of each key. */
export interface RateStore {
  /**
   * Counts one request of a key, if it passes.
   *
   * @param now The instant of the request; a store that several processes share uses its own clock.
   * @param caller Whose share of a bounded store the key takes; it is not needed otherwise.
   * @returns 0 if it passes, otherwise the milliseconds until a request would pass. Anything but a finite number, and an
   *   error, is a 500: a request that was not counted does not pass.
   */
  take(key: string, rule: RateRule, now: Date, caller?: Caller): number | Promise<number>;
}

/** What `take` of a store returned: from JavaScript that may be anything, and a request that was not counted must not pass. */
export function waitOf(caller: string, taken: unknown): number {
  if (typeof taken === "number" && Number.isFinite(taken)) return taken;
  throw new TypeError(`${caller}: take of the store must return milliseconds`);
}

/** A store in memory; synchronous. */
export interface RateMemory {
  /** As {@link RateStore.take}, without a promise. */
  take(key: string, rule: RateRule, now: Date, caller?: Caller): number;
}

/** The size of a store in memory. */
export interface RateMemoryOptions {
  /**
   * Keys: 100,000 by default. Beyond that, and beyond an average of 64 characters a key, the least recently counted key is
   * dropped of the client network that has the most. Of a key longer than 256 characters the first and the last 128 count, and its length.
   */
  readonly most?: number;
}

/**
 * The number of requests that pass between two sweeps. A sweep looks at twice as many keys and deletes those that have
 * recovered.
 */
const sweepEvery = 1000;
const charactersPerKey = 64;
const maxKey = 256;

/** Counts in memory, for a server of one process; each of several processes would count alone. */
export function memory(options: RateMemoryOptions = {}): RateMemory {
  needsOptions("Rate.memory", options, "most");
  const { most = 100_000 } = options;
  if (!Number.isSafeInteger(most) || most < 1) {
    throw new Error(`Rate.memory: most must be a whole number, 1 or more, not ${most}`);
  }
  return new MemoryRateStore(most);
}

/**
 * The generic cell rate algorithm (ITU-T I.371) keeps one instant for each key: the time at which its requests would be used
 * up at an even pace. A request passes while that instant is less than a burst ahead.
 */
class MemoryRateStore implements RateMemory {
  readonly #most: number;
  /** By key, in milliseconds since 1970; the least recently counted first. A key weighs its characters, which clients choose. */
  readonly #usedUp = new FairStore<number>();
  #passed = 0;

  constructor(most: number) {
    this.#most = most;
  }

  take(counted: string, { intervalMs, burst }: RateRule, at: Date, caller?: Caller): number {
    const key = keyOf(shortened(counted));
    const now = at.getTime();
    const kept = this.#usedUp.get(key);
    const known = kept ?? now;
    // If the clock is set back, a key waits at most one burst from then on, and not until the old time.
    const usedUp = Math.min(Math.max(known, now), now + intervalMs * burst);
    const ahead = usedUp - now - intervalMs * (burst - 1);
    // Rounding errors of sums, such as three thirds of a second, are far below this.
    if (ahead > 1e-6) {
      if (usedUp < known) this.#set(key, usedUp, caller);
      return ahead;
    }
    this.#set(kept === undefined ? copyOf(key) : key, usedUp + intervalMs, caller);
    if (++this.#passed % sweepEvery === 0) this.#usedUp.sweep(2 * sweepEvery, (usedUp) => usedUp <= now);
    while (this.#isOver() && this.#usedUp.evict(key) !== undefined);
    return 0;
  }

  #set(key: string, usedUp: number, caller: Caller | undefined): void {
    this.#usedUp.set(key, usedUp, () => caller?.network, key.length + charactersPerKey);
  }

  #isOver(): boolean {
    const { size, weight } = this.#usedUp;
    return size > this.#most || weight - size * charactersPerKey > this.#most * charactersPerKey;
  }
}

/** A client that sends keys of a megabyte must not push out those of others, and so undo their limits. */
function shortened(key: string): string {
  return key.length <= maxKey ? key : `${key.slice(0, maxKey / 2)}${key.slice(-maxKey / 2)} ${key.length}`;
}

/** The same text in memory of its own. Engines keep a slice with its whole source: a name of a form would hold the body. */
function copyOf(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}
