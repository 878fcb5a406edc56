import { clearTimeout, setTimeout } from "node:timers";
import { createClient } from "redis";
import type { RelayEngine, RelayConnection, RelayListener } from "../../src/events/relay.ts";
import { closed, needsReadable } from "./closing.ts";

// How long the server may take to answer.
const connectMs = 5000;

/** The publish/subscribe of Redis or Valkey as a broker. */
export function redisEngine(url: string, channel: string): RelayEngine {
  needsReadable(url);
  return {
    source: "framework.redis",
    open: (listener, isAgain) => openRelay(url, channel, listener, isAgain),
    after(ms, act) {
      const timer = setTimeout(act, ms).unref();
      return () => clearTimeout(timer);
    },
  };
}

/**
 * A new client for each connection: the package's own recovery (queue, reconnect, resubscribe) would hide that events were
 * missed.
 */
async function openRelay(
  url: string,
  channel: string,
  { received, lost }: RelayListener,
  isAgain: boolean,
): Promise<RelayConnection> {
  const client = createClient({
    url,
    // RESP3 allows PUBLISH on a subscribed connection.
    RESP: 3,
    disableOfflineQueue: true,
    socket: { reconnectStrategy: false, connectTimeout: connectMs },
  });
  const end = (why: unknown): void => {
    client.destroy();
    lost(why);
  };
  // Without a listener an error ends the process.
  client.on("error", end);
  // The client's `connectTimeout` does not limit the handshake after the connection.
  const timer = setTimeout(() => end(new Error("there was no answer")), connectMs);
  if (isAgain) {
    timer.unref();
    client.unref();
  }
  try {
    await client.connect();
    await client.subscribe(channel, received);
  } catch (thrown) {
    client.destroy();
    throw thrown;
  } finally {
    clearTimeout(timer);
  }
  // A relay alone must not keep the process running.
  client.unref();
  return {
    async send(message) {
      await client.publish(channel, message);
    },
    close: () => closed(client),
    destroy: () => client.destroy(),
  };
}
