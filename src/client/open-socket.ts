import { counted } from "../counted.ts";
import { following } from "../following.ts";
import type { Following } from "../following.ts";
import { Queue } from "../queue.ts";
import type { ClientOptions } from "./calls.ts";
import type { ClientSocket, ClientSocketEnd, SocketOutcome, WebSocketLike } from "./socket-types.ts";

/** What a call of `open` gives besides its address. */
export interface SocketParts {
  readonly headers?: { readonly [name: string]: unknown };
  readonly subprotocol?: string | readonly string[];
  readonly text?: "both" | "sent" | "received";
}

type WebSocketOptions = Pick<ClientOptions, "webSocket" | "maxSocketBuffer" | "openTimeoutMs">;

/** The members that have other types in other platforms. */
interface AnyWebSocket extends Omit<WebSocketLike, "send"> {
  binaryType: string;
  send(message: string | Uint8Array): void;
  addEventListener(type: string, listener: (event: SocketEvent) => void): void;
}
interface SocketEvent {
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
}

const maxWaiting = 1_048_576;
const maxOpenMs = 30_000;
// A server that never answers the close frame; browsers wait a minute, and Node without end.
const maxCloseMs = 3000;
// A program may close with 1000 and 3000 to 4999 alone.
const wrongMessage = 4007;
const tooMuch = 4009;
// A server may send empty messages without end.
const overhead = 32;
const lost: ClientSocketEnd = { code: 1006, reason: "" };

/** Opens a WebSocket. Throws for what no WebSocket can be made of, as a subprotocol with a space. */
export async function openSocket(
  address: string,
  parts: SocketParts,
  headers: { readonly [name: string]: string },
  options: WebSocketOptions,
  signals: readonly AbortSignal[],
): Promise<SocketOutcome<ClientSocket<unknown, unknown>>> {
  // It may throw, so the signals are followed after it.
  const socket = socketFor(address, parts, headers, options);
  const opened = new BufferedSocket(socket, parts.text, options.maxSocketBuffer ?? maxWaiting, following(signals));
  const isOpen = await opened.opening(options.openTimeoutMs ?? maxOpenMs);
  const empty = new Headers();
  if (isOpen) return { ok: true, status: 101, headers: empty, value: opened };
  const message = "The WebSocket could not be opened.";
  return { ok: false, status: 0, headers: empty, error: "unreachable", message, problems: [] };
}

function socketFor(
  address: string,
  { subprotocol = [], headers: own }: SocketParts,
  headers: { readonly [name: string]: string },
  { webSocket }: WebSocketOptions,
): AnyWebSocket {
  const { WebSocket, location } = globalThis as unknown as {
    readonly WebSocket?: new (url: string, protocols: string[]) => WebSocketLike;
    readonly location?: { readonly href: string };
  };
  const url = new URL(address, location?.href);
  // Not every platform takes the scheme of HTTP.
  const scheme = url.protocol.replace("http", "ws");
  const offered = [subprotocol].flat();
  const target = `${scheme}${url.href.slice(url.protocol.length)}`;
  if (webSocket) return webSocket(target, offered, headers) as AnyWebSocket;
  if (!WebSocket) throw new TypeError("this platform has no WebSocket: give the client one, by its option webSocket");
  if (Object.values(own ?? {}).some((value) => value !== undefined))
    throw new TypeError(
      "a WebSocket of the platform sends no headers: use a subprotocol, or the client's option webSocket",
    );
  return new WebSocket(target, offered) as AnyWebSocket;
}

/** Where a socket is: `closing` by this side. One that is over still has the messages that were received before. */
type SocketState =
  | { readonly at: "opening" | "open" | "closing" }
  | { readonly at: "over"; readonly end: ClientSocketEnd; readonly thrown: Error | undefined };

class BufferedSocket implements ClientSocket<unknown, unknown> {
  readonly closed: Promise<ClientSocketEnd>;
  readonly #opened: Promise<boolean>;
  readonly #socket: AnyWebSocket;
  readonly #text: SocketParts["text"];
  readonly #maxWaiting: number;
  readonly #stopping: Following;
  #state: SocketState = { at: "opening" };
  readonly #received = new Queue<string | Uint8Array>();
  #receivedLength = 0;
  /** Loops that wait for a message, or for its end. */
  readonly #waiting = new Set<() => void>();
  #resolveClosed: (end: ClientSocketEnd) => void = () => {};
  #resolveOpened: (isOpen: boolean) => void = () => {};

