import { Problem } from "../refusals.ts";
import { ok } from "../result.ts";
import { notJson, tooDeep } from "./messages.ts";
import { holdsInt64, isDeepValue, parseJson } from "./parse-json.ts";
import { intersectReader, lazyReader, unionReader, variantReader } from "./read-choice.ts";
import { anyReader, listReader, objectReader, recordReader, tupleReader } from "./read-container.ts";
import { fallbackReader, valibotReader, optionalReader, pipeReader, builtInReader } from "./read-pipe.ts";
import { booleanReader, nothingReader, nullReader, numberReader, textReader, enumReader } from "./read-scalar.ts";
import { JsonReading } from "./reading.ts";
import type { Reader } from "./reading.ts";
import { kindOf, builtInOf, refuseKind } from "./valibot.ts";
import type { Kind, Shape } from "./valibot.ts";

const compiled = new WeakMap<Kind, Reader>();

/** The reader of a schema, made once for each. */
export function compileRead(shape: Kind): Reader {
  let reader = compiled.get(shape);
  if (reader === undefined) compiled.set(shape, (reader = make(shape)));
  return reader;
}

function make(shape: Kind): Reader {
  refuseKind(shape);
  if (shape.fallback !== undefined) return fallbackReader(shape, compileRead);
  const readyMade = builtInOf(shape);
  if (readyMade !== undefined) return builtInReader(readyMade);
  if (shape.pipe !== undefined) return pipeReader(shape, compileRead);
  if ("entries" in shape) return objectReader(shape, compileRead);
  if ("items" in shape) return tupleReader(shape, compileRead);
  if ("wrapped" in shape) return optionalReader(shape, compileRead);
  switch (shape.type) {
    case "string":
      return textReader(shape);
    case "number":
      return numberReader(shape);
    case "boolean":
      return booleanReader(shape);
    case "null":
      return nullReader(shape);
    case "literal":
      return enumReader(shape, [shape.literal]);
    case "picklist":
    case "enum":
      return enumReader(shape, shape.options);
    case "record":
      return recordReader(shape, compileRead);
    case "array":
      return listReader(shape, compileRead);
    case "union":
      return unionReader(shape, compileRead);
    case "intersect":
      return intersectReader(shape, compileRead);
    case "variant":
      return variantReader(shape, compileRead);
    case "lazy":
      return lazyReader(shape, compileRead);
    case "any":
    case "unknown":
      return anyReader;
    case "never":
    case "undefined":
    case "void":
      return nothingReader(shape);
    default:
      return valibotReader(shape);
  }
}

/** What was read, or what is wrong with it: as many problems as may be listed, and how many more there are where there are. */
type ReadJson<A> =
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
  const { read } = compileRead(kind);
  // Asked at the first text: a recursive shape may name schemas that are made after this one.
  let exact: boolean | undefined;

  const readJson = (value: unknown, at: string, most?: number): ReadJson<A> => {
    const reading = new JsonReading(at, most);
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
