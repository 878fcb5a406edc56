import * as zlib from "node:zlib";
import type { Parts } from "../../src/doors/events.ts";
import { turns } from "./turns.ts";

/** What is kept of a stream between two parts, so that a part can repeat what was in the ones before: zlib's state is 90 KiB. */
const historyBytes = 4096;
/** A longer part is compressed outside of the event loop's thread. */
const longBytes = 32_768;
/** What is compressed at a time of a longer part. */
const sliceBytes = 1_048_576;
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
  readonly #caller: string;
  /** What is left of a part that is compressed in slices. */
  #rest: Uint8Array = none;
  #history: Uint8Array = none;
  #checksum = 0;
  #length = 0;
  #isBegun = false;
  #isOver = false;

  /** @param network Of the client: compressions of one caller take turns with those of others. */
  constructor(parts: Parts, level: number, network: string | undefined) {
    this.#parts = parts;
    this.#level = level;
    this.#caller = network ?? "";
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    // At once: Bun sends the head of a response with its first part, for which the subscriber of an event stream may wait long.
    if (!this.#isBegun) {
      this.#isBegun = true;
      return { done: false, value: header.slice() };
    }
    while (!this.#isOver) {
      const next = this.#rest.byteLength > 0 ? this.#rest : await this.#parts.next();
      // Its client may have left meanwhile.
      if (this.#isOver) break;
      const part = this.#sliced(next);
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
    this.#rest = none;
    await this.#parts.cancel();
    return { done: true, value: undefined };
  }

  /** The first slice of a part, whose checksum alone takes milliseconds. */
  #sliced(part: Uint8Array | undefined): Uint8Array | undefined {
    this.#rest = part?.subarray(sliceBytes) ?? none;
    return part?.subarray(0, sliceBytes);
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
    return this.#inTurn(part, options);
  }

  async #inTurn(part: Uint8Array, options: zlib.ZlibOptions): Promise<Uint8Array> {
    const bytes = await turns.run(this.#caller, false, () => {
      return new Promise<Uint8Array>((resolve, reject) => {
        // Its client has left while it waited for its turn.
        if (this.#isOver) resolve(none);
        else zlib.deflateRaw(part, options, (failed, bytes) => (failed === null ? resolve(bytes) : reject(failed)));
      });
    });
    return bytes ?? none;
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
