import type { OpenedSocket, WireResponse } from "../../src/app/exchange.ts";
import type { App } from "../../src/doors/apps.ts";
import { unrefTimer } from "../../src/doors/base.ts";
import { caught, guarded } from "../../src/doors/logging.ts";
import { BufferedUnsent, unreadFault } from "../../src/doors/server.ts";
import type { Deadline, OpenSockets, SendStop, SendingState } from "../../src/doors/server.ts";
import type { DenoExchange } from "./exchange.ts";
import type { DenoRuntime, DenoSocket } from "./runtime.ts";
import type { ListenableTransport, SocketListener } from "../../src/exchange/transport.ts";

declare const Deno: DenoRuntime;

/** Sent bytes that a client may leave unread before a `send` waits. */
const maxWaitingBytes = 65_536;
/** How often the buffer is checked while a send waits, because Deno does not report when a client has read. */
const checkMs = 10;
/** The same while no send waits, for the budget of what waits. */
const countMs = 250;

/** The server's state that a socket needs. */
export interface DenoSocketServer extends SendingState {
  readonly app: App;
  readonly open: OpenSockets;
}

/**
 * Calls `act` once Deno has checked whether the client of a handshake is still connected. If a client resets, or ends its side, before
 * the 101 is written, Deno leaks the descriptor and reports nothing (seen with 2.9.5). A timer may run before the connections' events, and
 * `abort` is emitted a turn later, so it takes several. During a turn Deno checks no connection, so few handshakes are answered in one.
 *
 * Of 1,200 clients that left within 7 ms, 300 at the same time, 880 leaked a descriptor without a check. With three checks, and all
 * answered in one turn, 320 did; this way 8 to 20.
 */
export function afterLooks(act: () => void): void {
  if (handshakes.size === 0) setTimeout(look, 0);
  handshakes.add({ act, since: looks });
}

interface WaitingHandshake {
  readonly act: () => void;
  readonly since: number;
}

const minLooks = 4;
/** How long handshakes are answered in one turn; one of them always is. */
const turnMs = 0.25;
/** In the order of their arrival. */
const handshakes: Set<WaitingHandshake> = /* @__PURE__ */ new Set();
let looks = 0;

function look(): void {
  looks++;
  const until = performance.now() + turnMs;
  for (const handshake of handshakes) {
    if (looks - handshake.since < minLooks) break;
    handshakes.delete(handshake);
    handshake.act();
    if (performance.now() >= until) break;
  }
  if (handshakes.size > 0) setTimeout(look, 0);
}

/**
 * Deno's 101 with the app's headers. The request's handler must return it. If the client has gone, Deno may neither open the
 * socket nor report an end (seen with 2.9.5), so a socket that is not open after `sendTimeoutMs` is given up.
 */
export function upgrade(
  exchange: DenoExchange,
  { head, unsent }: WireResponse,
  opened: OpenedSocket,
  server: DenoSocketServer,
): Response {
  const { request } = exchange;
  const { subprotocol, keepAliveMs } = opened;
  // After the response Deno tells no address.
  const network = server.app.networkOf(exchange.peer, (name) => exchange.lines(name));
  const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: (2 * keepAliveMs) / 1000 });
  // Set here, because with its own option Deno throws where the client's list has no blanks.
  if (subprotocol !== undefined) response.headers.append("sec-websocket-protocol", subprotocol);
  for (let i = 0; i < head.length; i += 2) response.headers.append(head[i] as string, head[i + 1] as string);
  socket.binaryType = "arraybuffer";
  const transport = new DenoTransport(socket, keepAliveMs, server, network);
  let isAwaited = true;
  const left = guarded(transport, () => {
    clearTimeout(timer);
    if (isAwaited) unsent?.();
    isAwaited = false;
    exchange.left();
  });
  const timer = setTimeout(left, server.sendTimeoutMs);
  unrefTimer(timer);
  const open = (): void => {
    clearTimeout(timer);
    if (!isAwaited) return socket.close();
    isAwaited = false;
    server.open.track(opened, transport).catch((thrown: unknown) => caught(thrown, transport));
  };
  socket.addEventListener("open", guarded(transport, open));
  socket.addEventListener("close", left);
  return response;
}

