import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import { noteIo } from "../../src/doors/base.ts";
import { guarded } from "../../src/doors/logging.ts";
import { unreadFault, lingerMs } from "../../src/doors/server.ts";
import type { SendStop, SendingState } from "../../src/doors/server.ts";
import { connectionOf, isWatched } from "./connection.ts";
import { isBun } from "./listen.ts";
import { takenBytes } from "./private.ts";
import { SendWatch } from "./send-watch.ts";
import type { ListenableTransport, SocketListener } from "../../src/exchange/transport.ts";

/** The longest message for which a copy costs less than the second write of `ws`. */
const maxShortLength = 4096;
/** The first byte of an unfragmented frame. */
const whole = { text: 0x81, binary: 0x82 } as const;

/** What a WebSocket is sent over: a connection, or a stream of HTTP/2. */
export type ByteChannel = Duplex & {
  setTimeout(ms: number): ByteChannel;
  readonly bytesRead: number;
  /** The bytes of what was written that the client has taken; absent for a connection. */
  readonly bytesTaken?: number;
  /** Sets how many bytes wait for the client; absent for a connection. */
  waits?(bytes: number): void;
};

/**
 * Writes a short message as one frame (RFC 6455 §5.2) in one write: `ws` writes the head separately, which costs an echo a
 * third. The order with `ws`'s own writes is kept, because without compression `ws` buffers nothing. False for a longer
 * message.
 */
function writeShort(socket: ByteChannel, data: string | Uint8Array): boolean {
  if (data.length > maxShortLength) return false;
  if (typeof data !== "string") {
    const frame = frameFor(whole.binary, data.length);
    frame.set(data, frame.length - data.length);
    socket.write(frame);
    return true;
  }
  const length = Buffer.byteLength(data);
  if (length === data.length) {
    // Only ASCII: head and text are written as one string.
    socket.write(asciiHead(length) + data, "latin1");
    return true;
  }
  const frame = frameFor(whole.text, length);
  frame.write(data, frame.length - length);
  socket.write(frame);
  return true;
}

function asciiHead(length: number): string {
  if (length < 126) return String.fromCharCode(whole.text, length);
  return String.fromCharCode(whole.text, 126, length >> 8, length & 0xff);
}

/** A frame without its message. Its length, at most three bytes a character, fits into two bytes. */
function frameFor(first: number, length: number): Buffer {
  const frame = Buffer.allocUnsafe((length < 126 ? 2 : 4) + length);
  frame[0] = first;
  if (length < 126) {
    frame[1] = length;
  } else {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  }
  return frame;
}

/** Sent bytes that a client may leave unread before a `send` waits. */
const maxWaitingBytes = 65_536;
/** Bun's replacement of `ws` has a connection of its own. */
const ownsWire = !isBun;

