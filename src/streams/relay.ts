import { log } from "../logging/writer.ts";
import { eventOf } from "./event.ts";
import type { Hub } from "./hub.ts";

/** The seam to a message engine, which carries events between processes. */
export interface Relay {
  /** Sends an event to every other process. */
  publish(topic: string, wire: string): Promise<void>;
  /** Receives what the others publish, and never what this process did; answers what ends that. */
  subscribe(receive: (topic: string, wire: string) => void): Promise<() => Promise<void>>;
}

/** A hub whose events reach the other processes too. Publishing waits for none of them: what cannot be sent is logged. */
export function relayed<K, Tag>(hub: Hub<K, Tag>, relay: Relay): Hub<K, Tag> {
  const subscribed = relay.subscribe((topic, wire) => hub.publish(topic, eventOf(nameOf(wire), wire)));
  subscribed.catch((thrown: unknown) => failed("receive from", thrown));
  return {
    subscribe: (topic, tag) => hub.subscribe(topic, tag),
    publish(topic, event) {
      hub.publish(topic, event);
      relay.publish(topic, event.wire).catch((thrown: unknown) => failed("publish to", thrown));
    },
    subscribers: (topic) => hub.subscribers(topic),
    topics: () => hub.topics(),
    close() {
      hub.close();
      subscribed.then((end) => end()).catch((thrown: unknown) => failed("leave", thrown));
    },
  };
}

// The name is the wire's first line: so it was written by whoever published.
function nameOf(wire: string): string | undefined {
  return /^event: ([^\n]*)\n/.exec(wire)?.[1];
}

// What an engine's client says may quote what it was sent, so only its kind is told.
function failed(what: string, thrown: unknown): void {
  const kind = thrown instanceof Error ? thrown.constructor.name : typeof thrown;
  const message = `a broadcast could not ${what} the other processes`;
  log({ level: "error", source: "framework.http", message, fields: { "error.kind": kind }, context: undefined });
}
