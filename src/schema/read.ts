import { Problem } from "../refusals.ts";
import { ok } from "../result.ts";
import { notJson, tooDeep } from "./messages.ts";
import { holdsInt64, isDeepValue, parseJson } from "./parse-json.ts";
import { intersectReader, lazyReader, unionReader, variantReader } from "./read-choice.ts";
import { anyReader, listReader, objectReader, recordReader, tupleReader } from "./read-container.ts";
import { fallbackReader, valibotReader, optionalReader, pipeReader, builtInReader } from "./read-pipe.ts";
import { booleanReader, nothingReader, nullReader, numberReader, textReader, enumReader } from "./read-scalar.ts";
import { namesOfStandard, ownNames } from "./own-names.ts";
import { JsonReading } from "./reading.ts";
import type { Reader } from "./reading.ts";
import { kindOf, builtInOf, refuseKind } from "./valibot.ts";
import { noteIssues } from "./issues.ts";
import { isCompiled } from "./standard.ts";
import type { AnyStandard } from "./standard.ts";
import { checkStandard, validate, validateNow } from "./validate.ts";
import type { Validated } from "./validate.ts";
import type { Kind } from "./valibot.ts";

const compiled = new WeakMap<Kind, Reader>();

/** The reader of a schema, made once. */
export function compileRead(shape: Kind): Reader {
  let reader = compiled.get(shape);
  if (reader === undefined) compiled.set(shape, (reader = make(shape)));
  return reader;
}

function make(shape: Kind): Reader {
  refuseKind(shape);
  if (shape.fallback !== undefined) return fallbackReader(shape, compileRead);
  const builtIn = builtInOf(shape);
  if (builtIn !== undefined) return builtInReader(builtIn);
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

/** The value, or the problems: those listed, and how many more there are. */
export type ReadJson<A> =
  | { readonly ok: true; readonly value: A }
  | { readonly ok: false; readonly error: readonly Problem[]; readonly more?: number };

/** Reads JSON into the values of a shape, or returns its problems: at most `max`, 1,000 by default. */
export interface JsonReader<out A> {
  /** As {@link read} and {@link readText}; by a promise where a schema of another library validates by one. */
  readonly readBody: (body: Uint8Array | string, at?: string, max?: number) => ReadJson<A> | Promise<ReadJson<A>>;
  /** Reads the bytes of a body; an empty body is an empty object. */
  readonly read: (body: Uint8Array, at?: string, max?: number) => ReadJson<A>;
  /** Reads the text of a body, like {@link read}. */
  readonly readText: (text: string, at?: string, max?: number) => ReadJson<A>;
  /** Reads parsed JSON. Parts that need no change become part of the value, which owns them from then on. */
  readonly readValue: (value: unknown, at: string) => ReadJson<A>;
}

// A byte order mark is not part of JSON (RFC 8259 §8.1): the decoder keeps it, and the parser refuses it.
const utf8 = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Makes the reader of a shape, once, with the app.
 *
 * @throws Error for a schema that has no JSON; the caller names its route.
 */
export function compileReader<A>(shape: AnyStandard<unknown, A>): JsonReader<A> {
  return isCompiled(shape) ? compiledReader<A>(shape) : standardReader<A>(shape);
}

function compiledReader<A>(shape: AnyStandard<unknown, A>): JsonReader<A> {
  const kind = kindOf(shape);
  const reader = compileRead(kind);
  const names = ownNames(kind);
  // Computed at the first text: a recursive shape may use schemas that are made after this one.
  let exact: boolean | undefined;

  const readJson = (value: unknown, at: string, max?: number): ReadJson<A> => {
    const reading = new JsonReading(at, max, names);
    const result = reader.read(value, reading);
    return reading.count === 0 ? ok(result as A) : problemsOf(reading);
  };
  const readText = (text: string, at = "body", max?: number): ReadJson<A> => {
    const parsed = parseJson(text, (exact ??= holdsInt64(kind)));
    return parsed.ok ? readJson(parsed.value, at, max) : unreadableJson(parsed.error, at);
  };
  const read: JsonReader<A>["read"] = (body, at = "body", max) => {
    const text = decodedBody(body);
    return text === undefined ? unreadableJson("malformed", at) : readText(text, at, max);
  };
  return {
    read,
    readText,
    readValue: (value, at) => (isDeepValue(value) ? unreadableJson("too_deep", at) : readJson(value, at)),
    readBody: (body, at, max) => (typeof body === "string" ? readText(body, at, max) : read(body, at, max)),
  };
}

/** The text of a body; undefined where it is not UTF-8. */
function decodedBody(body: Uint8Array): string | undefined {
  try {
    return utf8.decode(body);
  } catch {
    return undefined;
  }
}

/** The reader of a schema of another library, which gets the JSON as the framework parses it. */
function standardReader<A>(schema: AnyStandard<unknown, A>): JsonReader<A> {
  checkStandard(schema);
  const names = namesOfStandard(schema);
  /** Calls `run` with the parsed JSON, or returns why it is not JSON. */
  const parsed = <R>(
    body: Uint8Array | string,
    at: string,
    max: number | undefined,
    run: (value: unknown, reading: JsonReading) => R,
  ): R | ReadJson<never> => {
    const text = typeof body === "string" ? body : decodedBody(body);
    if (text === undefined) return unreadableJson("malformed", at);
    const json = parseJson(text, false);
    return json.ok ? withJson(json.value, new JsonReading(at, max, names), run) : unreadableJson(json.error, at);
  };
  const now = (value: unknown, reading: JsonReading): ReadJson<A> =>
    readOf(validateNow(schema, value, "here"), value, reading);
  const awaited = (value: unknown, reading: JsonReading): ReadJson<A> | Promise<ReadJson<A>> => {
    const validated = validate(schema, value);
    if (!(validated instanceof Promise)) return readOf(validated, value, reading);
    return validated.then((validated) => readOf(validated, value, reading));
  };
  return {
    read: (body, at = "body", max) => parsed(body, at, max, now),
    readText: (text, at = "body", max) => parsed(text, at, max, now),
    readValue: (value, at) =>
      isDeepValue(value) ? unreadableJson("too_deep", at) : withJson(value, new JsonReading(at, undefined, names), now),
    readBody: (body, at = "body", max) => parsed(body, at, max, awaited),
  };
}

/** As `v.unknown()` reads it: without the names that would change a prototype, and without numbers that are too large. */
function withJson<R>(
  value: unknown,
  reading: JsonReading,
  run: (value: unknown, reading: JsonReading) => R,
): R | ReadJson<never> {
  const json = anyReader.read(value, reading);
  return reading.count === 0 ? run(json, reading) : problemsOf(reading);
}

function readOf<A>(validated: Validated, sent: unknown, reading: JsonReading): ReadJson<A> {
  if (validated.ok) return ok(validated.value as A);
  noteIssues(validated.issues, sent, reading);
  return problemsOf(reading);
}

function problemsOf({ problems, more }: JsonReading): ReadJson<never> {
  return more === 0 ? { ok: false, error: problems } : { ok: false, error: problems, more };
}

function unreadableJson(code: "malformed" | "too_deep", at: string): ReadJson<never> {
  return { ok: false, error: [new Problem(at, code, code === "malformed" ? notJson : tooDeep)] };
}
