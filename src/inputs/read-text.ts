import type { AnyCodec } from "../codecs/codec.ts";
import { Problem } from "../refusals/problem.ts";
import type { GivenText } from "./query-text.ts";

/** Reads one text by its codec: the value, or the problem at its place. */
export function readText(codec: AnyCodec, text: string, at: string): unknown {
  const read = codec.parse(text);
  return read.ok ? read.value : new Problem(at, "malformed", read.error);
}

/** Reads a text whose bytes may be no UTF-8. */
export function readGiven(codec: AnyCodec, given: GivenText, at: string): unknown {
  return given === null ? notText(codec, at) : readText(codec, given, at);
}

/** A text that could not be decoded, told as the codec tells what it cannot read. */
export function notText(codec: AnyCodec, at: string): Problem {
  // A codec that reads any text has no sentence for this one.
  const read = codec.parse("\ufffd");
  return new Problem(at, "malformed", read.ok ? "This is not text." : read.error);
}

export function required(at: string): Problem {
  return new Problem(at, "required", "This is required.");
}
