import type { Event } from "./event.ts";
import type { Subscription } from "./subscription.ts";

/** Delivers events to whoever subscribed to their topic. It never waits for a subscriber. */
export interface Hub<K, Tag> {
  /** Listed by its tag until it ends. */
  subscribe(topic: string, tag: Tag): Subscription<K>;
  /** Hands the event, encoded when it was made, to every subscriber of the topic. */
  publish(topic: string, event: Event<K>): void;
  /** The tags of a topic's live subscriptions, the newest first. */
  subscribers(topic: string): readonly Tag[];
  /** The topics that have a live subscription. */
  topics(): readonly string[];
  /** Ends every subscription; what was queued for one is still told. */
  close(): void;
}