  constructor(socket: AnyWebSocket, text: SocketParts["text"], maxWaiting: number, stopping: Following) {
    this.#socket = socket;
    this.#text = text;
    this.#maxWaiting = maxWaiting;
    this.#stopping = stopping;
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    this.#opened = new Promise((resolve) => (this.#resolveOpened = resolve));
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      if (this.#state.at === "opening") this.#state = { at: "open" };
      this.#resolveOpened(this.#state.at === "open");
    });
    socket.addEventListener("message", ({ data }) => this.#receive(data));
    // Of one that is open a close event follows, which has the code. Node 22 sends none after a handshake that failed.
    socket.addEventListener("error", () => {
      if (this.#state.at === "opening") this.#over(lost);
    });
    socket.addEventListener("close", ({ code = lost.code, reason = "" }) => this.#over({ code, reason }));
    const { signal } = stopping;
    const stop = (): void => this.#end({ code: 1000, reason: "" });
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
  }

  get subprotocol(): string | undefined {
    return this.#socket.protocol || undefined;
  }

  /** Whether it opened, in this time. */
  async opening(timeoutMs: number): Promise<boolean> {
    const timer = setTimeout(() => this.#end(lost), timeoutMs);
    const isOpen = await this.#opened;
    clearTimeout(timer);
    return isOpen;
  }

  send(message: unknown): boolean {
    if (this.#state.at !== "open" || this.#socket.readyState !== 1) return false;
    const data = this.#encoded(message);
    if ((this.#socket.bufferedAmount ?? 0) + data.length > this.#maxWaiting)
      throw new RangeError(`more than ${counted(this.#maxWaiting, "byte")} of a WebSocket would wait to be sent`);
    this.#socket.send(data);
    return true;
  }

  #encoded(message: unknown): string | Uint8Array {
    if (message instanceof Uint8Array) return message;
    const isText = this.#text === "both" || this.#text === "sent";
    const data: unknown = isText ? message : JSON.stringify(message);
    if (typeof data !== "string") throw new TypeError("a message of a WebSocket is neither text, bytes nor JSON");
    return data;
  }

  async close({
    code = 1000,
    reason = "",
  }: { readonly code?: number | undefined; readonly reason?: string | undefined } = {}): Promise<ClientSocketEnd> {
    if (this.#state.at === "over") return this.closed;
    this.#socket.close(code, reason);
    this.#state = { at: "closing" };
    const timer = setTimeout(() => this.#over(lost), maxCloseMs);
    const end = await this.closed;
    clearTimeout(timer);
    return end;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<unknown, undefined> {
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () => this.#next(),
      return: async () => {
        this.#end({ code: 1000, reason: "" });
        return { done: true, value: undefined };
      },
    };
  }

  async #next(): Promise<IteratorResult<unknown, undefined>> {
    for (;;) {
      const data = this.#received.shift();
      if (data !== undefined) {
        this.#receivedLength -= data.length + overhead;
        return { done: false, value: this.#read(data) };
      }
      const state = this.#state;
      if (state.at === "over") {
        if (state.thrown === undefined) return { done: true, value: undefined };
        // Once: the next call finds its end.
        this.#state = { ...state, thrown: undefined };
        throw state.thrown;
      }
      await this.#change();
    }
  }

  #read(data: string | Uint8Array): unknown {
    if (typeof data !== "string" || this.#text === "both" || this.#text === "received") return data;
    try {
      return JSON.parse(data);
    } catch {
      this.#end({ code: wrongMessage, reason: "a message is not JSON" });
      throw new SyntaxError("a message of a WebSocket is not JSON");
    }
  }

  #receive(data: unknown): void {
    if (this.#state.at === "over") return;
    const one = typeof data === "string" ? data : new Uint8Array(data as ArrayBuffer);
    this.#receivedLength += one.length + overhead;
    if (this.#receivedLength > this.#maxWaiting) {
      const thrown = new RangeError(
        `more than ${counted(this.#maxWaiting, "byte")} of a WebSocket's messages were not read`,
      );
      this.#end({ code: tooMuch, reason: "too many messages wait" }, thrown);
      return;
    }
    this.#received.push(one);
    this.#tell();
  }

  /** Ends it from this side, at once: what is received from now on is dropped. */
  #end(end: ClientSocketEnd, thrown?: Error): void {
    if (this.#state.at === "over") return;
    // Of a socket that opens it has no code.
    if (this.#state.at === "opening") this.#socket.close();
    else this.#socket.close(end.code === lost.code ? 1000 : end.code, end.reason);
    this.#finish(end, thrown);
  }

  /** The connection is closed. */
  #over(end: ClientSocketEnd): void {
    const isOwn = this.#state.at === "closing";
    const isWell = isOwn || end.code === 1000 || end.code === 1001 || end.code === 1005;
    const thrown = isWell ? undefined : new Error(`the WebSocket was closed: ${end.code}`, { cause: end });
    if (this.#state.at !== "over") this.#finish(end, thrown);
  }

  #finish(end: ClientSocketEnd, thrown: Error | undefined): void {
    this.#state = { at: "over", end, thrown };
    this.#stopping.release();
    this.#resolveOpened(false);
    this.#resolveClosed(end);
    this.#tell();
  }

  #tell(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }
}
