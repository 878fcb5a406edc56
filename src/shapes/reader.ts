import { Problem } from "../refusals/problem.ts";
import { ok } from "../result.ts";
import { holdsInt64 } from "./int64-within.ts";
import { kindOf } from "./kind.ts";
import { isDeepValue, parseJson } from "./parse-json.ts";
import { compile } from "./read/compile.ts";
import { Reading } from "./read/reading.ts";
import { notJson, tooDeep } from "./sentences.ts";
import type { Shape } from "./shape.ts";

/** What was read, or what is wrong with it: as many problems as may be listed, and how many more there are where there are. */
export type ReadJson<A> =
  | { readonly ok: true; readonly value: A }
  | { readonly ok: false; readonly error: readonly Problem[]; readonly more?: number };

/** Reads JSON into the values of a shape, or tells what is wrong with it: `most` problems, 1,000 unless given. */
export interface JsonReader<out A> {
  /** Reads the bytes of a body; a body with nothing in it is an empty object. */
  readonly read: (body: Uint8Array, at?: string, most?: number) => ReadJson<A>;
  /** Reads the text of a body, as {@link read} does. */
  readonly readText: (text: string, at?: string, most?: number) => ReadJson<A>;
  /** Reads what was parsed already. Parts that read as they are become parts of the value: they belong to it now. */
  readonly readValue: (value: unknown, at: string) => ReadJson<A>;
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

  const readJson = (value: unknown, at: string, most?: number): ReadJson<A> => {
    const reading = new Reading(at, most);
    const result = read(value, reading);
    if (reading.count === 0) return ok(result as A);
    const { problems, more } = reading;
    return more === 0 ? { ok: false, error: problems } : { ok: false, error: problems, more };
  };
  const readText = (text: string, at = "body", most?: number): ReadJson<A> => {
    const parsed = parseJson(text, (exact ??= holdsInt64(kind)));
    return parsed.ok ? readJson(parsed.value, at, most) : refused(parsed.error, at);
  };
  return {
    readText,
    readValue: (value, at) => (isDeepValue(value) ? refused("too_deep", at) : readJson(value, at)),
    read: (body, at = "body", most) => {
      let text: string;
      try {
        text = utf8.decode(body);
      } catch {
        return refused("malformed", at);
      }
      return readText(text, at, most);
    },
  };
}

function refused(code: "malformed" | "too_deep", at: string): ReadJson<never> {
  return { ok: false, error: [new Problem(at, code, code === "malformed" ? notJson : tooDeep)] };
}
