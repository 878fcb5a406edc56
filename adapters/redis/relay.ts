import { clearTimeout, setTimeout } from "node:timers";
import { createClient } from "redis";
import type { RelayEngine, RelayConnection, RelayListener } from "../../src/events/relay.ts";

// How long a server may take to answer that it is there.
const connectMs = 5000;

/** Redis, or what speaks as it does, as a relay's engine: each text is published on the channel. */
export function redisEngine(url: string, channel: string): RelayEngine {
  return {
    source: "framework.redis",
    open: (listener) => openLine(url, channel, listener),
    after(ms, act) {
      const timer = setTimeout(act, ms).unref();
      return () => clearTimeout(timer);
    },
  };
}

/**
 * A client for each connection's life: what the client does of its own when one is lost (queue, connect again, subscribe
 * again) would hide that something was missed.
 */
async function openLine(url: string, channel: string, { heard, died }: RelayListener): Promise<RelayConnection> {
  const client = createClient({
    url,
    // RESP3 takes a PUBLISH on the connection that listens.
    RESP: 3,
    disableOfflineQueue: true,
    socket: { reconnectStrategy: false, connectTimeout: connectMs },
  });
  let isEnded = false;
  const end = (why: unknown): void => {
    if (isEnded) return;
    isEnded = true;
    client.destroy();
    died(why);
  };
  // Without a listener an error ends the process.
  client.on("error", end);
  client.on("end", () => end(new Error("the connection ended")));
  // The client bounds the connecting alone, and not what it waits for then.
  const timer = setTimeout(() => end(new Error("there was no answer")), connectMs);
  try {
    await client.connect();
    await client.subscribe(channel, heard);
  } catch (thrown) {
    isEnded = true;
    client.destroy();
    throw thrown;
  } finally {
    clearTimeout(timer);
  }
  // A relay alone is nothing to wait for.
  client.unref();
  return {
    async send(message) {
      await client.publish(channel, message);
    },
    async close() {
      isEnded = true;
      await client.close();
    },
    destroy() {
      isEnded = true;
      client.destroy();
    },
  };
}
