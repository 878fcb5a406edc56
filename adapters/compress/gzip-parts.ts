import * as zlib from "node:zlib";
import type { Parts } from "../../src/events/stream.ts";

/** What is kept of a stream between two parts, so that a part can repeat what was in the ones before: zlib's state is 90 KiB. */
const historyBytes = 4096;
/** A longer part is compressed outside of the event loop's thread. */
const longBytes = 32_768;
/** The magic number, deflate, and neither a name nor a time (RFC 1952 §2.3). */
const header = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff);
/** A last block that is empty (RFC 1951 §3.2.6). */
const lastBlock = Uint8Array.of(3, 0);
const none = new Uint8Array();

/**
 * A stream by gzip, each part of which can be read when it arrives. A part is deflated by itself, and ends at a whole byte.
 * No generator: its `return` would wait for a pending `next`.
 */
export class GzippedParts implements AsyncIterator<Uint8Array> {
  readonly #parts: Parts;
  readonly #level: number;
  #history: Uint8Array = none;
  #checksum = 0;
  #length = 0;
  #isBegun = false;
  #isOver = false;

  constructor(parts: Parts, level: number) {
    this.#parts = parts;
    this.#level = level;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    // At once: Bun sends the head of a response with its first part, for which the subscriber of an event stream may wait long.
    if (!this.#isBegun) {
      this.#isBegun = true;
      return { done: false, value: header.slice() };
    }
    while (!this.#isOver) {
      const part = await this.#parts.next();
      this.#isOver = part === undefined;
      if (part?.byteLength === 0) continue;
      const value = part === undefined ? Buffer.concat([lastBlock, this.#trailer()]) : await this.#deflated(part);
      return { done: false, value };
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#isOver = true;
    this.#history = none;
    await this.#parts.cancel();
    return { done: true, value: undefined };
  }

  #deflated(part: Uint8Array): Uint8Array | Promise<Uint8Array> {
    const isLong = part.byteLength > longBytes;
    const options: zlib.ZlibOptions = {
      level: this.#level,
      finishFlush: zlib.constants.Z_SYNC_FLUSH,
      // What comes out of a short part fits: the default of 16 KiB is made for each.
      ...(isLong ? {} : { windowBits: 13, memLevel: 6, chunkSize: Math.min(part.byteLength + 64, 16_384) }),
      ...(this.#history.byteLength === 0 ? {} : { dictionary: this.#history }),
    };
    this.#checksum = crc32(part, this.#checksum);
    this.#length += part.byteLength;
    this.#history = lastOf(this.#history, part);
    if (!isLong) return zlib.deflateRawSync(part, options);
    return new Promise((resolve, reject) => {
      zlib.deflateRaw(part, options, (failed, bytes) => (failed === null ? resolve(bytes) : reject(failed)));
    });
  }

  #trailer(): Uint8Array {
    const bytes = Buffer.alloc(8);
    bytes.writeUInt32LE(this.#checksum);
    bytes.writeUInt32LE(this.#length % 2 ** 32, 4);
    return bytes;
  }
}

/** A copy of the last bytes of what was sent. */
function lastOf(before: Uint8Array, part: Uint8Array): Uint8Array {
  if (part.byteLength >= historyBytes) return Uint8Array.prototype.slice.call(part, -historyBytes);
  const kept = before.subarray(Math.max(0, before.byteLength + part.byteLength - historyBytes));
  const last = new Uint8Array(kept.byteLength + part.byteLength);
  last.set(kept);
  last.set(part, kept.byteLength);
  return last;
}

const table = new Uint32Array(256).map((_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 0 ? value >>> 1 : (value >>> 1) ^ 0xedb88320;
  return value;
});

/** Node has it since 20.15. */
const crc32: (bytes: Uint8Array, before: number) => number =
  (zlib as { readonly crc32?: (bytes: Uint8Array, before: number) => number }).crc32 ?? crc32ByTable;

function crc32ByTable(bytes: Uint8Array, before: number): number {
  let value = ~before;
  for (const byte of bytes) value = (value >>> 8) ^ (table[(value ^ byte) & 0xff] as number);
  return ~value >>> 0;
}
