import { isThenable } from "../async.ts";
import { isObject, needs, needsOptions, needsText } from "../arguments.ts";
import { networkOf } from "../http/addresses.ts";
import type { Dep } from "../inputs/dep.ts";
import { needsStoreFrom, ofApp, storeInput } from "../inputs/store.ts";
import type { StoreFrom, StoreKind } from "../inputs/store.ts";
import { Refusal, rateLimited, sentenceOf } from "../refusals.ts";
import { memory, waitOf } from "./rate-store.ts";
import type { RateRule, RateStore } from "./rate-store.ts";

/** A rate limit, made by `Rate.make`. `From` is the type of its store, or of the input that gives it. */
export interface Rate<out From = StoreFrom<RateStore>> {
  /** The average number of requests in `perMs`. */
  readonly limit: number;
  /** The time in milliseconds that `limit` counts for. */
  readonly perMs: number;
  /** The number of requests at once after an idle time. */
  readonly burst: number;
  /** Separates its keys from those of other rates in the same store. */
  readonly name: string | undefined;
  /** Where requests are counted: the store that was given, or the input that gives it. */
  readonly store: From;
}

/** The options of a rate. */
export interface RateOptions<From = StoreFrom<RateStore>> {
  /** The average number of requests in `perMs`. */
  readonly limit: number;
  /** The time in milliseconds that `limit` counts for. */
  readonly perMs: number;
  /** The number of requests at once after an idle time: `limit` by default. */
  readonly burst?: number;
  /**
   * Where requests are counted: a store, a resource, or an input that gives one, as {@link StoreFrom} says. By default it is a
   * `Rate.memory` of the rate in each app.
   */
  readonly store?: From;
  /** Separates its keys from those of other rates in the same store. */
  readonly name?: string;
}

/**
 * A rate, which the routes that use it share.
 *
 * @throws Error for a number out of range.
 */
export function make<From extends StoreFrom<RateStore, string, unknown> = Dep<RateStore>>(
  options: RateOptions<From>,
): Rate<From> {
  needsOptions("Rate.make", options, "limit perMs burst store name");
  const { limit, perMs, burst = limit, store = ofApp<RateStore>(memory) as unknown as From, name } = options;
  if (!(limit > 0 && Number.isFinite(limit))) throw new Error(`Rate.make: limit must be more than 0, not ${limit}`);
  if (!(perMs > 0 && Number.isFinite(perMs))) {
    throw new Error(`Rate.make: perMs must be milliseconds, more than 0, not ${perMs}`);
  }
  if (!(burst >= 1 && Number.isFinite(burst))) {
    throw new Error(`Rate.make: burst must be 1 or more, not ${burst}`);
  }
  if (name !== undefined) needsText("Rate.make: name", name);
  needsStoreFrom(store, stores);
  return { limit, perMs, burst, name, store };
}

const stores: StoreKind = { at: "Rate.make: store", what: "a store with take", methods: ["take"] };

/**
 * An input that refuses requests over the rate with 429 `rate_limited` and `Retry-After`. It counts once per request, before
 * the body is read. Listed first, it runs before every other input.
 *
 * All spellings of an IP address are one key: `::ffff:192.0.2.1` is `192.0.2.1`. An IPv6 address counts by its network,
 * because one client has at least 2⁶⁴ addresses.
 *
 * @param options `key` identifies the client: `client`, an account, `Dep.return("everybody")`. `ipv6Prefix` is the number of
 *   bits of a client's IPv6 network: 64 by default, 48 or 56 to count a whole site as one.
 * @throws Error for an invalid prefix.
 * @example
 * ```ts
 * const signIns = Rate.make({ limit: 5, perMs: 60_000 });
 * const slowly = Rate.limit(signIns, { key: client });
 * ```
 */
export function limit<R extends string, W, S extends string = never, X = {}>(
  rate: Rate<StoreFrom<RateStore, S, X>>,
  options: { readonly key: Dep<string, R, W>; readonly ipv6Prefix?: number },
): Dep<void, R | S | "rate_limited", W & X> {
  needs(isObject(rate) && isObject(rate.store), "Rate.limit: its rate", rate, "made by Rate.make");
  needsOptions("Rate.limit", options, "key ipv6Prefix");
  const { ipv6Prefix = 64 } = options;
  if (!Number.isSafeInteger(ipv6Prefix) || ipv6Prefix < 1 || ipv6Prefix > 128) {
    throw new Error(`Rate.limit: ipv6Prefix must be a whole number from 1 to 128, not ${ipv6Prefix}`);
  }
  const rule: RateRule = { intervalMs: rate.perMs / rate.limit, burst: rate.burst };
  const { name } = rate;
  // The first space ends the name: "a" with the key "b x" is not "a b" with the key "x".
  const prefix = name === undefined ? "" : `${name.replaceAll(/[% ]/g, encodeURIComponent)} `;
  return {
    node: {
      from: [options.key, storeInput<RateStore>(rate.store, stores)],
      codes: [rateLimited],
      compile:
        (_route, [slot = 0, storeSlot = 0]) =>
        (request, values) => {
          const key = networkOf(values[slot] as string, ipv6Prefix);
          const store = values[storeSlot] as RateStore;
          const waitMs = store.take(prefix + key, rule, request.now, request);
          // `Promise.resolve`, since `then` of another kind of promise may return no promise.
          return isThenable(waitMs) ? Promise.resolve(waitMs).then(outcome) : outcome(waitMs);
        },
    },
  };
}

function outcome(taken: unknown): Refusal | undefined {
  const waitMs = waitOf("Rate.limit", taken);
  if (waitMs <= 0) return undefined;
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  return new Refusal(rateLimited, sentenceOf(rateLimited), {
    headers: [["retry-after", String(seconds)]],
  });
}

export { memory } from "./rate-store.ts";
export type { RateMemory, RateMemoryOptions, RateRule, RateStore } from "./rate-store.ts";
