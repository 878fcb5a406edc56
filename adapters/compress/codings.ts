import * as zlib from "node:zlib";
import { readParts } from "../../src/events/stream.ts";
import type { Parts, StreamBody } from "../../src/events/stream.ts";

/** A content coding of HTTP (RFC 9110 §8.4.1; RFC 7932, RFC 8878). */
export type Coding = "gzip" | "br" | "zstd";

/** Those that the runtime has: zstd is in Node since 22.15. */
export const encodings: readonly Coding[] =
  typeof (zlib as { readonly zstdCompressSync?: unknown }).zstdCompressSync === "function"
    ? ["gzip", "br", "zstd"]
    : ["gzip", "br"];

const { constants } = zlib;

/**
 * A whole body, at once: its head needs the length. 100 KiB of JSON take 1 ms by gzip.
 *
 * @param level Of gzip: brotli's and zstd's are those of about the same cost.
 */
export function compressBytes(bytes: Uint8Array, coding: Coding, level: number): Uint8Array {
  if (coding === "gzip") return zlib.gzipSync(bytes, { level });
  if (coding === "zstd") {
    return zlib.zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: Math.ceil(level / 2) } });
  }
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: Math.ceil(level / 2),
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
  };
  return zlib.brotliCompressSync(bytes, { params });
}

/** A stream by gzip, each part of which can be read when it arrives. */
export function compressStream(body: StreamBody, level: number): StreamBody {
  const { parts, begin, typeWithTextKinds } = body;
  return {
    kind: "stream",
    parts: {
      [Symbol.asyncIterator]: () => new GzippedParts(readParts({ kind: "stream", parts }), level),
      get produced() {
        return parts.produced;
      },
    },
    ...(begin === undefined ? {} : { begin }),
    ...(typeWithTextKinds === undefined ? {} : { typeWithTextKinds }),
  };
}

/** No generator: its `return` would wait for a pending `next`. */
class GzippedParts implements AsyncIterator<Uint8Array> {
  readonly #parts: Parts;
  // A window of 4 KiB: 24 KiB of state for a stream that is open, and not 260.
  readonly #gzip: zlib.Gzip;
  #isOver = false;

  constructor(parts: Parts, level: number) {
    this.#parts = parts;
    const flush = constants.Z_SYNC_FLUSH;
    // What is written is read before more is written, so no bound may stop it between. The types lack this option of streams.
    const unbounded = { highWaterMark: Number.MAX_SAFE_INTEGER };
    this.#gzip = zlib.createGzip({ level, windowBits: 12, memLevel: 4, flush, ...unbounded });
    // `write` and `end` report it, too.
    this.#gzip.on("error", () => {});
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    try {
      while (!this.#isOver) {
        const part = await this.#parts.next();
        this.#isOver = part === undefined;
        const bytes = part === undefined ? await this.#trailer() : await this.#compressed(part);
        if (bytes !== null) return { done: false, value: bytes };
      }
      return { done: true, value: undefined };
    } catch (thrown) {
      this.#gzip.close();
      throw thrown;
    }
  }

  #compressed(part: Uint8Array): Promise<Uint8Array | null> {
    return new Promise((resolve, reject) => {
      this.#gzip.write(part, (failed) => {
        if (failed === undefined || failed === null) resolve(this.#gzip.read() as Uint8Array | null);
        else reject(failed);
      });
    });
  }

  // The callback of `end` is called before the trailer is there.
  async #trailer(): Promise<Uint8Array> {
    this.#gzip.end();
    const bytes: Uint8Array[] = [];
    for await (const part of this.#gzip) bytes.push(part as Uint8Array);
    return Buffer.concat(bytes);
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#isOver = true;
    this.#gzip.close();
    await this.#parts.cancel();
    return { done: true, value: undefined };
  }
}
