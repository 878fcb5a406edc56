import { clearTimeout, setTimeout } from "node:timers";
import type { RelayEngine, RelayConnection, RelayListener } from "../../src/doors/events.ts";
import type { RedisPackage } from "./client.ts";
import { closed, needsReadable } from "./closing.ts";

// How long the server may take to answer.
const connectMs = 5000;

const isReplica = "the server is a replica";

/** The publish/subscribe of Redis or Valkey as a broker. */
export function redisEngine(driver: RedisPackage, urls: readonly string[], channel: string): RelayEngine {
  for (const url of urls) needsReadable(url);
  const seen = { primary: urls.length > 1 };
  let tries = 0;
  const openNext = (listener: RelayListener, isAgain: boolean) =>
    openRelay(driver, urls[tries++ % urls.length] ?? "", channel, listener, isAgain, seen);
  return {
    source: "framework.redis",
    channel,
    async open(listener, isAgain) {
      // The first time one that is reached is enough; later the relay itself tries again, after a while.
      for (let left = isAgain ? 0 : urls.length - 1; left > 0; left--) {
        try {
          return await openNext(listener, isAgain);
        } catch {}
      }
      return openNext(listener, isAgain);
    },
    after(ms, act) {
      const timer = setTimeout(act, ms).unref();
      return () => clearTimeout(timer);
    },
  };
}

/** The member of a client that tells the role of its server. */
interface AskedClient {
  hello(protocol: 3): Promise<{ readonly role: unknown; readonly mode: unknown }>;
}

/** Whether a connection of the relay has led to a primary, or must: of several servers one is. */
interface Seen {
  primary: boolean;
}

/**
 * Whether the server was a primary and became a replica, as by a failover that cuts no connection. What is published there does
 * not reach the processes at the server that took over.
 */
async function becameReplica(client: AskedClient, seen: Seen): Promise<boolean> {
  const { role, mode } = await client.hello(3);
  // Each node of a cluster passes what is published to all others.
  if (mode === "cluster") return false;
  seen.primary ||= role === "master";
  return seen.primary && role === "replica";
}

/**
 * A new client for each connection: the package's own recovery (queue, reconnect, resubscribe) would hide that events were
 * missed.
 */
async function openRelay(
  { createClient }: RedisPackage,
  url: string,
  channel: string,
  { received, lost }: RelayListener,
  isAgain: boolean,
  seen: Seen,
): Promise<RelayConnection> {
  const client = createClient({
    url,
    // RESP3 allows PUBLISH on a subscribed connection.
    RESP: 3,
    disableOfflineQueue: true,
    // A move of the package loses the subscription, and ends the process where it fails.
    maintNotifications: "disabled",
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
    if (await becameReplica(client, seen)) throw new Error(isReplica);
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
    check() {
      becameReplica(client, seen).then(
        (became) => {
          if (became) end(new Error(isReplica));
        },
        // A lost connection is an "error" event, too.
        () => {},
      );
    },
    close: () => closed(client),
    destroy: () => client.destroy(),
  };
}
