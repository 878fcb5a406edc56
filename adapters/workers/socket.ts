import type { OpenedSocket, WireResponse } from "../../src/app/exchange.ts";
import { guarded } from "../../src/logging/raised.ts";
import type { SocketListener, SocketTransport } from "../../src/sockets/socket.ts";
import type { WorkerExchange } from "./exchange.ts";

/** An end of the runtime's pair, as far as it is used. */
export interface WorkerSocket {
  binaryType: string;
  /** 1 while it is open, 3 once both sides have closed it. */
  readonly readyState: number;
  accept(): void;
  send(data: string | Uint8Array): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "message", listener: (event: { readonly data: string | ArrayBuffer }) => void): void;
  addEventListener(type: "close", listener: (event: { readonly code: number; readonly reason: string }) => void): void;
  addEventListener(type: "error", listener: () => void): void;
}

/** Bytes after which a `send` waits: what the runtime has not written yet is in its memory, and it tells nobody how much. */
const mostAhead = 1_048_576;
/**
 * How long it waits then. Half a gigabyte sent as fast as it went, to a client that took it all, grew workerd by 170 to 340
 * MB where each MiB was followed by one turn of others, and by 7 with this.
 */
const waitMs = 5;
/** How long a `send` waits for a word of a client that has said nothing for too many bytes. */
const wordMs = 30_000;

const encoder: TextEncoder = /* @__PURE__ */ new TextEncoder();

// The runtime's own, which no other has.
declare const WebSocketPair: new () => { readonly 0: WorkerSocket; readonly 1: WorkerSocket };

/** The 101, and one end of a pair with it: the route speaks on the other. */
export function upgrade(exchange: WorkerExchange, { head }: WireResponse, opened: OpenedSocket): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  // A `Blob`, which newer dates of compatibility give, has to be awaited: messages would lose their order.
  server.binaryType = "arraybuffer";
  server.accept();
  exchange.keepAlive(opened.open(new WorkerTransport(server, opened.maxUnheard)));
  const headers = new Headers();
  for (let i = 0; i < head.length; i += 2) headers.append(head[i] as string, head[i + 1] as string);
  if (opened.subprotocol !== undefined) headers.append("sec-websocket-protocol", opened.subprotocol);
  const init = { status: 101, webSocket: client, headers };
  return new Response(null, init);
}

/**
 * A socket of a Worker's. It is told neither of pings nor of how much its client has taken: what it says is the one sign
 * of it, so it is sent no more than a number of bytes while it says nothing.
 */
export class WorkerTransport implements SocketTransport {
  readonly #socket: WorkerSocket;
  readonly #maxUnheard: number;
  #listener: SocketListener | undefined = undefined;
  /** Bytes sent since a `send` last waited. */
  #ahead = 0;
  /** Bytes sent since the client last said something. */
  #unheard = 0;
  /** Goes on with what waits for the client to say something. */
  #wake: ((hasRoom: boolean) => void) | undefined = undefined;
  #waiting: Promise<boolean> | undefined = undefined;

  constructor(socket: WorkerSocket, maxUnheard: number) {
    this.#socket = socket;
    this.#maxUnheard = maxUnheard;
  }

  start(listener: SocketListener): void {
    this.#listener = listener;
    const socket = this.#socket;
    const message = ({ data }: { readonly data: string | ArrayBuffer }): void => {
      this.#unheard = 0;
      this.#wake?.(true);
      listener.message(typeof data === "string" ? data : new Uint8Array(data));
    };
    const closed = ({ code, reason }: { readonly code: number; readonly reason: string }): void => {
      this.#wake?.(false);
      // 1006 is no code of a close: there was none (RFC 6455 §7.1.5).
      if (code === 1006) return listener.lost("the connection ended without a close");
      this.#answerClose(code);
      listener.closed(code, reason);
    };
    const failed = (): void => {
      this.#wake?.(false);
      listener.lost("what came on it was no WebSocket");
    };
    socket.addEventListener("message", guarded(this, message));
    socket.addEventListener("close", guarded(this, closed));
    socket.addEventListener("error", guarded(this, failed));
  }

  send(data: string | Uint8Array): boolean | Promise<boolean> {
    if (this.#socket.readyState !== 1) return false;
    this.#socket.send(data);
    const bytes = (typeof data === "string" ? encoder.encode(data) : data).byteLength;
    this.#ahead += bytes;
    this.#unheard += bytes;
    if (this.#unheard >= this.#maxUnheard) return (this.#waiting ??= this.#word());
    if (this.#ahead < mostAhead) return true;
    this.#ahead = 0;
    return new Promise((resolve) => {
      setTimeout(() => resolve(this.#socket.readyState === 1), waitMs);
    });
  }

  close(code: number, reason: string): void {
    this.#wake?.(false);
    if (this.#socket.readyState === 1) this.#socket.close(code, reason);
  }

  /** A connection is the platform's to end: it is closed with nothing said. */
  terminate(): void {
    if (this.#socket.readyState === 1) this.#socket.close();
  }

  /** Waits for the client to say something, however many sends do; false where it did not, and is lost. */
  #word(): Promise<boolean> {
    return new Promise((resolve) => {
      const silent = guarded(this, () => this.#silent());
      const timer = setTimeout(silent, wordMs);
      this.#wake = (hasRoom) => {
        clearTimeout(timer);
        this.#wake = undefined;
        this.#waiting = undefined;
        resolve(hasRoom);
      };
    });
  }

  #silent(): void {
    this.#wake?.(false);
    this.#listener?.lost(`nothing heard for ${wordMs / 1000}s, with ${this.#unheard} bytes sent meanwhile`);
    this.terminate();
  }

  // Before a date of compatibility the runtime leaves it to the Worker, which may say some codes and no others.
  #answerClose(code: number): void {
    if (this.#socket.readyState === 3) return;
    try {
      if (code === 1005) this.#socket.close();
      else this.#socket.close(code, "");
    } catch {
      this.#socket.close(1002, "");
    }
  }
}
