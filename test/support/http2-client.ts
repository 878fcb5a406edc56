/** Clients of HTTP/2: Node's own, which ends with its test, and one that writes frames. */
import { once } from "node:events";
import { connect } from "node:http2";
import { connect as connectTcp } from "node:net";
import type { Socket } from "node:net";
import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import { endsWithTest } from "./ends.ts";

const open: { destroy(): unknown }[] = [];
endsWithTest(() => {
  for (const session of open.splice(0)) session.destroy();
});

export interface Http2Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Name, value, name, value…, as they arrived. */
  readonly raw: readonly string[];
  readonly body: string;
  readonly bytes: Buffer;
}

/** @param origin `https://127.0.0.1:8443`; `http:` is h2c by prior knowledge. */
export async function http2Client(origin: string, options: object = {}): Promise<ClientHttp2Session> {
  const session = connect(origin, options);
  open.push(session);
  session.on("error", () => {});
  await Promise.race([
    once(session, "connect"),
    once(session, "close").then(() => Promise.reject(new Error("closed"))),
  ]);
  return session;
}

/** Sends a request, its body given, and reads the whole response. Rejects where the stream was reset before its end. */
export async function http2Ask(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string | Uint8Array | readonly (string | Uint8Array)[],
): Promise<Http2Answer> {
  const stream = session.request(headers, { endStream: body === undefined });
  if (body !== undefined) {
    for (const part of Array.isArray(body) ? body : [body]) stream.write(part);
    stream.end();
  }
  return answerOf(stream);
}

async function answerOf(stream: ClientHttp2Stream): Promise<Http2Answer> {
  const parts: Buffer[] = [];
  stream.on("data", (part: Buffer) => parts.push(part));
  const ended = new Promise<void>((resolve, reject) => {
    stream.on("error", reject).on("close", () => {
      if (stream.rstCode === 0) resolve();
      else reject(new Error(`the stream was reset with ${stream.rstCode}`));
    });
  });
  const [[headers, , raw]] = await Promise.all([responseOf(stream), ended]);
  const bytes = Buffer.concat(parts);
  return { status: Number(headers[":status"]), headers, raw, body: bytes.toString(), bytes };
}

function responseOf(stream: ClientHttp2Stream): Promise<[IncomingHttpHeaders, number, readonly string[]]> {
  return new Promise((resolve, reject) => {
    stream.once("response", (headers: IncomingHttpHeaders, flags: number, ...[raw]: unknown[]) =>
      resolve([headers, flags, raw as readonly string[]]),
    );
    stream.once("close", () => reject(new Error(`the stream ended without a response, by ${stream.rstCode}`)));
  });
}

export const frameTypes = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  continuation: 9,
};

/** A frame (RFC 9113 §4.1). */
export function frame(
  type: keyof typeof frameTypes,
  flags: number,
  stream: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.byteLength, 0, 3);
  head[3] = frameTypes[type];
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** What every client begins with: the preface and its settings. */
export const beginning = (settings: Uint8Array = Buffer.alloc(0)): Buffer =>
  Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame("settings", 0, 0, settings)]);

/** A header block without compression (RFC 7541 §6.2.2). */
export function headerBlock(headers: Iterable<readonly [name: string, value: string]>): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of headers) parts.push(Buffer.of(0), literal(name), literal(value));
  return Buffer.concat(parts);
}

export const requestBlock = (path: string, method = "GET"): Buffer =>
  headerBlock([
    [":method", method],
    [":scheme", "https"],
    [":path", path],
    [":authority", "h"],
  ]);

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  const { length } = bytes;
  if (length < 127) return Buffer.concat([Buffer.of(length), bytes]);
  const digits = [0x7f];
  let left = length - 127;
  for (; left >= 128; left = Math.floor(left / 128)) digits.push((left % 128) + 128);
  digits.push(left);
  return Buffer.concat([Buffer.from(digits), bytes]);
}

/** A client that writes frames, takes nothing that its window does not allow, and acknowledges each PING. */
export class FrameClient {
  /** What arrived in DATA frames. */
  bytes = 0;
  endsStream = false;
  /** The streams that the server has reset, and with which code. */
  readonly resets: (readonly [stream: number, code: number])[] = [];
  /** The codes of the frames that announce the connection's end. */
  readonly goaways: number[] = [];
  isClosed = false;
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  #left: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => {
      socket.on("close", () => {
        this.isClosed = true;
        resolve();
      });
    });
    socket.on("data", (part: Buffer) => this.#read(Buffer.concat([this.#left, part])));
  }

  static async to(port: number, settings?: Uint8Array): Promise<FrameClient> {
    const socket = connectTcp(port, "127.0.0.1").on("error", () => {});
    open.push(socket);
    await once(socket, "connect");
    const client = new FrameClient(socket);
    socket.write(beginning(settings));
    return client;
  }

  write(...given: Parameters<typeof frame>): void {
    this.#socket.write(frame(...given));
  }

  #read(bytes: Buffer): void {
    let at = 0;
    while (bytes.length >= at + 9 && bytes.length >= at + 9 + bytes.readUIntBE(at, 3)) {
      const length = bytes.readUIntBE(at, 3);
      if (bytes[at + 3] === frameTypes.data) this.bytes += length;
      if (bytes[at + 3] === frameTypes.data && ((bytes[at + 4] as number) & 1) === 1) this.endsStream = true;
      if (bytes[at + 3] === frameTypes.reset)
        this.resets.push([bytes.readUInt32BE(at + 5), bytes.readUInt32BE(at + 9)]);
      if (bytes[at + 3] === frameTypes.goaway) this.goaways.push(bytes.readUInt32BE(at + 13));
      // A server that stops may wait for the acknowledgement (RFC 9113 §6.8).
      if (bytes[at + 3] === frameTypes.ping && bytes[at + 4] === 0)
        this.write("ping", 1, 0, bytes.subarray(at + 9, at + 9 + length));
      at += 9 + length;
    }
    this.#left = bytes.subarray(at);
  }
}
