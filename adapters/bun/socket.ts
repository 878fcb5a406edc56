import type { OpenedSocket } from "../../src/app/exchange.ts";
import { attempt, caught } from "../../src/logging/raised.ts";
import type { Route } from "../../src/routing/route.ts";
import type { Deadline, Deadlines } from "../../src/server/deadlines.ts";
import type { OpenSockets } from "../../src/server/lifecycle.ts";
import type { ListenableTransport, SocketListener } from "../../src/sockets/socket.ts";
import type { BunSocket, BunSocketHandlers } from "./listen.ts";

/** What a client may have been sent and not have taken before a `send` waits for it. */
const mostWaiting = 65_536;
/** Bytes Bun may hold for a client: it drops what is past that, and its handler has been told to wait long before. */
const neverDropped = 2 ** 31 - 1;

/** What a socket has of its server. */
export interface BunSocketServer {
  readonly open: OpenSockets;
  readonly deadlines: Deadlines;
  readonly sendTimeoutMs: number;
}

/** What a connection is given when it becomes a socket. */
export interface SocketData {
  readonly opened: OpenedSocket;
  /** Once it is one. */
  link: BunLink | undefined;
}

/** What Bun calls for the sockets of an app; undefined for an app that opens none. */
export function socketHandlers(
  routes: readonly Route[],
  speaking: BunSocketServer,
): BunSocketHandlers<SocketData> | undefined {
  const longest = routes.flatMap(({ returns: { node } }) => (node.kind === "websocket" ? [node.maxMessage ?? 0] : []));
  if (longest.length === 0) return undefined;
  return {
    // One limit for all of them: what a route has of its own, the core looks at.
    maxPayloadLength: Math.min(Math.max(...longest), neverDropped),
    // The core pings, as each route says.
    idleTimeout: 0,
    sendPings: false,
    backpressureLimit: neverDropped,
    closeOnBackpressureLimit: false,
    perMessageDeflate: false,
    open: closing((socket) => {
      const { data } = socket;
      data.link = new BunLink(socket, speaking);
      speaking.open.track(data.opened, data.link).catch((thrown: unknown) => caught(thrown, socket));
    }),
    message: closing(({ data }, message: string | Uint8Array) => data.link?.listener?.message(message)),
    ping: closing(({ data }) => data.link?.listener?.frame()),
    pong: closing(({ data }) => data.link?.listener?.frame()),
    drain: closing(({ data }) => data.link?.drained()),
    close: closing(({ data }, code: number, reason: string) => data.link?.ended(code, reason)),
  };
}

type OpenBunSocket = BunSocket<SocketData>;

/** A handler that closes its socket where it raises. */
function closing<Given extends readonly unknown[]>(
  handle: (socket: OpenBunSocket, ...given: Given) => void,
): (socket: OpenBunSocket, ...given: Given) => void {
  return (socket, ...given) => attempt(socket, handle, socket, ...given);
}

/** A socket of Bun's own. */
class BunLink implements ListenableTransport {
  readonly #socket: BunSocket<SocketData>;
  readonly #speaking: BunSocketServer;
  listener: SocketListener | undefined = undefined;
  /** What waits until the client has taken more. */
  #waiting: { readonly most: number; readonly go: (hasRoom: boolean) => void }[] = [];
  #deadline: Deadline | undefined = undefined;
  /** Why it ended, where that was not by a close. */
  #fault: string | undefined = undefined;

  constructor(socket: BunSocket<SocketData>, speaking: BunSocketServer) {
    this.#socket = socket;
    this.#speaking = speaking;
  }

  start(listener: SocketListener): void {
    this.listener = listener;
  }

  send(data: string | Uint8Array): boolean | Promise<boolean> {
    if (this.#socket.readyState !== 1) return false;
    this.#socket.send(data);
    if (this.#socket.getBufferedAmount() < mostWaiting) return true;
    return new Promise((resolve) => this.#wait(mostWaiting, resolve));
  }

  ping(): void {
    this.#socket.ping();
  }

  /** Bun ends the connection with the close, and would do it with messages before it that are not out yet. */
  close(code: number, reason: string): Promise<unknown> | undefined {
    if (this.#socket.getBufferedAmount() === 0) {
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

  /** The client took some of what waits for it. */
  drained(): void {
    const buffered = this.#socket.getBufferedAmount();
    const waiting = this.#waiting;
    this.#waiting = waiting.filter(({ most }) => buffered >= most);
    for (const { most, go } of waiting) if (buffered < most) go(true);
    this.#deadline?.clear();
    this.#deadline = undefined;
    if (this.#waiting.length > 0) this.#bound();
  }

  ended(code: number, reason: string): void {
    this.#deadline?.clear();
    for (const { go } of this.#waiting.splice(0)) go(false);
    // 1006 is no code of a close: there was none (RFC 6455 §7.1.5). With it Bun says what is wrong with what came.
    if (this.#fault === undefined && code !== 1006) this.listener?.closed(code, reason);
    else this.listener?.lost(this.#fault ?? (reason === "" ? "the connection ended without a close" : reason));
  }

  expire(): void {
    this.#fault = `nothing written was taken for ${this.#speaking.sendTimeoutMs / 1000}s`;
    this.terminate();
  }

  #wait(most: number, go: (hasRoom: boolean) => void): void {
    this.#waiting.push({ most, go });
    this.#bound();
  }

  #bound(): void {
    const { deadlines, sendTimeoutMs } = this.#speaking;
    this.#deadline ??= deadlines.time(sendTimeoutMs, this);
  }
}
