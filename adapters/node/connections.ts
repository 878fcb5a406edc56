import { attempt } from "../../src/logging/last-net.ts";
import { Connection, connectionOf, keepBySocket } from "./connection.ts";
import type { WatchedSocket } from "./connection.ts";
import { waitOnEnded } from "./half-closed.ts";

/** What is done with every open connection of a server. */
export interface Watching {
  readonly sendTimeoutMs: number;
  /** How long one may stay that never sent a byte; undefined where the server that took it sees to that. */
  readonly idleTimeoutMs?: number;
  /** The Unix socket they come in by. */
  readonly unixPath?: string | undefined;
}

/** The open connections of a server. */
export class Connections {
  readonly #open = new Set<Connection>();
  readonly #watching: Watching;

  constructor(watching: Watching) {
    this.#watching = watching;
  }

  /** Watches a connection to its end: listeners for each, where a request's own would cost each of them 0.9 µs. */
  watch(socket: WatchedSocket): Connection {
    const { sendTimeoutMs, idleTimeoutMs, unixPath } = this.#watching;
    const connection = new Connection(socket, unixPath ?? pathOf(socket));
    keepBySocket(connection);
    // Every answer that waits on it may listen for its end.
    socket.setMaxListeners(0);
    if (idleTimeoutMs !== undefined) socket.setTimeout(idleTimeoutMs);
    // Node takes its own off a connection that it hands over, and an `error` that nobody hears ends the process.
    socket.on("error", ignore);
    // Neither comes twice, and `once` would keep two more objects for as long as the connection is open.
    socket.on("end", () => {
      attempt(socket, () => {
        // Node has told of it as of a fault, Deno has not.
        connection.ended();
        waitOnEnded(connection, sendTimeoutMs);
      });
    });
    socket.on("close", () => {
      this.#open.delete(connection);
      attempt(socket, () => connection.closed());
    });
    this.#open.add(connection);
    return connection;
  }

  /** A request's connection, watched from now on where it is seen for the first time. */
  of(socket: WatchedSocket): Connection {
    return connectionOf(socket) ?? this.watch(socket);
  }

  get size(): number {
    return this.#open.size;
  }

  /** How many answers with an end are not taken whole. */
  get unsent(): number {
    let unsent = 0;
    for (const connection of this.#open) unsent += connection.unsent;
    return unsent;
  }

  /** Closes each once nobody waits on it, also one that never sent a whole head: Node 20 would wait for it. */
  closeIdle(): void {
    for (const connection of this.#open) {
      if (!connection.closing) connection.whenIdle(() => connection.socket.destroySoon());
    }
  }

  closeAll(): void {
    for (const { socket } of this.#open) socket.destroy();
  }
}

// Its `close` follows, and tells everybody.
function ignore(): void {}

/** The Unix path a connection came in by, where another's server took it. */
function pathOf({ remoteAddress, server }: WatchedSocket): string | undefined {
  if (remoteAddress !== undefined) return undefined;
  const address = server?.address();
  return typeof address === "string" ? address : undefined;
}
