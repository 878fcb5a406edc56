/** `usher-http/redis`: broadcasts, rate limits and idempotency keys shared through Redis or Valkey. It needs the package `redis`. */
import { needsObject, needsText } from "../../src/arguments.ts";
import { relayOver } from "../../src/events/relay.ts";
import type { OpenRelay } from "../../src/events/relay.ts";
import { redisEngine } from "./relay.ts";
import { needsUrl } from "./closing.ts";

export { idempotencyStore } from "./idempotency-store.ts";
export type { IdempotencyStoreOptions, OpenIdempotencyStore } from "./idempotency-store.ts";
export { rateStore } from "./rate-store.ts";
export type { OpenRateStore, RateStoreOptions } from "./rate-store.ts";
export type { OpenRelay } from "../../src/events/relay.ts";

/**
 * A relay over the publish/subscribe of Redis 6 or newer, or Valkey, on a connection of its own, which does not keep the
 * process running. A lost connection is opened again. Events published meanwhile are missed, so every affected hub ends
 * its subscriptions: no subscriber continues with a gap.
 *
 * ```ts
 * const hub = Broadcast.create<typeof Placed>({ relay: await relay("redis://localhost:6379", { channel: "orders" }) });
 * ```
 *
 * @param url `redis://` or `rediss://`, with user, password and database as in the package `redis`.
 * @param options `channel` is for this hub alone. Other messages there are ignored.
 * @throws Error if the server cannot be reached.
 */
export async function relay(url: string, options: { readonly channel: string }): Promise<OpenRelay> {
  needsUrl("relay", url);
  needsObject("relay: options", options);
  const { channel } = options;
  needsText("relay: channel", channel);
  return relayOver(redisEngine(url, channel));
}
