/** The namespace `Decompress`. */
import { isListOf, needs, needsCount, needsOptions } from "../../src/arguments.ts";
import type { BodyDecoding } from "../../src/doors/inputs.ts";
import { CallerBudget } from "../../src/doors/base.ts";
import { DecodedBody, decodings } from "./decoding.ts";
import type { BodyCoding } from "./decoding.ts";

/** The options of `Decompress.make`. */
export interface DecompressOptions {
  /** What is read: `["gzip", "br", "zstd", "deflate"]` by default, without zstd where the runtime lacks it. */
  readonly encodings?: readonly BodyCoding[];
  /**
   * How many times longer than it arrived a body may be: 200 by default, of which the first 64 KiB are free. JSON is rarely 20
   * times longer; a bomb is a thousand times longer.
   */
  readonly maxRatio?: number;
  /**
   * The memory of all decoders, in bytes: 256 MiB by default. One client network may have an eighth of it. A body chooses the
   * window of its decoder, up to 8 MiB by zstd and 16 MiB by brotli. One that finds no memory is a 503 `busy`.
   */
  readonly maxMemory?: number;
}

/** The least share of one client: the largest window, and what is next to it. */
const maxOfOne = 17_000_000;

const known: ReadonlySet<unknown> = new Set(["gzip", "br", "zstd", "deflate"]);

/**
 * Reads bodies with a `Content-Encoding`, for the option `decompress` of an app. `maxBody`, `bodyBudget` and the `max` of a
 * stream hold for what comes out. Another coding, or two, is 415 with `Accept-Encoding`; a body that is not in its coding is
 * 400 `unreadable`, and one that grows by more than `maxRatio` is 413 `too_large`.
 *
 * @throws Error for an option out of range.
 *
 * @example
 * ```ts
 * await serve(routes, { port: 8080, decompress: Decompress.make() });
 * ```
 */
export function make(options: DecompressOptions = {}): BodyDecoding {
  needsOptions("Decompress.make", options, "encodings maxRatio maxMemory");
  const { encodings = decodings, maxRatio = 200, maxMemory = 268_435_456 } = options;
  const isList = isListOf(encodings, (one) => known.has(one)) && encodings.length > 0;
  needs(isList, "Decompress.make: encodings", encodings, 'a list of "gzip", "br", "zstd" and "deflate"');
  needs(Number.isFinite(maxRatio) && maxRatio >= 1, "Decompress.make: maxRatio", maxRatio, "a number, 1 or more");
  needsCount("Decompress.make: maxMemory", maxMemory);
  const memory = new CallerBudget(maxMemory, Math.max(Math.floor(maxMemory / 8), Math.min(maxMemory, maxOfOne)));
  // A runtime may lack zstd.
  const read = [...new Set(encodings)].filter((one) => decodings.includes(one));
  return {
    encodings: read.length === 0 ? ["identity"] : read,
    decoded: (source, [given, ...others], caller) => {
      const encoding = read.find((one) => one === (given === "x-gzip" ? "gzip" : given));
      // Several would multiply how much a body grows.
      if (encoding === undefined || others.length > 0) return undefined;
      return new DecodedBody(source, encoding, { maxRatio, memory, caller: caller.network ?? "" });
    },
  };
}
