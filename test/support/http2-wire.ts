/** A client that writes any bytes on a connection of HTTP/2, and reads the frames that come back. */
import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { endsWithTest } from "./ends.ts";
import { beginning, frameTypes } from "./http2-client.ts";

const open: Socket[] = [];
endsWithTest(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

/** With SETTINGS_HEADER_TABLE_SIZE of 0, so that each head can be read by itself. */
export const start: Uint8Array = beginning(Buffer.from([0, 1, 0, 0, 0, 0]));
const endStream = 1;

/** What became of a stream. */
export interface StreamSeen {
  /** The status of each head: an interim one first. */
  readonly statuses: readonly number[];
  readonly text: string;
  /** The server has ended its side. */
  readonly ended: boolean;
  /** The code of RST_STREAM. */
  readonly reset: number | undefined;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class WireClient {
  readonly streams: Map<number, StreamSeen> = new Map();
  /** The code of GOAWAY, after it arrived. */
  goaway: number | undefined = undefined;
  /** The number of PING frames that were acknowledged. */
  pongs = 0;
  closed = false;
  readonly socket: Socket;
  #left: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("close", () => (this.closed = true));
    socket.on("data", (part: Buffer) => this.#read(Buffer.concat([this.#left, part])));
  }

  /** @param first What it begins with: the preface and its settings, unless given. */
  static async to(port: number, first: Uint8Array = start): Promise<WireClient> {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    open.push(socket);
    await once(socket, "connect");
    const client = new WireClient(socket);
    socket.setNoDelay().write(first);
    return client;
  }

  /** The same over TLS, where ALPN chooses HTTP/2 (RFC 7301). Any certificate will do. */
  static async toSecure(port: number, first: Uint8Array = start): Promise<WireClient> {
    const options = { port, host: "127.0.0.1", ALPNProtocols: ["h2"], rejectUnauthorized: false };
    const socket = connectTls(options).on("error", () => {});
    open.push(socket);
    await once(socket, "secureConnect");
    const client = new WireClient(socket);
    socket.setNoDelay().write(first);
    return client;
  }

  write(...frames: readonly Uint8Array[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  /** What became of a stream so far. */
  seen(stream: number): StreamSeen {
    return this.streams.get(stream) ?? { statuses: [], text: "", ended: false, reset: undefined };
  }

  #read(bytes: Buffer): void {
    let at = 0;
    while (bytes.length >= at + 9 && bytes.length >= at + 9 + bytes.readUIntBE(at, 3)) {
      const length = bytes.readUIntBE(at, 3);
      const [type, flags] = [bytes[at + 3] as number, bytes[at + 4] as number];
      this.#take(type, flags, bytes.readUInt32BE(at + 5), bytes.subarray(at + 9, at + 9 + length));
      at += 9 + length;
    }
    this.#left = bytes.subarray(at);
  }

  #take(type: number, flags: number, stream: number, payload: Buffer): void {
    if (type === frameTypes.goaway) this.goaway = payload.readUInt32BE(4);
    if (type === frameTypes.ping && flags === 1) this.pongs++;
    if (stream === 0) return;
    const seen: Mutable<StreamSeen> = { ...this.seen(stream) };
    if (type === frameTypes.headers) seen.statuses = [...seen.statuses, statusOf(payload)];
    if (type === frameTypes.data) seen.text += payload.toString();
    if (type === frameTypes.headers || type === frameTypes.data) seen.ended ||= (flags & endStream) !== 0;
    if (type === frameTypes.reset) seen.reset = payload.readUInt32BE(0);
    this.streams.set(stream, seen);
  }
}

/** The statuses that have an index of their own (RFC 7541, appendix A), from 8 on. */
const indexed = [200, 204, 206, 304, 400, 404, 500];

/** The status of a response, which is its first field (RFC 9113 §8.3). */
function statusOf(block: Buffer): number {
  let at = 0;
  // An update of the table's size comes before it (RFC 7541 §6.3).
  while (((block[at] as number) & 0xe0) === 0x20) at++;
  const first = block[at] as number;
  if ((first & 0x80) !== 0) return indexed[(first & 0x7f) - 8] as number;
  const length = block[at + 1] as number;
  const value = block.subarray(at + 2, at + 2 + (length & 0x7f));
  return Number((length & 0x80) === 0 ? value.toString() : digitsOf(value));
}

/** Digits in Huffman's code (RFC 7541, appendix B): 0 to 2 have five bits, the others six. */
function digitsOf(coded: Buffer): string {
  let bits = [...coded].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  let digits = "";
  while (digits.length < 3) {
    const isShort = bits.startsWith("000");
    digits += isShort ? Number.parseInt(bits.slice(0, 5), 2) : Number.parseInt(bits.slice(0, 6), 2) - 0x19 + 3;
    bits = bits.slice(isShort ? 5 : 6);
  }
  return digits;
}
