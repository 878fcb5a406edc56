/** A client of a connection that changed its protocol: it sends what its model expects the server to receive. */
import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import type { Step } from "./script.ts";

type Open = Step & { readonly does: "open" };

const offers = {
  socket: [
    "connection: upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
  ],
  taken: ["connection: upgrade", "upgrade: echo"],
} as const;

/** The received messages of a WebSocket. */
export interface Heard {
  readonly texts: readonly string[];
  readonly pongs: readonly string[];
  /** The code of the server's close. */
  readonly closed: number | undefined;
}

export class Client {
  readonly open: Open;
  readonly key: string;
  readonly #socket: Socket;
  #came: Buffer[] = [];
  hasEnded = false;
  /** The messages that it has sent while it followed the protocol. */
  readonly said: string[] = [];
  readonly pinged: string[] = [];
  /** The reason why the server ignores everything that it sends from then on. */
  closing: "close" | "break" | "bytes" | "too long" | "half-close" | "reset" | "leave" | undefined = undefined;
  /** It did not read all the time: messages to it may not have arrived. */
  hasPaused = false;
  /** What it says once it is answered; undefined where it says at once what it has to say. */
  #unsaid: Buffer[] | undefined;

  /** @param isPatient Whether it sends no frame before it is answered, as RFC 6455 §4.1 asks, and does not leave either. */
  constructor(port: number, open: Open, key: string, isPatient = false) {
    this.open = open;
    this.key = key;
    this.#socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    this.#socket.on("error", () => {});
    this.#socket.on("data", (part: Buffer) => {
      this.#came.push(part);
      if (this.#unsaid !== undefined && this.answer !== undefined) this.#sayAll(this.#unsaid);
    });
    this.#socket.on("end", () => (this.hasEnded = true));
    const path = `/${open.kind}/${open.handler}/${key}/${open.isLate ? "late" : "now"}`;
    this.#write(Buffer.from([`GET ${path} HTTP/1.1`, "host: h", ...offers[open.kind], "", ""].join("\r\n")));
    if (isPatient) this.#unsaid = [];
  }

  #sayAll(unsaid: readonly Buffer[]): void {
    this.#unsaid = undefined;
    for (const bytes of unsaid) this.#write(bytes);
  }

  take(step: Step): void {
    const isSocket = this.open.kind === "socket";
    if (this.#unsaid !== undefined && /half-close|reset|leave/.test(step.does)) return;
    switch (step.does) {
      case "say":
        return isSocket ? this.#say(step.text, step.parts) : this.#sayBytes(step.text);
      case "send bytes":
        return isSocket ? this.#end("bytes", [frame(0x82, "bytes")]) : this.#sayBytes("bytes");
      case "ping":
        if (isSocket && this.closing === undefined) {
          this.pinged.push("ping");
          this.#write(frame(0x89, "ping"));
        }
        return;
      case "close":
        return isSocket ? this.#end("close", [frame(0x88, "\u0003\u00e8")]) : undefined;
      case "break":
        return isSocket ? this.#end("break", [Buffer.from([0xff, 0xff, 0, 0])]) : undefined;
      case "half-close":
        if (this.#socket.writable) this.#socket.end();
        this.closing ??= "half-close";
        return;
      case "reset":
        this.closing = "reset";
        this.#reset();
        return;
      case "leave":
        this.closing = "leave";
        this.#socket.destroy();
        return;
      case "stop reading":
        this.hasPaused = true;
        this.#socket.pause();
        return;
      case "read on":
        this.#socket.resume();
        return;
      default:
        throw new Error(`no client does that: ${step.does}`);
    }
  }

  /** Whether all its messages are sent back, and its connection ends in order. */
  isOrderly(): boolean {
    if (this.open.handler === "floods") return false;
    const end = this.open.kind === "socket" ? "close" : "half-close";
    return this.closing === end && !this.hasPaused && !this.#socket.destroyed;
  }

  /** Waits for the answer that it does not leave without. */
  async answered(): Promise<void> {
    if (this.#unsaid !== undefined) this.#socket.resume();
    while (this.#unsaid !== undefined && !this.hasEnded && !this.#socket.destroyed)
      await Promise.race([once(this.#socket, "data"), once(this.#socket, "end"), once(this.#socket, "close")]);
  }

  /** Waits for the end of what the server sends. */
  async ended(): Promise<void> {
    while (!this.hasEnded && !this.#socket.destroyed)
      await Promise.race([once(this.#socket, "end"), once(this.#socket, "close")]);
  }

  async leave(): Promise<void> {
    if (this.#socket.closed) return;
    const closed = once(this.#socket, "close");
    this.#reset();
    await closed;
  }

  // Node keeps the handle of a socket that is reset while its side is being ended.
  #reset(): void {
    if (this.#socket.writableEnded) this.#socket.destroy();
    else this.#socket.resetAndDestroy();
  }

  /** The received head, and the bytes after it; undefined if no whole head arrived. */
  get answer(): { readonly head: string; readonly rest: Buffer } | undefined {
    const all = Buffer.concat(this.#came);
    this.#came = [all];
    const end = all.indexOf("\r\n\r\n");
    return end === -1 ? undefined : { head: all.toString("latin1", 0, end), rest: all.subarray(end + 4) };
  }

  #say(text: string, parts: number): void {
    if (this.closing !== undefined) return;
    if (text.length > 20_000) this.closing = "too long";
    else this.said.push(text);
    const size = Math.ceil(text.length / parts);
    for (let i = 0; i < parts; i++) {
      const isLast = i === parts - 1;
      this.#write(
        frame((isLast ? 0x80 : 0) | (i === 0 ? 1 : 0), text.slice(i * size, isLast ? undefined : (i + 1) * size)),
      );
      // A ping may be between the fragments of a message (RFC 6455 §5.4).
      if (!isLast) this.pinged.push("between");
      if (!isLast) this.#write(frame(0x89, "between"));
    }
  }

  #sayBytes(text: string): void {
    if (this.closing !== undefined || !this.#socket.writable) return;
    this.said.push(text);
    this.#write(Buffer.from(text));
  }

  #end(how: "close" | "break" | "bytes", frames: readonly Buffer[]): void {
    if (this.closing !== undefined) return;
    this.closing = how;
    for (const frame of frames) this.#write(frame);
  }

  #write(bytes: Buffer): void {
    if (this.#unsaid !== undefined) this.#unsaid.push(bytes);
    else if (this.#socket.writable) this.#socket.write(bytes);
  }
}

/** A frame as a client sends it, its mask of zeros. */
function frame(first: number, text: string): Buffer {
  const { length } = text;
  const size = length < 126 ? [0x80 | length] : [0x80 | 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([first, ...size, 0, 0, 0, 0]), Buffer.from(text, "latin1")]);
}

/** The frames of a server, which have no mask; what is cut at the end counts for nothing. */
export function heardOf(bytes: Buffer): Heard {
  const texts: string[] = [];
  const pongs: string[] = [];
  let closed: number | undefined;
  for (let at = 0; at + 2 <= bytes.length;) {
    const first = bytes[at] as number;
    const short = bytes[at + 1] as number;
    const size = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (at + size > bytes.length) break;
    const length =
      short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2));
    if (at + size + length > bytes.length) break;
    const payload = bytes.toString("latin1", at + size, at + size + length);
    at += size + length;
    if (closed !== undefined) throw new Error(`a frame ${first.toString(16)} behind the close`);
    if (first === 0x81) texts.push(payload);
    else if (first === 0x8a) pongs.push(payload);
    else if (first === 0x88) closed = length >= 2 ? payload.charCodeAt(0) * 256 + payload.charCodeAt(1) : 1005;
    else if (first !== 0x89) throw new Error(`a frame ${first.toString(16)}`);
  }
  return { texts, pongs, closed };
}
