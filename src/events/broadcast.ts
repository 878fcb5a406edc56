import { isObject, needs, needsOptions, needsText, shown } from "../arguments.ts";
import type { Event } from "./event.ts";
import { Subscription } from "./hub.ts";
import type { Hub } from "./hub.ts";
import { relayed } from "./relay.ts";
import type { Relay } from "./relay.ts";

/**
 * Makes a broadcast hub (publish/subscribe). The hub never waits for a subscriber: one that is `depth` events behind when
 * the next one comes is dropped. It gets the queued events and then the end. Send whole states, not changes.
 *
 * @param options `depth` is 16 unless set, and at least 1. A `relay` carries events to the other processes. If it misses
 *   any of their events, every subscription ends.
 */
export function create<K, Tag = void>(options: { readonly depth?: number; readonly relay?: Relay } = {}): Hub<K, Tag> {
  needsOptions("Broadcast.create", options, "depth relay");
  const { depth = 16, relay } = options;
  if (!Number.isSafeInteger(depth) || depth < 1)
    throw new RangeError(`Broadcast.create: depth must be a whole number from 1, not ${shown(depth)}`);
  const isRelay = relay === undefined || (isObject(relay) && typeof relay.subscribe === "function");
  needs(isRelay, "Broadcast.create: relay", relay, "a relay");
  const hub = new LocalHub<K, Tag>(depth);
  return relay === undefined ? hub : relayed(hub, relay);
}

class LocalHub<K, Tag> implements Hub<K, Tag> {
  readonly #depth: number;
  /** In the order of creation. */
  readonly #topics = new Map<string, Map<Subscription<K>, Tag>>();

  constructor(depth: number) {
    this.#depth = depth;
  }

  subscribe(topic: string, tag: Tag): Subscription<K> {
    needsText("Hub.subscribe: its topic", topic);
    const subscription = new Subscription<K>(this.#depth, () => this.#leave(topic, subscription));
    const known = this.#topics.get(topic);
    if (known === undefined) this.#topics.set(topic, new Map([[subscription, tag]]));
    else known.set(subscription, tag);
    return subscription;
  }

  publish(topic: string, event: Event<K>): void {
    needsText("Hub.publish: its topic", topic);
    needs(isObject(event) && typeof event.wire === "string", "Hub.publish: its event", event, "made by Event.make");
    const subscriptions = this.#topics.get(topic);
    if (subscriptions === undefined) return;
    for (const subscription of subscriptions.keys()) subscription.deliver(event);
  }

  subscribers(topic: string): readonly Tag[] {
    needsText("Hub.subscribers: its topic", topic);
    return [...(this.#topics.get(topic)?.values() ?? [])].toReversed();
  }

  topics(): readonly string[] {
    return [...this.#topics.keys()].toReversed();
  }

  close(): void {
    for (const subscriptions of this.#topics.values()) {
      for (const subscription of subscriptions.keys()) subscription.unsubscribe();
    }
  }

  #leave(topic: string, subscription: Subscription<K>): void {
    const subscriptions = this.#topics.get(topic);
    subscriptions?.delete(subscription);
    if (subscriptions?.size === 0) this.#topics.delete(topic);
  }
}