/** The close code that `ws` sends for an error code of its own, or of zlib; undefined for the system's, as ECONNRESET. */
function faultCodeOf(fault: string | undefined): number | undefined {
  if (fault === "WS_ERR_INVALID_UTF8" || fault?.startsWith("Z_")) return 1007;
  if (fault === "WS_ERR_TOO_MANY_BUFFERED_PARTS") return 1008;
  if (fault === "WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH" || fault === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") return 1009;
  return fault?.startsWith("WS_ERR_") ? 1002 : undefined;
}

type WhenWritten = (error?: Error | null) => void;

/** A WebSocket of the `ws` package. */
export class WsTransport implements ListenableTransport {
  readonly #ws: WebSocket;
  readonly #socket: ByteChannel;
  readonly #server: SendingState;
  /** Receives the socket's events. */
  listener: SocketListener | undefined = undefined;
  /** The number of sends that wait for the client to read. */
  #waiting = 0;
  readonly #sending: SendWatch;
  /** Why it ended, if not by a close frame. */
  #fault: string | undefined = undefined;

  /** Compressed messages: `ws` queues each message behind the one that is being compressed. */
  readonly #deflate: { readonly minBytes: number } | undefined;
  /** The number of messages with `ws`, where they may be compressed. */
  #queued = 0;
  #whenWritten: (() => void) | undefined = undefined;

  /** @param deflate Set where compression was agreed on with the client. */
  constructor(
    ws: WebSocket,
    socket: ByteChannel,
    server: SendingState,
    deflate: { readonly minBytes: number } | undefined,
  ) {
    this.#deflate = deflate;
    this.#ws = ws;
    this.#socket = socket;
    this.#server = server;
    this.#sending = new SendWatch(socket, server, (isSlow) => {
      this.#cut(isSlow ? "slow" : "unread");
    });
  }

  start(listener: SocketListener): void {
    this.listener = listener;
    const socket = this.#socket;
    // Both sides have sent a close frame. `ws` reports the end only when the client ends the connection too, for which it
    // waits 30 s.
    const finished = guarded(socket, () => {
      const deadline = this.#server.deadlines.time(lingerMs, { expire: () => socket.destroy() });
      socket.once("close", () => deadline.clear());
    });
    const message = guarded(socket, (data: RawData, isBinary: boolean) => {
      noteIo();
      listener.message(isBinary ? bytesOf(data) : bytesOf(data).toString());
    });
    const frame = guarded(socket, () => listener.frame());
    const failed = guarded(socket, (error: NodeJS.ErrnoException) => {
      this.#fault ??= error.code ?? "a fault";
    });
    const closed = guarded(socket, (code: number, reason: Buffer) => {
      // 1006 means that there was no close frame (RFC 6455 §7.1.5).
      if (this.#fault === undefined && code !== 1006) listener.closed(code, reason.toString());
      else listener.lost(this.#fault ?? "the connection ended without a close", faultCodeOf(this.#fault));
    });
    socket.once("finish", finished);
    this.#ws.on("message", message).on("ping", frame).on("pong", frame).on("error", failed).on("close", closed);
  }

  send(data: string | Uint8Array): boolean | Promise<boolean> {
    const { readyState, OPEN } = this.#ws;
    // `ws` notices its connection's end a turn later, which never comes while a handler sends without a pause.
    if (readyState !== OPEN || this.#socket.destroyed) return false;
    if (this.#deflate !== undefined) return this.#sendQueued(data, this.#deflate);
    const { bufferedAmount } = this.#ws;
    if (bufferedAmount === 0) {
      if (!ownsWire || !writeShort(this.#socket, data)) this.#ws.send(data);
      return true;
    }
    // What was sent before waits.
    if (bufferedAmount < maxWaitingBytes) this.#ws.send(data, this.#count);
    const room = bufferedAmount < maxWaitingBytes || this.#waitFor((written) => this.#ws.send(data, written));
    this.#count();
    return room;
  }

  /** Counts what waits in the budget of the server. */
  readonly #count = (): void => {
    const { bufferedAmount } = this.#ws;
    if (isWatched(this.#socket as Socket)) connectionOf(this.#socket as Socket).writing.waits(bufferedAmount);
    else this.#socket.waits?.(bufferedAmount);
  };

  /** Never by `writeShort`, which would overtake what is being compressed. */
  #sendQueued(data: string | Uint8Array, { minBytes }: { readonly minBytes: number }): boolean | Promise<boolean> {
    const compress = data.length >= minBytes || (typeof data === "string" && Buffer.byteLength(data) >= minBytes);
    const hasRoom = this.#ws.bufferedAmount < maxWaitingBytes;
    this.#queued++;
    const send = (then?: WhenWritten): void => {
      const written = guarded(this.#socket, (error?: Error | null) => {
        if (--this.#queued === 0) this.#whenWritten?.();
        this.#count();
        then?.(error);
      });
      this.#ws.send(data, { compress }, written);
    };
    const room = hasRoom || this.#waitFor(send);
    if (hasRoom) send();
    this.#count();
    return room;
  }

  ping(): void {
    this.#ws.ping();
  }

  progress(): number {
    const socket = this.#socket;
    if (this.#ws.bufferedAmount === 0) return socket.bytesRead;
    return socket.bytesRead + (takenBytes(socket) ?? socket.bytesTaken ?? 0);
  }

  close(code: number | undefined, reason: string): Promise<unknown> | undefined {
    this.#ws.close(code, reason);
    if (this.#queued > 0) return this.#waitFor((written) => (this.#whenWritten = written));
    // The callback runs once everything before it is written, which `ws` does not report. A socket that the client closed
    // first has ended already.
    const isBehind = ownsWire && this.#socket.writable && this.#ws.bufferedAmount > 0;
    return isBehind ? this.#waitFor((written) => this.#socket.write("", written)) : undefined;
  }

  terminate(): void {
    this.#ws.terminate();
  }

  pause(): void {
    this.#ws.pause();
  }

  resume(): void {
    this.#ws.resume();
  }

  #waitFor(write: (written: WhenWritten) => void): Promise<boolean> {
    if (this.#waiting++ === 0) {
      this.#socket.setTimeout(this.#server.sendTimeoutMs).on("timeout", this.#timedOut);
      this.#sending.start();
    }
    return new Promise((resolve) => {
      const written = guarded(this.#socket, (error?: Error | null) => {
        if (--this.#waiting === 0) {
          this.#socket.setTimeout(0).off("timeout", this.#timedOut);
          this.#sending.stop();
        }
        this.#count();
        // Node reports no error where the connection was closed during the write.
        resolve((error === undefined || error === null) && !this.#socket.destroyed);
      });
      write(written);
    });
  }

  readonly #timedOut = (): void => this.#cut("unread");

  #cut(why: SendStop): void {
    this.#fault = unreadFault(why, this.#server.sendTimeoutMs);
    this.#ws.terminate();
  }
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
