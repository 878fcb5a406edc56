import { decimalOf } from "../codecs/codec.ts";
import type { AnyCodec, Codec, SchemaOfText } from "../codecs/codec.ts";
import type { Problem } from "../refusals.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { noteIssues } from "../schema/issues.ts";
import { joined, oneOf } from "../schema/messages.ts";
import { compileRead } from "../schema/read.ts";
import { JsonReading } from "../schema/reading.ts";
import type { ReadValue } from "../schema/reading.ts";
import { isCompiled } from "../schema/standard.ts";
import type { AnyStandard, StandardSchema } from "../schema/standard.ts";
import { authorMessage, builtInOf, flattened, kindOf, makesAnother, refuseKind, wholeBy } from "../schema/valibot.ts";
import type { Choice, Kind, Shape } from "../schema/valibot.ts";
import { checkStandard, validateNow } from "../schema/validate.ts";
import { compileShapeWriter } from "../schema/write.ts";
import { WrongText } from "./text.ts";

/**
 * A schema of one text, in a path, a query, a header, a cookie or a form: its JSON is a text, a number, or true or false. The
 * text is read as that JSON value, and then checked as a body's member is.
 */
export type TextSchema<A = unknown> = Shape<A, ScalarJson>;

/** How a text is read: by a codec or by a schema. */
export type TextKind<A, S> = Codec<A, S> | SchemaKind<A, S>;

/** A schema; the error for one that is not read from one text has the sentence. */
export type SchemaKind<A, Json> = (Shape<A, Json> & IsText<Json>) | (StandardSchema<Json, A> & TakesText<Json>);
type IsText<Json> = [Json] extends [ScalarJson]
  ? unknown
  : "A schema of one text is of a string, a number or a boolean.";
type TakesText<Json> = [string] extends [Json]
  ? unknown
  : [Json] extends [string]
    ? unknown
    : "This schema gets the text itself: use one that takes a string, as z.coerce.number().";

/** A codec or a schema of any type. */
export type AnyTextKind = AnyCodec | AnyStandard;

/** The JSON values that one text can be. */
export type ScalarJson = string | number | boolean;

/** The codec of an input that was declared with a codec or with a schema. `at` is the input's place: `query.limit`. */
export function codecFor(given: unknown, at: string): AnyCodec {
  const isHolder = (typeof given === "object" && given !== null) || typeof given === "function";
  if (isHolder && "~standard" in given) {
    return isCompiled(given as AnyStandard) ? schemaCodec(given as Shape, at) : standardCodec(given as AnyStandard, at);
  }
  if (isHolder && "parse" in given && "print" in given) return given as AnyCodec;
  return { parse: ok, print: String, schema: withoutJson(given, "by neither a codec nor a schema") };
}

function withoutJson(shape: unknown, problem?: string): SchemaOfText {
  return { problem, shape, jsonOf: anyText.of, takesAnyText: true, keepsValue: false };
}

/** Makes a codec of a schema of another library, which gets the text itself. Its output is printed as JavaScript prints it. */
function standardCodec(schema: AnyStandard, at: string): AnyCodec {
  const checked = tried(() => checkStandard(schema));
  if (!checked.ok) return { parse: ok, print: String, schema: withoutJson(schema, checked.error) };
  return {
    parse: (text) => {
      const validated = validateNow(schema, text, "for a text");
      if (validated.ok) return validated;
      const reading = new JsonReading(at);
      noteIssues(validated.issues, text, reading);
      return new WrongText(reading.problems as [Problem, ...Problem[]]);
    },
    print: (value: string | number | boolean | bigint | object | null | undefined) => {
      if (value instanceof Date) return Number.isNaN(value.getTime()) ? "" : value.toISOString();
      return typeof value === "object" || value === undefined ? "" : String(value);
    },
    schema: withoutJson(schema),
  };
}

