import { Problem } from "../refusals/problem.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { holdsInt64 } from "./int64-within.ts";
import { kindOf } from "./kind.ts";
import { isDeepValue, parseJson } from "./parse-json.ts";
import { compile } from "./read/compile.ts";
import { Reading } from "./read/reading.ts";
import { notJson, tooDeep } from "./sentences.ts";
import type { Shape } from "./shape.ts";

/** Reads JSON into the values of a shape, or tells everything that is wrong with it. */
export interface JsonReader<out A> {
  /** Reads the bytes of a body; a body with nothing in it is an empty object. */
  readonly read: (body: Uint8Array, at?: string) => Result<A, readonly Problem[]>;
  /** Reads the text of a body, as {@link read} does. */
  readonly readText: (text: string, at?: string) => Result<A, readonly Problem[]>;
  /** Reads what was parsed already. Parts that read as they are become parts of the value: they belong to it now. */
  readonly readValue: (value: unknown, at: string) => Result<A, readonly Problem[]>;
}

// The byte order mark is no part of JSON (RFC 8259 §8.1): left in, the parser refuses it.
const utf8 = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Makes the reader of a shape, once, when the app is made.
 *
 * @throws Error for a schema no JSON can be; the caller says which route has it.
 */
export function compileReader<A, Json>(shape: Shape<A, Json>): JsonReader<A> {
  const kind = kindOf(shape);
  const { read } = compile(kind);
  // Asked at the first text: a recursive shape may name schemas that are made after this one.
  let exact: boolean | undefined;

  const readJson = (value: unknown, at: string): Result<A, readonly Problem[]> => {
    const reading = new Reading(at);
    const result = read(value, reading);
    return reading.count === 0 ? ok(result as A) : error(reading.problems);
  };
  const readText = (text: string, at = "body"): Result<A, readonly Problem[]> => {
    const parsed = parseJson(text, (exact ??= holdsInt64(kind)));
    return parsed.ok ? readJson(parsed.value, at) : refused(parsed.error, at);
  };
  return {
    readText,
    readValue: (value, at) => (isDeepValue(value) ? refused("too_deep", at) : readJson(value, at)),
    read: (body, at = "body") => {
      let text: string;
      try {
        text = utf8.decode(body);
      } catch {
        return refused("malformed", at);
      }
      return readText(text, at);
    },
  };
}

function refused(code: "malformed" | "too_deep", at: string): Result<never, readonly Problem[]> {
  return error([new Problem(at, code, code === "malformed" ? notJson : tooDeep)]);
}
