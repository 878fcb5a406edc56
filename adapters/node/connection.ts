import { peerAddress } from "../../src/doors/http.ts";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { attempt, guarded } from "../../src/doors/logging.ts";
import type { Deadlines, Unsent } from "../../src/doors/server.ts";
import { lingerMs, lingerOn } from "../../src/doors/server.ts";
import { ConnectionReading } from "./reading.ts";
import { ConnectionWriting } from "./writing.ts";

/** How long a stream to a half-closed client may write nothing, and how often that is checked. */
const quietMs = 500;
const everyMs = 250;

/**
 * The client half-closed (FIN) while a response is pending: send the response, then close. `nc -N` still reads after its
 * FIN, and a closed browser tab does not; only a write shows which, because the second one resets. So pending responses are
 * made and sent. But a stream with nothing to write is closed after `quietMs`, and no response is awaited for longer than
 * `sendTimeoutMs`.
 */
function waitOnHalfClosed({ socket, writing }: NodeConnection, sendTimeoutMs: number): void {
  if (writing.isIdle || socket.destroyed) return;
  // A response without a `Connection` header does not make Node close the connection after it.
  writing.whenIdle(() => socket.end());
  let written = socket.bytesWritten;
  let quietSince = performance.now();
  const check = guarded(socket, () => {
    const isQuiet = socket.bytesWritten === written && socket.writableLength === 0;
    written = socket.bytesWritten;
    if (!isQuiet) quietSince = performance.now();
    const limitMs = writing.streams > 0 ? quietMs : sendTimeoutMs;
    if (performance.now() - quietSince >= limitMs) socket.destroy();
  });
  const timer = setInterval(check, everyMs).unref();
  socket.once("close", () => clearInterval(timer));
}

/**
 * Calls `act` once the client has gone before its response was complete. It has gone when the connection closes, or when it
 * half-closes while the response is being made. Whether a half-closed client still reads cannot be known, and a handler with
 * this listener should not work for a client that has gone.
 */
export function whenGone(response: ServerResponse, act: () => void): void {
  const { socket } = response.req;
  // Node also reports a response as finished when its connection is lost: one that was sent whole has ended the server's side.
  if (response.writableFinished && (!socket.destroyed || socket.writableFinished)) return;
  const isGone = (): boolean => socket.destroyed || (socket.readableEnded && !response.headersSent);
  if (isGone()) return act();
  // One listener for all three events, and not `once`, which costs two more objects: an event stream has it for hours.
  const check = guarded(socket, () => {
    const gone = isGone();
    if (!gone && !response.writableFinished) return;
    socket.off("close", check).off("end", check);
    response.off("finish", check);
    if (gone) act();
  });
  socket.on("close", check).on("end", check);
  response.on("finish", check);
}

const key: unique symbol = Symbol("connection");

/** A socket that a `node:http` server accepted. */
interface WatchedSocket extends Socket {
  [key]?: NodeConnection;
}

/** One open connection, in addition to Node's own: what is read of it, and what is written. */
export class NodeConnection {
  readonly socket: Socket;
  readonly reading: ConnectionReading;
  readonly writing: ConnectionWriting;
  readonly #unixPath: string | undefined;

  constructor(socket: Socket, { sendTimeoutMs, unsentOf }: Watching, unixPath: string | undefined) {
    this.socket = socket;
    this.writing = new ConnectionWriting(
      socket,
      () => unsentOf(this),
      () => this.reading.resumeBelow(),
    );
    this.reading = new ConnectionReading(socket, this.writing, sendTimeoutMs);
    this.#unixPath = unixPath;
  }

