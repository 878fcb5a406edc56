import * as zlib from "node:zlib";
import { readParts } from "../../src/doors/events.ts";
import type { StreamBody } from "../../src/doors/events.ts";
import { GzippedParts } from "./gzip-parts.ts";

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
  if (coding === "zstd") return zlib.zstdCompressSync(bytes, zstdOptions(level));
  return zlib.brotliCompressSync(bytes, { params: brotliParams(level, bytes.byteLength) });
}

/** What an encoder writes at a time. */
const chunkSize = 65_536;

/** @param length Of a stream, which does not know it otherwise: then the frame has it. */
function zstdOptions(level: number, length?: number): zlib.ZstdOptions {
  const params = { [constants.ZSTD_c_compressionLevel]: Math.ceil(level / 2) };
  return length === undefined ? { params } : { params, pledgedSrcSize: length };
}

function brotliParams(level: number, length: number): { readonly [parameter: number]: number } {
  return { [constants.BROTLI_PARAM_QUALITY]: Math.ceil(level / 2), [constants.BROTLI_PARAM_SIZE_HINT]: length };
}

/** A longer body is compressed outside of the event loop, which 5 MB of JSON would block for 60 ms by gzip. */
export const longBytes = 102_400;
/** How much is compressed at a time: of a client that leaves, the rest is not. */
const sliceBytes = 262_144;

/** A whole body, outside of the event loop. Undefined once the client has gone. */
export async function compressLater(
  bytes: Uint8Array,
  coding: Coding,
  level: number,
  gone: AbortSignal,
): Promise<Uint8Array | undefined> {
  const encoder = encoderOf(coding, level, bytes.byteLength);
  const parts: Buffer[] = [];
  encoder.on("data", (part: Buffer) => parts.push(part));
  const ended = new Promise<void>((resolve, reject) => encoder.on("end", resolve).on("error", reject));
  // Its error is that of the write that is awaited.
  ended.catch(() => {});
  try {
    for (let at = 0; at < bytes.byteLength; at += sliceBytes) {
      if (gone.aborted) return undefined;
      await written(encoder, bytes.subarray(at, at + sliceBytes));
    }
    encoder.end();
    await ended;
    return Buffer.concat(parts);
  } finally {
    encoder.destroy();
  }
}

function written(encoder: Encoder, part: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    encoder.write(part, (failed) => (failed === null || failed === undefined ? resolve() : reject(failed)));
  });
}

type Encoder = zlib.Gzip | zlib.BrotliCompress;

function encoderOf(coding: Coding, level: number, length: number): Encoder {
  if (coding === "gzip") return zlib.createGzip({ level, chunkSize });
  if (coding === "zstd") return zlib.createZstdCompress({ chunkSize, ...zstdOptions(level, length) });
  return zlib.createBrotliCompress({ chunkSize, params: brotliParams(level, length) });
}

/** A stream by gzip, each part of which can be read when it arrives. */
export function compressStream(body: StreamBody, level: number, network: string | undefined): StreamBody {
  const { parts, begin, stop, stopWithServer, typeWithTextKinds } = body;
  return {
    kind: "stream",
    source: body,
    parts: {
      [Symbol.asyncIterator]: () => new GzippedParts(readParts({ parts }), level, network),
      get produced() {
        return parts.produced;
      },
    },
    ...(begin === undefined ? {} : { begin }),
    ...(stop === undefined ? {} : { stop }),
    ...(stopWithServer === undefined ? {} : { stopWithServer }),
    ...(typeWithTextKinds === undefined ? {} : { typeWithTextKinds }),
  };
}
