/** The frames of one random client, as bytes. */
import type { Socket } from "node:net";
import { beginning, frame, headerBlock, requestBlock } from "../../support/http2-client.ts";
import type { Client, Sent, Settings, Wrong } from "./script.ts";

const endStream = 1;
const endHeaders = 4;
const padded = 8;

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
/** The identifiers of settings (RFC 9113 §6.5.2). */
const setting = (id: number, value: number): Buffer => Buffer.concat([Buffer.of(0, id), uint32(value)]);
const windowSize = 4;
const wide = 2 ** 31 - 1;

const settings: { readonly [what in Settings]: Buffer } = {
  ack: frame("settings", 1, 0),
  "no window": frame("settings", 0, 0, setting(windowSize, 0)),
  "wide window": frame("settings", 0, 0, setting(windowSize, wide)),
  "short frames": frame("settings", 0, 0, setting(5, 16_384)),
  "no table": frame("settings", 0, 0, setting(1, 0)),
  "too wide": frame("settings", 0, 0, setting(windowSize, 2 ** 31)),
  push: frame("settings", 0, 0, setting(2, 1)),
};

const socketBlock = headerBlock([
  [":method", "CONNECT"],
  [":protocol", "websocket"],
  [":scheme", "https"],
  [":path", "/socket"],
  [":authority", "h"],
  ["sec-websocket-version", "13"],
]);
/** A text, masked by zeroes (RFC 6455 §5.3). */
const hi = Buffer.from("\x81\x82\0\0\0\0hi", "latin1");

/** Writes what one connection sends, and numbers its streams. */
export class FrameWriter {
  readonly #socket: Socket;
  /** The number of requests that it sent. */
  requests = 0;
  /** Those of its streams, the newest first. */
  readonly #streams: number[] = [];
  #next = 1;
  /** Bytes that arrive with the next write. */
  #left: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  begin({ begins }: Client): void {
    if (begins === "open") this.#left = beginning();
    else this.#left = beginning(setting(windowSize, begins === "no window" ? 0 : wide));
  }

  send(frames: readonly Sent[], cut = 0): void {
    const bytes = Buffer.concat([this.#left, ...frames.map((one) => this.#bytesOf(one))]);
    const at = Math.max(0, bytes.byteLength - cut);
    this.#left = bytes.subarray(at);
    if (this.#socket.writable) this.#socket.write(bytes.subarray(0, at));
  }

  #bytesOf(sent: Sent): Buffer {
    switch (sent.does) {
      case "get":
        return frame("headers", endStream | endHeaders, this.#opened(), requestBlock(sent.path));
      case "get in pieces":
        return inPieces(this.#opened(), requestBlock(sent.path), sent.pieces, sent.isWhole);
      case "post":
        return frame("headers", endHeaders, this.#opened(), requestBlock(sent.path, "POST"));
      case "connect":
        return Buffer.concat([
          frame("headers", endHeaders, this.#opened(), socketBlock),
          frame("data", 0, this.#stream(0), hi),
        ]);
      case "data": {
        const flags = (sent.ends ? endStream : 0) | (sent.pads ? padded : 0);
        const length = Math.max(0, sent.length - (sent.pads ? 1 : 0));
        const payload = Buffer.alloc(length);
        return frame(
          "data",
          flags,
          this.#stream(sent.on),
          sent.pads ? Buffer.concat([Buffer.of(0), payload]) : payload,
        );
      }
      case "trailers":
        return frame("headers", endStream | endHeaders, this.#stream(sent.on), headerBlock([["x", "y"]]));
      case "reset":
        return frame("reset", 0, this.#stream(sent.on), uint32(sent.code));
      case "window":
        return frame("window", 0, sent.on === "connection" ? 0 : this.#stream(sent.on), uint32(sent.by));
      case "settings":
        return settings[sent.what];
      case "ping":
        return Buffer.concat(Array.from({ length: sent.times }, () => frame("ping", 0, 0, Buffer.alloc(8))));
      case "goaway":
        return frame("goaway", 0, 0, Buffer.concat([uint32(0), uint32(sent.code)]));
      case "again":
        return frame("headers", endStream | endHeaders, this.#stream(sent.on), requestBlock(sent.path));
      case "wrong":
    }
    return this.#wrong(sent.what);
  }

  #wrong(what: Wrong): Buffer {
    switch (what) {
      case "DATA on a stream that is idle":
        return frame("data", 0, this.#next + 100, Buffer.from("x"));
      case "PUSH_PROMISE":
        return frame("push", endHeaders, this.#stream(0), Buffer.concat([uint32(2), requestBlock("/ok")]));
      case "CONTINUATION alone":
        return frame("continuation", endHeaders, this.#stream(0), requestBlock("/ok"));
      case "a type that is unknown": {
        const bytes = frame("ping", 0, this.#stream(0), Buffer.from("unknown"));
        bytes[3] = 0x42;
        return bytes;
      }
      case "PING of 7 bytes":
        return frame("ping", 0, 0, Buffer.alloc(7));
      case "RST_STREAM on 0":
        return frame("reset", 0, 0, uint32(8));
      case "a frame past its limit":
        return frame("data", 0, this.#stream(0), Buffer.alloc(16_385));
      case "an even stream":
        return frame("headers", endStream | endHeaders, 2, requestBlock("/ok"));
      case "HEADERS that are malformed":
        return frame("headers", endStream | endHeaders, this.#opened(), headerBlock([["UPPER", "x"]]));
      case "HEADERS that cannot be decoded":
        return frame("headers", endStream | endHeaders, this.#opened(), Buffer.of(0xff, 0xff, 0xff, 0xff, 0xff));
      case "WINDOW_UPDATE past the limit":
        return Buffer.concat([wide, wide].map((by) => frame("window", 0, this.#stream(0), uint32(by))));
      case "PRIORITY on itself":
    }
    return frame("priority", 0, this.#stream(0), Buffer.concat([uint32(this.#stream(0)), Buffer.of(1)]));
  }

  #opened(): number {
    const stream = this.#next;
    this.#next += 2;
    this.requests++;
    this.#streams.unshift(stream);
    return stream;
  }

  #stream(on: number): number {
    return this.#streams[on] ?? 1;
  }
}

function inPieces(stream: number, block: Buffer, pieces: number, isWhole: boolean): Buffer {
  const step = Math.ceil(block.byteLength / (pieces + 1));
  return Buffer.concat(
    Array.from({ length: pieces + 1 }, (_, i) => {
      const part = block.subarray(i * step, (i + 1) * step);
      const flags = i === pieces && isWhole ? endHeaders : 0;
      return i === 0 ? frame("headers", endStream | flags, stream, part) : frame("continuation", flags, stream, part);
    }),
  );
}
