import type { Socket } from "node:net";
import type { RawData, WebSocket } from "ws";
import { noteIo } from "../../src/async.ts";
import { guarded } from "../../src/logging/raised.ts";
import type { Deadlines } from "../../src/server/deadlines.ts";
import type { ListenableTransport, SocketListener } from "../../src/sockets/socket.ts";
import { lingerMs } from "./closing.ts";
import { isBun } from "./listen.ts";

/** Past it a message's copy costs more than the second piece that `ws` writes it in. */
const mostShort = 4096;
/** The first byte of a frame that is a whole message. */
const whole = { text: 0x81, binary: 0x82 } as const;

/**
 * Writes a short message as one frame (RFC 6455 §5.2) in one piece: `ws` writes its head by itself, which costs an echo a
 * third. It takes its turn among what `ws` writes, which holds nothing back where nothing is compressed. False for a longer one.
 */
function writeShort(socket: Socket, data: string | Uint8Array): boolean {
  if (data.length > mostShort) return false;
  if (typeof data !== "string") {
    const frame = frameFor(whole.binary, data.length);
    frame.set(data, frame.length - data.length);
    socket.write(frame);
    return true;
  }
  const length = Buffer.byteLength(data);
  if (length === data.length) {
    // Nothing but ASCII: the system takes it as it is, head and all.
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

/** A frame without its message. A length of three bytes a character at the most fits into two. */
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

/** What a client may have been sent and not have taken before a `send` waits for it. */
const maxWaitingBytes = 65_536;
/** What Bun has in the place of `ws` speaks on a connection of its own. */
const ownsWire = !isBun;

/** A socket of the `ws` package. */
export class WsTransport implements ListenableTransport {
  readonly #ws: WebSocket;
  readonly #socket: Socket;
  readonly #sendTimeoutMs: number;
  readonly #deadlines: Deadlines;
  /** Whoever hears of it. */
  listener: SocketListener | undefined = undefined;
  /** How many sends wait for the client to take them. */
  #waiting = 0;
  /** Why it ended, where that was not by a close. */
  #fault: string | undefined = undefined;

  constructor(ws: WebSocket, socket: Socket, sendTimeoutMs: number, deadlines: Deadlines) {
    this.#deadlines = deadlines;
    this.#ws = ws;
    this.#socket = socket;
    this.#sendTimeoutMs = sendTimeoutMs;
  }

  start(listener: SocketListener): void {
    this.listener = listener;
    const socket = this.#socket;
    // Both sides have closed it, and `ws` tells once the client ends the connection too, which it waits 30 s for.
    const finished = guarded(socket, () => {
      const deadline = this.#deadlines.time(lingerMs, { expire: () => socket.destroy() });
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
      // 1006 is no code of a close: there was none (RFC 6455 §7.1.5).
      if (this.#fault === undefined && code !== 1006) listener.closed(code, reason.toString());
      else listener.lost(this.#fault ?? "the connection ended without a close");
    });
    socket.once("finish", finished);
    this.#ws.on("message", message).on("ping", frame).on("pong", frame).on("error", failed).on("close", closed);
  }

  send(data: string | Uint8Array): boolean | Promise<boolean> {
    const { readyState, OPEN } = this.#ws;
    // `ws` hears of its connection's end a turn later, which a handler that sends on and on would never let come.
    if (readyState !== OPEN || this.#socket.destroyed) return false;
    if (this.#ws.bufferedAmount < maxWaitingBytes) {
      if (!ownsWire || !writeShort(this.#socket, data)) this.#ws.send(data);
      return true;
    }
    return this.#waitFor((written) => this.#ws.send(data, written));
  }

  ping(): void {
    this.#ws.ping();
  }

  close(code: number | undefined, reason: string): Promise<unknown> | undefined {
    this.#ws.close(code, reason);
    // Called back once everything before it is with the system: `ws` says nothing of it. One that the client closed first
    // is ended already.
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

  #waitFor(write: (written: (error?: Error | null) => void) => void): Promise<boolean> {
    if (this.#waiting++ === 0) this.#socket.setTimeout(this.#sendTimeoutMs).on("timeout", this.#timedOut);
    return new Promise((resolve) => {
      const written = guarded(this.#socket, (error?: Error | null) => {
        if (--this.#waiting === 0) this.#socket.setTimeout(0).off("timeout", this.#timedOut);
        // Node tells of no error where the connection was closed while it wrote.
        resolve((error === undefined || error === null) && !this.#socket.destroyed);
      });
      write(written);
    });
  }

  readonly #timedOut = (): void => {
    this.#fault = `nothing written was taken for ${this.#sendTimeoutMs / 1000}s`;
    this.#ws.terminate();
  };
}

function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
