import { networkOf } from "../http/addresses.ts";
import type { Dep } from "../inputs/dep.ts";
import { Refusal, rateLimited, sentences } from "../refusals.ts";
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
 * A key that is an IP address is one however it is written: `::ffff:192.0.2.1` is `192.0.2.1`. An IPv6 address counts by its
 * network, as one client has 2⁶⁴ addresses and more.
 *
 * @param options `key` says who asks: `client`, an account, `Dep.return("everybody")`. `ipv6Prefix` is how many bits of an
 *   IPv6 address are one client's network: 64 unless set, 48 or 56 where whole sites count as one.
 * @throws Error for a prefix that is none.
 * @example
 * ```ts
 * const signIns = Rate.create({ limit: 5, perMs: 60_000 });
 * const slowly = Rate.limit(signIns, { key: client });
 * ```
 */
export function limit<R extends string, W>(
  rate: Rate,
  options: { readonly key: Dep<string, R, W>; readonly ipv6Prefix?: number },
): Dep<void, R | "rate_limited", W> {
  const { ipv6Prefix = 64 } = options;
  if (!Number.isSafeInteger(ipv6Prefix) || ipv6Prefix < 1 || ipv6Prefix > 128) {
    throw new Error(`Rate.limit: ipv6Prefix is a whole number from 1 to 128, and not ${ipv6Prefix}`);
  }
  const rule: RateRule = { intervalMs: rate.perMs / rate.limit, burst: rate.burst };
  const { store, name } = rate;
  return {
    node: {
      from: [options.key],
      codes: [rateLimited],
      compile:
        (_place, [slot = 0]) =>
        (asked, values) => {
          const key = networkOf(values[slot] as string, ipv6Prefix);
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
