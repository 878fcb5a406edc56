import type { OpenedSocket } from "../../src/app/exchange.ts";
import { attempt, caught } from "../../src/doors/logging.ts";
import type { Route } from "../../src/doors/routing.ts";
import { BufferedUnsent, unreadFault } from "../../src/doors/server.ts";
import type { OpenSockets, SendStop, SendingState } from "../../src/doors/server.ts";
import type { BunSocket, BunSocketHandlers } from "./listen.ts";
import type { ListenableTransport, SocketListener } from "../../src/exchange/transport.ts";

/** Sent bytes that a client may leave unread before a `send` waits. */
const maxWaitingBytes = 65_536;
/** Bytes that Bun may buffer for a client: it drops what exceeds this, but the handler waits long before. */
const neverDropped = 2 ** 31 - 1;

/** The server's state that a socket needs. */
export interface BunSocketServer extends SendingState {
  readonly open: OpenSockets;
}

/** The data of a connection that becomes a WebSocket. */
export interface SocketData {
  readonly opened: OpenedSocket;
  /** The client network of its handshake. */
  readonly network: string | undefined;
  /** Set once it is one. */
  transport: BunTransport | undefined;
}

/** Bun's WebSocket handlers for an app; undefined for an app without sockets. */
export function socketHandlers(
  routes: readonly Route[],
  server: BunSocketServer,
): BunSocketHandlers<SocketData> | undefined {
  const longest = routes.flatMap(({ returns: { node } }) => (node.kind === "websocket" ? [node.maxMessage ?? 0] : []));
  if (longest.length === 0) return undefined;
  return {
    // One limit for all; the core checks each route's own.
    maxPayloadLength: Math.min(Math.max(...longest), neverDropped),
    // The core pings, with each route's interval.
    idleTimeout: 0,
    sendPings: false,
    backpressureLimit: neverDropped,
    closeOnBackpressureLimit: false,
    perMessageDeflate: false,
    open: closing((socket) => {
      const { data } = socket;
      data.transport = new BunTransport(socket, server);
      server.open.track(data.opened, data.transport).catch((thrown: unknown) => caught(thrown, socket));
    }),
    message: closing(({ data }, message: string | Uint8Array) => data.transport?.listener?.message(message)),
    ping: closing(({ data }) => data.transport?.listener?.frame()),
    pong: closing(({ data }) => data.transport?.listener?.frame()),
    drain: closing(({ data }) => data.transport?.drained()),
    close: closing(({ data }, code: number, reason: string) => data.transport?.ended(code, reason)),
  };
}

type OpenBunSocket = BunSocket<SocketData>;

/** A handler that closes its socket when it throws. */
function closing<Given extends readonly unknown[]>(
  handle: (socket: OpenBunSocket, ...given: Given) => void,
): (socket: OpenBunSocket, ...given: Given) => void {
  return (socket, ...given) => attempt(socket, handle, socket, ...given);
}

/** A WebSocket of Bun. */
class BunTransport implements ListenableTransport {
  readonly #socket: BunSocket<SocketData>;
  readonly #server: BunSocketServer;
  listener: SocketListener | undefined = undefined;
  /** Sends and closes that wait until the client has read more. */
  #waiting: { readonly limit: number; readonly go: (hasRoom: boolean) => void }[] = [];
  readonly #unsent: BufferedUnsent;
  /** How often the client has read more. */
  #drains = 0;
  /** Why it ended, if not by a close frame. */
  #fault: string | undefined = undefined;

  constructor(socket: BunSocket<SocketData>, server: BunSocketServer) {
    this.#socket = socket;
    this.#server = server;
    this.#unsent = new BufferedUnsent(server, this);
  }

  get network(): string | undefined {
    return this.#socket.data.network;
  }

  get buffered(): number {
    return this.#socket.getBufferedAmount();
  }

  start(listener: SocketListener): void {
    this.listener = listener;
  }

  send(data: string | Uint8Array): boolean | Promise<boolean> {
    if (this.#socket.readyState !== 1) return false;
    this.#socket.send(data);
    const { buffered } = this;
    if (buffered === 0) return true;
    this.#unsent.count(typeof data === "string" ? Buffer.byteLength(data) : data.byteLength);
    if (buffered < maxWaitingBytes) return true;
    return new Promise((resolve) => this.#wait(maxWaitingBytes, resolve));
  }

  ping(): void {
    this.#socket.ping();
  }

  /** Bun does not tell what arrives of a message. */
  progress(): number {
    return this.#drains;
  }

  /** Bun ends the connection with the close frame, even before earlier messages are sent. */
  close(code: number, reason: string): Promise<unknown> | undefined {
    if (this.buffered === 0) {
      this.#socket.close(code, reason);
      return undefined;
    }
    return new Promise<void>((resolve) => {
      this.#wait(1, (hasRoom) => {
        if (hasRoom) this.#socket.close(code, reason);
        resolve();
      });
    });
  }

  terminate(): void {
    this.#socket.terminate();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    if (this.#socket.readyState === 1) this.#socket.resume();
  }

  /** The client has read some of the waiting bytes. */
  drained(): void {
    this.#drains++;
    const { buffered } = this;
    this.#unsent.count();
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ limit }) => buffered >= limit);
    for (const { limit, go } of waiting) if (buffered < limit) go(true);
    if (this.#waiting.length === 0) this.#unsent.rests();
  }

  ended(code: number, reason: string): void {
    this.#unsent.ended();
    for (const { go } of this.#waiting.splice(0)) go(false);
    // 1006 means that there was no close frame (RFC 6455 §7.1.5). Its reason is Bun's description of an invalid frame.
    if (this.#fault === undefined && code !== 1006) this.listener?.closed(code, reason);
    else this.listener?.lost(this.#fault ?? (reason === "" ? "the connection ended without a close" : reason));
  }

  stoppedReading(why: SendStop): void {
    this.#fault = unreadFault(why, this.#server.sendTimeoutMs);
    this.terminate();
  }

  #wait(limit: number, go: (hasRoom: boolean) => void): void {
    this.#waiting.push({ limit, go });
    this.#unsent.waits();
  }
}
