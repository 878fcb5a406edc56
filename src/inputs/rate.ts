import { rateLimited, sentences } from "../refusals/framework-codes.ts";
import { Refusal } from "../refusals/refusal.ts";
import type { Dep } from "./dep.ts";
import { memory } from "./rate-store.ts";
import type { RateRule, RateStore } from "./rate-store.ts";

/** How often something may be asked for, made by {@link create}. */
export interface Rate {
  readonly limit: number;
  readonly perMs: number;
  readonly burst: number;
  readonly name: string | undefined;
  readonly store: RateStore;
}

/** What a rate is made of. */
export interface RateOptions {
  /** How many, on the average, in `perMs`. */
  readonly limit: number;
  readonly perMs: number;
  /** How many at once, after a while of none: `limit` unless set. */
  readonly burst?: number;
  /** Who asked how often: a {@link memory} of its own unless set. */
  readonly store?: RateStore;
  /** Tells its keys from those of the other rates in one store. */
  readonly name?: string;
}

/**
 * A rate: what many routes share where they limit by the same one.
 *
 * @throws Error for a number that is none.
 */
export function create(options: RateOptions): Rate {
  const { limit, perMs, burst = limit, store = memory(), name } = options;
  if (!(limit > 0 && Number.isFinite(limit))) throw new Error(`Rate.create: limit is more than 0, and not ${limit}`);
  if (!(perMs > 0 && Number.isFinite(perMs))) {
    throw new Error(`Rate.create: perMs is milliseconds, more than 0, and not ${perMs}`);
  }
  if (!(burst >= 1 && Number.isFinite(burst))) {
    throw new Error(`Rate.create: burst is 1 or more, and not ${burst}`);
  }
  return { limit, perMs, burst, name, store };
}

/**
 * An input that lets a request pass, or refuses it with 429 `rate_limited` and `Retry-After`. It counts once a request,
 * before the body is read; listed first, it comes before every other input.
 *
 * @param options `key` says who asks: `client`, an account, `Dep.return("everybody")`.
 * @example
 * ```ts
 * const signIns = Rate.create({ limit: 5, perMs: 60_000 });
 * const slowly = Rate.limit(signIns, { key: client });
 * ```
 */
export function limit<R extends string, W>(
  rate: Rate,
  options: { readonly key: Dep<string, R, W> },
): Dep<void, R | "rate_limited", W> {
  const rule: RateRule = { intervalMs: rate.perMs / rate.limit, burst: rate.burst };
  const { store, name } = rate;
  return {
    node: {
      from: [options.key],
      codes: [rateLimited],
      compile:
        (_place, [slot = 0]) =>
        (asked, values) => {
          const key = values[slot] as string;
          const taken = store.take(name === undefined ? key : `${name} ${key}`, rule, asked.now);
          return typeof taken === "number" ? outcome(taken) : taken.then(outcome);
        },
    },
  };
}

function outcome(waitMs: number): Refusal | undefined {
  if (waitMs <= 0) return undefined;
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new Refusal(rateLimited, sentences.get("rate_limited") as string, {
    headers: [["retry-after", String(seconds)]],
  });
}

export { memory } from "./rate-store.ts";
export type { RateMemory, RateMemoryOptions, RateRule, RateStore } from "./rate-store.ts";
