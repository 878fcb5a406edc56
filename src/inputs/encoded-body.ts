/** The seam of a body's `Content-Encoding` (RFC 9110 §8.4): the core knows only whether a body has one. */
import type { Caller } from "../fair-store.ts";
import { itemsOf } from "../http/fields.ts";
import { Refusal, sentenceOf, unsupportedMediaType } from "../refusals.ts";
import type { BodySource } from "./body-source.ts";

/** How an app reads encoded bodies, made by `Decompress.make`. */
export interface BodyDecoding {
  /** The content codings that are read, in lower case. */
  readonly encodings: readonly string[];
  /**
   * The body as it was before its codings, which are in lower case and in the order they were applied; undefined where they are not
   * read. Nothing of it is read before the first read.
   */
  readonly decoded: (source: BodySource, encodings: readonly string[], caller: Caller) => DecodedSource | undefined;
}

/** A body without its coding; its length is not known. */
export interface DecodedSource extends BodySource {
  /** Nothing more is read: the decoder's memory is given back. */
  close(): void;
}

/** The codings of a body, in lower case, without `identity`. */
export function encodingsOf(lines: readonly string[]): readonly string[] {
  return itemsOf(lines).flatMap((item) => (/^(?:identity)?$/i.test(item) ? [] : item.toLowerCase()));
}

const detail = "the body has a Content-Encoding that is not read";

/** The 415 for a body whose coding is not read, with those that are (RFC 9110 §15.5.16). */
export function encodingRefusal(accepted = "identity"): Refusal<"unsupported_media_type"> {
  const headers = [["accept-encoding", accepted]] as const;
  return new Refusal(unsupportedMediaType, sentenceOf(unsupportedMediaType), { headers, detail });
}
