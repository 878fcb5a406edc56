/** `usher-http/redis`: broadcasts, rate limits and idempotency keys shared through Redis or Valkey. It needs the package `redis`. */
import { needs, needsOptions, needsText } from "../../src/arguments.ts";
import { relayOver } from "../../src/doors/events.ts";
import type { OpenRelay } from "../../src/doors/events.ts";
import { loadRedis } from "./client.ts";
import { redisEngine } from "./relay.ts";
import { needsUrl } from "./closing.ts";

export { idempotencyStore } from "./idempotency-store.ts";
export type { IdempotencyStoreOptions, OpenIdempotencyStore } from "./idempotency-store.ts";
export type { RedisClient } from "./client.ts";
export { rateStore } from "./rate-store.ts";
export type { OpenRateStore, RateStoreOptions } from "./rate-store.ts";
export type { OpenRelay } from "../../src/doors/events.ts";

/**
 * A relay over the publish/subscribe of Redis 6 or newer, or Valkey, on a connection of its own, which does not keep the
 * process running. A lost connection is opened again. Events published meanwhile are missed, so every affected hub ends
 * its subscriptions: no subscriber continues with a gap.
 *
 * ```ts
 * const hub = Broadcast.create<typeof Placed>({ relay: await relay("redis://localhost:6379", { channel: "orders" }) });
 * ```
 *
 * @param url `redis://` or `rediss://`, with user, password and database as in the package `redis`. Of a list the next is tried where
 * one is lost: nodes of a cluster, each of which passes an event to all; or a primary and its replicas, of which only the primary is used.
 * @param options `channel` is for this hub alone. Other messages there are ignored.
 * @throws Error if the server cannot be reached.
 */
export async function relay(
  url: string | readonly string[],
  options: { readonly channel: string },
): Promise<OpenRelay> {
  const urls = typeof url === "string" ? [url] : url;
  needs(Array.isArray(urls) && urls.length > 0, "relay: its URL", url, "a redis: or rediss: URL, or a list of them");
  for (const one of urls) needsUrl("relay", one);
  needsOptions("relay", options, "channel");
  const { channel } = options;
  needsText("relay: channel", channel);
  return relayOver(redisEngine(await loadRedis("relay"), [...urls], channel));
}
