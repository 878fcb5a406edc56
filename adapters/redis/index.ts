/** `usher-http/redis`: broadcasts and rates that processes share through Redis or Valkey. It takes the package `redis`. */
import { relayOver } from "../../src/events/relay.ts";
import type { OpenRelay } from "../../src/events/relay.ts";
import { redisEngine } from "./relay.ts";

export { rateStore } from "./rate-store.ts";
export type { OpenRateStore, RateStoreOptions } from "./rate-store.ts";
export type { OpenRelay } from "../../src/events/relay.ts";

/**
 * A relay over Redis 6 or newer, or Valkey, by its publish/subscribe, on one connection of its own, which does not keep the
 * process running. It is connected to again when it is lost; what was published meanwhile is missed, which every hub
 * concerned is told: it ends its subscriptions, so that nobody goes on with a gap.
 *
 * ```ts
 * const hub = Broadcast.create<typeof Placed>({ relay: await relay("redis://localhost:6379", { channel: "orders" }) });
 * ```
 *
 * @param url `redis://` or `rediss://`, with user, password and database as the package `redis` reads them.
 * @param options `channel` is the hub's own: what else is published there is passed over.
 * @throws Error where there is no server to be reached now.
 */
export async function relay(url: string, { channel }: { readonly channel: string }): Promise<OpenRelay> {
  return relayOver(redisEngine(url, channel));
}
