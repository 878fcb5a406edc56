import type { Level } from "../logging/level.ts";
import { current } from "../logging/context.ts";
import { log } from "../logging/writer.ts";
import { eventOf } from "./event.ts";
import type { Hub } from "./hub.ts";

/** The seam to a message engine, which carries events between processes. One relay serves one hub. */
export interface Relay {
  /** Sends an event to every other process. */
  publish(topic: string, wire: string): Promise<void>;
  /**
   * Receives what the others publish, each event once and never what this process did; answers what ends that.
   *
   * @param missed Is called whenever events of the others may not have come: the hub then ends its subscriptions.
   */
  subscribe(receive: (topic: string, wire: string) => void, missed?: () => void): Promise<() => Promise<void>>;
}

/**
 * A hub whose events reach the other processes too. Publishing waits for none of them: what cannot be sent is logged. Where
 * events of the others were missed, nobody is left with a gap: each subscriber is told the end, as one that is dropped is.
 */
export function relayed<K, Tag>(hub: Hub<K, Tag>, relay: Relay): Hub<K, Tag> {
  const receive = (topic: string, wire: string): void => hub.publish(topic, eventOf(nameOf(wire), wire));
  const subscribed = relay.subscribe(receive, () => {
    said("warn", "a broadcast may have missed events of the other processes, so its subscriptions are ended");
    hub.close();
  });
  subscribed.catch((thrown: unknown) => failed("receive from", thrown));
  let unsent = 0;
  return {
    subscribe: (topic, tag) => hub.subscribe(topic, tag),
    publish(topic, event) {
      hub.publish(topic, event);
      relay.publish(topic, event.wire).then(
        () => {
          // Some of them the engine may have, and was cut off before it could say so.
          const untold = `${unsent} events may not have reached them`;
          if (unsent > 0) said("info", `a broadcast publishes to the other processes again; ${untold}`);
          unsent = 0;
        },
        (thrown: unknown) => {
          // The first of a row: an engine that is away would fill the log.
          if (unsent++ === 0) failed("publish to", thrown);
        },
      );
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
  said("error", `a broadcast could not ${what} the other processes`, { "error.kind": kind });
}

function said(level: Level, message: string, fields: { readonly [name: string]: string } = {}): void {
  log({ level, source: "framework.http", message, fields, context: current() });
}