  get peer(): string {
    if (this.#unixPath !== undefined) return `unix:${this.#unixPath}`;
    return peerAddress(this.socket.remoteAddress ?? "");
  }

  /** Disconnects a client that does not read. */
  cut(): void {
    this.reading.cut();
    this.writing.cut();
    this.socket.destroy();
  }

  /** The connection is closed. */
  closed(): void {
    this.writing.closed();
    this.reading.closed();
  }
}

export function isWatched(socket: WatchedSocket): boolean {
  return socket[key] !== undefined;
}

/** Whether it is a TLS socket, in a server of other code too. Bun's plain sockets have `encrypted` as well, which is false. */
export function isEncrypted(socket: { readonly encrypted?: unknown } | Socket): boolean {
  return "encrypted" in socket && socket.encrypted === true;
}

/** A watched socket's connection. */
export function connectionOf(socket: WatchedSocket): NodeConnection {
  return socket[key] as NodeConnection;
}

/** Stores it with its socket. */
function keepBySocket(connection: NodeConnection): void {
  const socket: WatchedSocket = connection.socket;
  socket[key] = connection;
}

/** The options for every connection of a server. */
interface Watching {
  readonly sendTimeoutMs: number;
  /** How long a connection without a byte may stay open; undefined where another server accepts them. */
  readonly idleTimeoutMs?: number;
  /** The Unix socket that they connect to. */
  readonly unixPath?: string | undefined;
  /** Begins to count what waits on a connection, in the budget of its server. */
  readonly unsentOf: (connection: NodeConnection) => Unsent;
}

/** The open connections of a server. */
export class Connections {
  readonly #open = new Set<NodeConnection>();
  readonly #watching: Watching;

  constructor(watching: Watching) {
    this.#watching = watching;
  }

  /** Watches a connection to its end. Listeners per request would cost each request 0.9 µs. */
  watch(socket: WatchedSocket): NodeConnection {
    const { sendTimeoutMs, idleTimeoutMs, unixPath } = this.#watching;
    const connection = new NodeConnection(socket, this.#watching, unixPath ?? unixPathOf(socket));
    keepBySocket(connection);
    // Every pending response may listen for its end.
    socket.setMaxListeners(0);
    if (idleTimeoutMs !== undefined) socket.setTimeout(idleTimeoutMs);
    // Node removes its own listener from a connection that it hands over, and an unhandled `error` ends the process.
    socket.on("error", ignore);
    // Both are emitted once, and `once` would keep two more objects while the connection is open.
    socket.on("end", () => {
      attempt(socket, () => {
        // Node has also reported it as a fault; Deno has not.
        connection.reading.halfClosed();
        waitOnHalfClosed(connection, sendTimeoutMs);
      });
    });
    socket.on("close", () => {
      this.#open.delete(connection);
      attempt(socket, () => connection.closed());
    });
    this.#open.add(connection);
    return connection;
  }

  /** A request's connection; the first call watches it. */
  of(socket: WatchedSocket): NodeConnection {
    return connectionOf(socket) ?? this.watch(socket);
  }

  get size(): number {
    return this.#open.size;
  }

  /** The number of requests whose responses are not read whole. */
  get unsent(): number {
    let unsent = 0;
    for (const { writing } of this.#open) unsent += writing.unsent;
    return unsent;
  }

  /** Closes each connection once no response is pending, also one without a whole head: Node 20 would wait for it. */
  closeIdle(): void {
    for (const { socket, reading, writing } of this.#open) {
      if (reading.isOver || reading.isSession) continue;
      writing.whenIdle(() => {
        // Until its end is sent a request may still be read, and could not be answered.
        reading.closes();
        socket.destroySoon();
      });
    }
  }

  closeAll(): void {
    for (const { socket } of this.#open) socket.destroy();
  }
}

// `close` follows and is handled.
function ignore(): void {}

/** The Unix path of a connection that another server accepted. */
function unixPathOf({ remoteAddress, server }: WatchedSocket): string | undefined {
  if (remoteAddress !== undefined) return undefined;
  const address = server?.address();
  return typeof address === "string" ? address : undefined;
}

/** Ends a connection, and reads and drops what its client still sends. */
export function linger(socket: Socket, deadlines: Deadlines): void {
  connectionOf(socket).reading.closes();
  lingerOn(socket, (expire) => {
    const deadline = deadlines.time(lingerMs, { expire });
    return () => deadline.clear();
  });
}

/** Makes a connection linger after its last response, where Node would close it at once. */
export function lingerAtEnd(socket: Socket, deadlines: Deadlines): void {
  // A named constant: V8 pretenures a closure that is assigned straight to a member.
  const destroySoon = (): void => linger(socket, deadlines);
  socket.destroySoon = destroySoon;
}