/** Deno's WebSocket. It pings by itself, and cannot pause reading. */
class DenoTransport implements ListenableTransport {
  readonly #socket: DenoSocket;
  readonly #keepAliveMs: number;
  readonly #server: DenoSocketServer;
  readonly #unsent: BufferedUnsent;
  /** The next check of what waits; undefined until something has waited. */
  #check: Deadline | undefined = undefined;
  #isChecked = false;
  /** The number of sends that wait for the client to read. */
  #waiting = 0;
  readonly network: string | undefined;
  listener: SocketListener | undefined = undefined;

  constructor(socket: DenoSocket, keepAliveMs: number, server: DenoSocketServer, network: string | undefined) {
    this.#socket = socket;
    this.#keepAliveMs = keepAliveMs;
    this.#server = server;
    this.network = network;
    this.#unsent = new BufferedUnsent(server, this);
  }

  get buffered(): number {
    return this.#socket.bufferedAmount;
  }

  start(listener: SocketListener): void {
    this.listener = listener;
    const socket = this.#socket;
    const message = ({ data }: { readonly data: string | ArrayBuffer }): void => {
      listener.message(typeof data === "string" ? data : new Uint8Array(data));
    };
    const failed = ({ message }: { readonly message: string }): void => listener.lost(this.#faultOf(message));
    const closed = ({ code, reason }: { readonly code: number; readonly reason: string }): void => {
      this.#unsent.ended();
      this.#check?.clear();
      if (code === 0) listener.lost("the connection ended without a close");
      else listener.closed(code, reason);
    };
    socket.addEventListener("message", guarded(this, message));
    // Emitted before `close`, whose code is then 0, or 1001 without a pong.
    socket.addEventListener("error", guarded(this, failed));
    socket.addEventListener("close", guarded(this, closed));
  }

  send(data: string | Uint8Array): boolean | Promise<boolean> {
    if (this.#socket.readyState !== 1) return false;
    this.#socket.send(data);
    const { buffered } = this;
    if (buffered < maxWaitingBytes) {
      if (buffered > 0) this.#countLater();
      return true;
    }
    this.#unsent.count(typeof data === "string" ? Buffer.byteLength(data) : data.byteLength);
    return this.#room();
  }

  // Deno holds each message for a turn, also where its client reads: what is left of it a little later waits.
  #countLater(): void {
    if (this.#isChecked) return;
    this.#isChecked = true;
    if (this.#check === undefined) this.#check = this.#server.deadlines.time(countMs, this);
    else this.#check.restart();
  }

  expire(): void {
    this.#isChecked = false;
    this.#unsent.count();
    if (this.buffered > 0 && this.#socket.readyState === 1) this.#countLater();
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  /** Deno cannot end a connection: this sends a close frame without a code, and the client ends the connection. */
  terminate(): void {
    if (this.#socket.readyState === 1) this.#socket.close();
  }

  async #room(): Promise<boolean> {
    if (this.#waiting++ === 0) this.#unsent.waits();
    while (this.buffered >= maxWaitingBytes && this.#socket.readyState === 1) {
      await new Promise<void>((resolve) => {
        setTimeout(resolve, checkMs);
      });
      this.#unsent.count();
    }
    if (--this.#waiting === 0) this.#unsent.rests();
    if (this.buffered > 0) this.#countLater();
    return this.#socket.readyState === 1;
  }

  stoppedReading(why: SendStop): void {
    if (this.#socket.readyState !== 1) return;
    this.listener?.lost(unreadFault(why, this.#server.sendTimeoutMs));
    this.terminate();
  }

  // Deno gives only a text; for the end of a connection, its own or the system's.
  #faultOf(message: string): string {
    if (message.startsWith("No response")) return `nothing heard for ${(2 * this.#keepAliveMs) / 1000}s`;
    return /EOF|os error/.test(message) ? "the connection ended without a close" : "what came on it was no WebSocket";
  }
}
