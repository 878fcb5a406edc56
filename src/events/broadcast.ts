import { isObject, needs, needsOptions, needsText, shown } from "../arguments.ts";
import { log } from "../logging/writer.ts";
import { counted } from "../counted.ts";
import type { Event } from "./event.ts";
import { Subscription } from "./hub.ts";
import type { Hub } from "./hub.ts";
import { relayed } from "./relay.ts";
import type { Relay } from "./relay.ts";

/** The options of `Broadcast.create`. */
export interface BroadcastOptions {
  /** How many events may wait for a subscriber: 16 unless set, and at least 1. */
  readonly depth?: number;
  /**
   * What happens to a subscriber for which `depth` events wait when the next one comes. With `"drop"`, the default, its subscription
   * ends once it has had them. With `"skip"` the oldest of them is left out: for events that are whole states, and for those
   * that only wake a loop, with a `depth` of 1.
   */
  readonly behind?: "drop" | "skip";
  /** Carries events to the other processes. If it misses any of their events, every subscription ends. */
  readonly relay?: Relay;
}

/**
 * Makes a broadcast hub (publish/subscribe). The hub never waits for a subscriber: one that is `depth` events behind when
 * the next one comes is dropped. It gets the queued events and then the end, and an info line says how many were dropped. Send whole
 * states, not changes.
 */
export function create<K, Tag = void>(options: BroadcastOptions = {}): Hub<K, Tag> {
  needsOptions("Broadcast.create", options, "depth behind relay");
  const { depth = 16, behind = "drop", relay } = options;
  if (!Number.isSafeInteger(depth) || depth < 1)
    throw new RangeError(`Broadcast.create: depth must be a whole number from 1, not ${shown(depth)}`);
  if (behind !== "drop" && behind !== "skip")
    throw new TypeError(`Broadcast.create: behind must be "drop" or "skip", not ${shown(behind)}`);
  const isRelay = relay === undefined || (isObject(relay) && typeof relay.subscribe === "function");
  needs(isRelay, "Broadcast.create: relay", relay, "a relay");
  const hub = new LocalHub<K, Tag>(depth, behind);
  return relay === undefined ? hub : relayed(hub, relay);
}

class LocalHub<K, Tag> implements Hub<K, Tag> {
  readonly #depth: number;
  readonly #behind: "drop" | "skip";
  /** In the order of creation. */
  readonly #topics = new Map<string, Map<Subscription<K>, Tag>>();

  constructor(depth: number, behind: "drop" | "skip") {
    this.#depth = depth;
    this.#behind = behind;
  }

  subscribe(topic: string, tag: Tag): Subscription<K> {
    needsText("Hub.subscribe: its topic", topic);
    const subscription = new Subscription<K>(this.#depth, this.#behind, () => this.#leave(topic, subscription));
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
    let dropped = 0;
    for (const subscription of subscriptions.keys()) if (!subscription.deliver(event)) dropped++;
    if (dropped > 0) this.#logDropped(dropped);
  }

  /** Once for all that one event dropped. A topic may have a value of a request in it. */
  #logDropped(dropped: number): void {
    const [subscribers, events] = [counted(dropped, "subscriber"), counted(this.#depth, "event")];
    const message = `a broadcast dropped ${subscribers}: more than ${events} waited for ${dropped === 1 ? "it" : "each"}`;
    log({ level: "info", source: "framework.http", message, fields: {}, context: undefined });
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
