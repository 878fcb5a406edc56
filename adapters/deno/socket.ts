import type { OpenedSocket, WireResponse } from "../../src/app/exchange.ts";
import { caught, guarded } from "../../src/logging/raised.ts";
import type { OpenSockets } from "../../src/server/lifecycle.ts";
import type { ListenableTransport, SocketListener } from "../../src/sockets/socket.ts";
import type { DenoExchange } from "./exchange.ts";
import type { DenoRuntime, DenoSocket } from "./runtime.ts";

declare const Deno: DenoRuntime;

/** What a client may have been sent and not have taken before a `send` waits for it. */
const mostWaiting = 65_536;
/** How often it is looked whether a client took some of it, which Deno does not tell. */
const lookMs = 10;

/** What a socket has of its server. */
export interface DenoSocketServer {
  readonly open: OpenSockets;
  readonly sendTimeoutMs: number;
}

/**
 * Calls back once Deno has looked whether the client of a handshake is still there. Of a client that resets before the 101 is
 * written, Deno keeps the descriptor for ever, and tells nothing (seen with 2.9.5). A timer may have its turn before the
 * connections have theirs, so it takes more than one: of 3,000 clients that reset within 2 ms, 1,409 left a descriptor without a
 * look, 22 with two, and 1 with three.
 */
export function afterLooks(act: () => void, looks = 3): void {
  if (looks === 0) act();
  else setTimeout(afterLooks, 0, act, looks - 1);
}

/** The 101 of Deno's own making, with the head of ours. It must be what the request's handler returns. */
export function upgrade(
  exchange: DenoExchange,
  { head }: WireResponse,
  opened: OpenedSocket,
  speaking: DenoSocketServer,
): Response {
  const { request } = exchange;
  const { subprotocol, keepAliveMs } = opened;
  const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: (2 * keepAliveMs) / 1000 });
  // Asked for it, Deno would look for it itself, and raise where what is offered is listed without a blank.
  if (subprotocol !== undefined) response.headers.append("sec-websocket-protocol", subprotocol);
  for (let i = 0; i < head.length; i += 2) response.headers.append(head[i] as string, head[i + 1] as string);
  socket.binaryType = "arraybuffer";
  const link = new DenoLink(socket, keepAliveMs, speaking.sendTimeoutMs);
  const open = (): void => {
    speaking.open.track(opened, link).catch((thrown: unknown) => caught(thrown, link));
  };
  socket.addEventListener("open", guarded(link, open));
  socket.addEventListener(
    "close",
    guarded(link, () => exchange.left()),
  );
  return response;
}

/** A socket of the platform's kind. It pings by itself, and lets nobody hold back what it reads. */
class DenoLink implements ListenableTransport {
  readonly #socket: DenoSocket;
  readonly #keepAliveMs: number;
  readonly #sendTimeoutMs: number;
  listener: SocketListener | undefined = undefined;

  constructor(socket: DenoSocket, keepAliveMs: number, sendTimeoutMs: number) {
    this.#socket = socket;
    this.#keepAliveMs = keepAliveMs;
    this.#sendTimeoutMs = sendTimeoutMs;
  }

  start(listener: SocketListener): void {
    this.listener = listener;
    const socket = this.#socket;
    const message = ({ data }: { readonly data: string | ArrayBuffer }): void => {
      listener.message(typeof data === "string" ? data : new Uint8Array(data));
    };
    const failed = ({ message }: { readonly message: string }): void => listener.lost(this.#faultOf(message));
    const closed = ({ code, reason }: { readonly code: number; readonly reason: string }): void => {
      if (code === 0) listener.lost("the connection ended without a close");
      else listener.closed(code, reason);
    };
    socket.addEventListener("message", guarded(this, message));
    // Before the close, which then has 0 for its code, or for want of a pong 1001.
    socket.addEventListener("error", guarded(this, failed));
    socket.addEventListener("close", guarded(this, closed));
  }

  send(data: string | Uint8Array): boolean | Promise<boolean> {
    if (this.#socket.readyState !== 1) return false;
    this.#socket.send(data);
    if (this.#socket.bufferedAmount < mostWaiting) return true;
    return this.#room();
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  /** Deno lets nobody end a connection: it is closed with nothing said, and is its client's from then on. */
  terminate(): void {
    if (this.#socket.readyState === 1) this.#socket.close();
  }

  async #room(): Promise<boolean> {
    let buffered = this.#socket.bufferedAmount;
    for (let quietMs = 0; buffered >= mostWaiting && this.#socket.readyState === 1; quietMs += lookMs) {
      if (quietMs >= this.#sendTimeoutMs) return this.#stopped();
      await new Promise<void>((resolve) => {
        setTimeout(resolve, lookMs);
      });
      const before = buffered;
      buffered = this.#socket.bufferedAmount;
      if (buffered !== before) quietMs = 0;
    }
    return this.#socket.readyState === 1;
  }

  #stopped(): boolean {
    this.listener?.lost(`nothing written was taken for ${this.#sendTimeoutMs / 1000}s`);
    this.terminate();
    return false;
  }

  // Deno says it in words alone; of an end of the connection its own and the system's.
  #faultOf(message: string): string {
    if (message.startsWith("No response")) return `nothing heard for ${(2 * this.#keepAliveMs) / 1000}s`;
    return /EOF|os error/.test(message) ? "the connection ended without a close" : "what came on it was no WebSocket";
  }
}