/** Makes a codec of a schema, once, when the input is declared. A schema that no text has is a problem for `App.make`. */
function schemaCodec(shape: Shape, at: string): AnyCodec {
  const { scalar, read, problem } = compileText(kindOf(shape), at);
  // A reading without problems, for the next text.
  let spare: JsonReading | undefined;
  let write: ((value: never) => Result<string, string>) | undefined;
  return {
    parse: (text) => {
      const reading = spare ?? new JsonReading(at);
      // A check of the application may itself read a text.
      spare = undefined;
      const json = scalar.of(text);
      const value = json === undefined ? scalar.wrong?.(text, reading) : read(json, reading);
      if (reading.count > 0) return new WrongText(reading.problems as [Problem, ...Problem[]]);
      spare = reading;
      return ok(value);
    },
    print: (value) => {
      write ??= writerOf(shape);
      const written = write(value);
      // A list, an object or null is not one text.
      if (!written.ok || /^[[{n]/.test(written.value)) return "";
      return written.value.startsWith('"') ? (JSON.parse(written.value) as string) : written.value;
    },
    schema: {
      problem,
      shape,
      jsonOf: scalar.of,
      takesAnyText: scalar.wrong === undefined,
      keepsValue: problem === undefined && !makesAnother(kindOf(shape)),
    },
  };
}

// A schema may read what no writer writes, as `v.toDate`: it is then only read.
function writerOf(shape: Shape): (value: never) => Result<string, string> {
  try {
    return compileShapeWriter(shape).write;
  } catch {
    return () => ({ ok: false, error: "has no JSON" });
  }
}

/** How a text becomes the JSON value that a schema reads. */
interface TextScalar {
  readonly of: (text: string) => ScalarJson | undefined;
  /** Adds the problem of a text that is no such value; undefined where every text is one. */
  readonly wrong?: (text: string, reading: JsonReading) => void;
  /** What it expects, in the words of `This is not …`. */
  readonly expects: string;
}

interface CompiledText {
  readonly scalar: TextScalar;
  readonly read: ReadValue;
  readonly problem: string | undefined;
}

const anyText: TextScalar = { of: (text) => text, expects: "text" };

function compileText(kind: Kind, at: string): CompiledText {
  const compiled = tried(() => ({ scalar: scalarOf(kind, at), read: compileRead(kind).read, problem: undefined }));
  return compiled.ok ? compiled.value : { scalar: anyText, read: (value) => value, problem: compiled.error };
}

/** What is compiled, or why it cannot be, for `App.make`. */
function tried<A>(compile: () => A): Result<A, string> {
  try {
    return ok(compile());
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return error(thrown instanceof NoText ? reason : `by a schema that no text has: ${reason}`);
  }
}

/** Thrown for a schema that is not read from one text. */
class NoText extends Error {}

function scalarOf(kind: Kind, at: string): TextScalar {
  const [first, ...behind] = kind.pipe === undefined || builtInOf(kind) !== undefined ? [kind] : flattened(kind);
  const inner = first === kind ? sortOf(kind, undefined, at) : sortOf(first, wholeBy(first, behind), at);
  // The fallback replaces a text that is no such value.
  const withFallback = first.fallback !== undefined || kind.fallback !== undefined;
  return withFallback ? { of: (text) => inner.of(text) ?? text, expects: inner.expects } : inner;
}

function sortOf(kind: Kind, whole: object | undefined, at: string): TextScalar {
  const builtIn = builtInOf(kind);
  if (builtIn !== undefined) return builtIn.type === "string" ? anyText : digits(kind);
  switch (kind.type) {
    case "string":
    case "custom":
      return anyText;
    case "number":
      return number(kind, whole !== undefined);
    case "boolean":
      return malformed(kind, "true or false", (text) =>
        text === "true" ? true : text === "false" ? false : undefined,
      );
    case "union":
      return wordsOf(kind) === undefined ? anyOf(kind, at) : wordScalar(kind);
    case "literal":
    case "picklist":
    case "enum":
      return wordScalar(kind);
    default:
      refuseKind(kind);
      throw new NoText(noText(kind, at));
  }
}

function malformed(kind: Kind, expects: string, of: TextScalar["of"]): TextScalar {
  return {
    of,
    expects,
    wrong: (text, reading) => reading.wrong("malformed", authorMessage(kind, text, `This is not ${expects}.`)),
  };
}

/** A number as `Codec.float` reads it; of whole numbers "-0" is 0, as `Codec.int` reads it. */
function number(kind: Kind, isWhole: boolean): TextScalar {
  return malformed(kind, isWhole ? "a whole number" : "a number", (text) => {
    const value = decimalOf(text);
    if (Number.isNaN(value)) return undefined;
    return isWhole && value === 0 ? 0 : value;
  });
}

/** A 64-bit number keeps its digits. */
function digits(kind: Kind): TextScalar {
  return malformed(kind, "a whole number", (text) => (/^-?[0-9]+$/.test(text) ? text : undefined));
}

/** The words of a schema that has only words. */
function wordsOf(kind: Kind): readonly unknown[] | undefined {
  if (kind.pipe !== undefined || kind.fallback !== undefined) return undefined;
  if (kind.type === "literal") return [kind.literal];
  if (kind.type === "picklist" || kind.type === "enum") return kind.options;
  if (kind.type !== "union") return undefined;
  const words = kind.options.map(wordsOf);
  return words.includes(undefined) ? undefined : words.flatMap((some) => some ?? []);
}

function wordScalar(kind: Kind): TextScalar {
  const words = (wordsOf({ ...kind, pipe: undefined, fallback: undefined } as unknown as Kind) ?? []) as ScalarJson[];
  const byText = new Map<string, ScalarJson>();
  for (const word of words) {
    const text = String(word);
    if (word === null || word === undefined) throw new NoText(`by a schema with ${text}, which no text is`);
    if ((byText.get(text) ?? word) !== word) {
      throw new NoText(`by a schema with two words that are the text ${JSON.stringify(text)}`);
    }
    byText.set(text, word);
  }
  const expects = oneOf(words);
  return {
    of: (text) => byText.get(text),
    expects,
    wrong: (text, reading) => reading.wrong("unknown_word", authorMessage(kind, text, `This must be ${expects}.`)),
  };
}

/** The first option that reads the text without a problem; if none does, the first of its sort tells the problems. */
function anyOf(kind: Choice, at: string): TextScalar {
  const options = kind.options.map((option) => ({ scalar: scalarOf(option, at), read: compileRead(option).read }));
  const expects = joined(options.map(({ scalar }) => scalar.expects));
  const of = (text: string): ScalarJson | undefined => {
    let ofItsSort: ScalarJson | undefined;
    for (const { scalar, read } of options) {
      const json = scalar.of(text);
      if (json === undefined) continue;
      const trial = new JsonReading("");
      read(json, trial);
      if (trial.count === 0) return json;
      ofItsSort ??= json;
    }
    return ofItsSort;
  };
  const takesAny = options.some(({ scalar }) => scalar.wrong === undefined);
  return takesAny ? { of, expects } : malformed(kind, expects, of);
}

/** Why a schema is not read from one text, and what to write instead. */
function noText(kind: Kind, at: string): string {
  const place = namespaceOf(at);
  const named = `by v.${kind.type}`;
  switch (kind.type) {
    case "optional":
    case "exact_optional":
    case "undefinedable":
    case "nullish":
      if (place === "Path") return `${named}, and a path parameter is never missing: take the schema inside`;
      return `${named}, which is said in one way: use ${place}.optional, or ${place === "Cookie" ? "Dep.map" : `${place}.default`} for a default`;
    case "nullable":
    case "null":
      return `${named}, and a text is never null`;
    case "any":
    case "unknown":
      return `${named}, which says nothing of a text: use v.string`;
    case "array":
      if (place === "Path" || place === "Cookie") return `${named}, which is not one text`;
      return `${named}, which is not one text: give ${place}.list the schema of one item`;
    default:
      return `${named}, which is not read from one text`;
  }
}

function namespaceOf(at: string): string {
  return at.charAt(0).toUpperCase() + at.slice(1, at.indexOf("."));
}
