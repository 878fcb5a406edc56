import { counted } from "../../src/counted.ts";
import type { OpenedSocket, WireResponse } from "../../src/app/exchange.ts";
import { guarded } from "../../src/doors/logging.ts";
import type { WorkerExchange } from "./exchange.ts";
import type { SocketListener, SocketTransport } from "../../src/exchange/transport.ts";

/** The used part of one end of a `WebSocketPair`. */
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

/** Bytes after which a `send` waits: the runtime keeps unsent bytes in memory and does not give their number. */
const maxAheadBytes = 1_048_576;
/**
 * How long it waits then. 512 MiB were sent at full speed to a client that read everything. workerd grew by 170 to 340 MB
 * with one turn of the event loop after each MiB, and by 7 MB with this.
 */
const waitMs = 5;
/** How long a `send` waits for a message of a client that has been silent for too many bytes. */
const silenceMs = 30_000;

const encoder: TextEncoder = /* @__PURE__ */ new TextEncoder();

// Exists only in workerd.
declare const WebSocketPair: new () => { readonly 0: WorkerSocket; readonly 1: WorkerSocket };

/** The 101 with one end of a pair; the route's handler uses the other. */
export function upgrade(exchange: WorkerExchange, { head }: WireResponse, opened: OpenedSocket): Response {
  const { 0: client, 1: server } = new WebSocketPair();
  // A `Blob`, the default of newer compatibility dates, must be awaited, and messages would lose their order.
  server.binaryType = "arraybuffer";
  server.accept();
  const transport = new WorkerTransport(server, opened.maxUnheard, () => exchange.left());
  exchange.keepAlive(opened.open(transport));
  const headers = new Headers();
  for (let i = 0; i < head.length; i += 2) headers.append(head[i] as string, head[i + 1] as string);
  if (opened.subprotocol !== undefined) headers.append("sec-websocket-protocol", opened.subprotocol);
  const init = { status: 101, webSocket: client, headers };
  return new Response(null, init);
}

/**
 * A Worker's WebSocket. The runtime reports neither pings nor how much the client has read, so only messages show that the
 * client is alive. Without one, only a limited number of bytes is sent.
 */
export class WorkerTransport implements SocketTransport {
  readonly #socket: WorkerSocket;
  readonly #maxUnheard: number;
  readonly #left: () => void;
  #listener: SocketListener | undefined = undefined;
  /** Bytes sent since a `send` last waited. */
  #ahead = 0;
  /** Bytes sent since the client's last message. */
  #unheard = 0;
  /** Resolves the sends that wait for a message; without effect where none does. */
  #wake: ((hasRoom: boolean) => void) | undefined = undefined;
  #waiting: Promise<boolean> | undefined = undefined;

  /** @param left Called once the connection has ended: with a socket, the runtime's signal of the request never aborts. */
  constructor(socket: WorkerSocket, maxUnheard: number, left: () => void = () => {}) {
    this.#socket = socket;
    this.#maxUnheard = maxUnheard;
    this.#left = left;
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
      this.#ended();
      // 1006 means that there was no close frame (RFC 6455 §7.1.5).
      if (code === 1006) return listener.lost("the connection ended without a close");
      this.#answerClose(code);
      listener.closed(code, reason);
    };
    const failed = (): void => {
      this.#ended();
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
    if (this.#unheard >= this.#maxUnheard) return (this.#waiting ??= this.#waitForMessage());
    if (this.#ahead < maxAheadBytes) return true;
    this.#ahead = 0;
    return new Promise((resolve) => {
      setTimeout(() => resolve(this.#socket.readyState === 1), waitMs);
    });
  }

  close(code: number, reason: string): void {
    this.#wake?.(false);
    if (this.#socket.readyState === 1) this.#socket.close(code, reason);
  }

  /** Only the platform can end a connection: this sends a close frame without a code. */
  terminate(): void {
    this.#ended();
    if (this.#socket.readyState === 1) this.#socket.close();
  }

  #ended(): void {
    this.#wake?.(false);
    this.#left();
  }

  /** Waits for a message of the client, for all sends; false if there is none and the client is lost. */
  #waitForMessage(): Promise<boolean> {
    return new Promise((resolve) => {
      const silent = guarded(this, () => this.#silent());
      const timer = setTimeout(silent, silenceMs);
      this.#wake = (hasRoom) => {
        clearTimeout(timer);
        this.#waiting = undefined;
        resolve(hasRoom);
      };
    });
  }

  #silent(): void {
    this.#listener?.lost(
      `nothing heard for ${silenceMs / 1000}s, with ${counted(this.#unheard, "byte")} sent meanwhile`,
    );
    this.terminate();
  }

  // Before a compatibility date the runtime leaves the close frame to the Worker, and accepts only some codes.
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
