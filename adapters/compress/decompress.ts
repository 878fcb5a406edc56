/** The namespace `Decompress`. */
import { isListOf, needs, needsObject } from "../../src/arguments.ts";
import type { BodyDecoding } from "../../src/inputs/encoded-body.ts";
import { DecodedBody, decodings } from "./decoding.ts";
import type { BodyCoding } from "./decoding.ts";

/** The options of {@link make}. */
export interface DecompressOptions {
  /** What is read: `["gzip", "br", "zstd", "deflate"]` by default, without zstd where the runtime lacks it. */
  readonly encodings?: readonly BodyCoding[];
  /**
   * How many times longer than it arrived a body may be: 200 by default, of which the first 64 KiB are free. JSON is rarely 20
   * times longer; a bomb is a thousand times longer.
   */
  readonly maxRatio?: number;
}

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
  needsObject("Decompress.make: options", options);
  const { encodings = decodings, maxRatio = 200 } = options;
  const isList = isListOf(encodings, (one) => known.has(one)) && encodings.length > 0;
  needs(isList, "Decompress.make: encodings", encodings, 'a list of "gzip", "br", "zstd" and "deflate"');
  needs(Number.isFinite(maxRatio) && maxRatio >= 1, "Decompress.make: maxRatio", maxRatio, "a number, 1 or more");
  // A runtime may lack zstd.
  const read = [...new Set(encodings)].filter((one) => decodings.includes(one));
  return {
    encodings: read.length === 0 ? ["identity"] : read,
    decoded: (source, [given, ...others]) => {
      const encoding = read.find((one) => one === (given === "x-gzip" ? "gzip" : given));
      // Several would multiply how much a body grows.
      return encoding === undefined || others.length > 0 ? undefined : new DecodedBody(source, encoding, maxRatio);
    },
  };
}
