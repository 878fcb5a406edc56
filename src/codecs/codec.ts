import { needs, needsOptions } from "../arguments.ts";
import { decodeBase64url, encodeBase64url, keyOf } from "../http/bytes.ts";
import { FieldScanner } from "../http/fields.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { int32Range, isInt32 } from "./int32.ts";

declare const sent: unique symbol;

/**
 * Converts one type of value to text and back, in a path, a query, a header, a cookie or a form. `Sent` is the type that a
 * typed client takes: the value where the platform writes it as the codec does, and otherwise the text.
 */
export interface Codec<in out A, out Sent = unknown> {
  /** The value, or a sentence for the client. The sentence never quotes the text. */
  readonly parse: (text: string) => Result<A, string>;
  /** The text of a value. */
  readonly print: (value: A) => string;
  /** A header on several lines is read as one, the lines joined by `,`. */
  readonly list?: boolean;
  /** The API document's description of the text. */
  readonly text?: TextShape;
  readonly [sent]?: Sent;
}

/** The type that a typed client takes for a codec's value; text, where the codec's type does not give it. */
export type EncodedAs<Sent> = unknown extends Sent ? string : Sent;

/** A text's description in the API document. */
export interface TextShape {
  /** The type in JSON Schema. */
  readonly type: "string" | "integer" | "number" | "boolean";
  /** The format in JSON Schema, such as `uuid`. */
  readonly format?: string;
  /** The words that are allowed. */
  readonly enum?: readonly string[];
  /** The name that the author gave the type. */
  readonly kind?: string;
}

/** A codec of any type of value. */
export interface AnyCodec {
  /** The value, or a sentence for the client. */
  readonly parse: (text: string) => Result<unknown, string>;
  /** The text of a value. */
  readonly print: (value: never) => string;
  /** Whether a header on several lines is read as one. */
  readonly list?: boolean;
  /** The API document's description of the text. */
  readonly text?: TextShape;
  /** Set where it was made from a schema. */
  readonly schema?: SchemaOfText;
}

/** The schema that a codec was made from. */
export interface SchemaOfText {
  /** Why no text can be read by it. `App.make` says it after the route and the place: `GET /orders reads query.limit …`. */
  readonly problem: string | undefined;
  readonly shape: unknown;
  /** The JSON value that a text is; undefined for any other text. */
  readonly jsonOf: (text: string) => string | number | boolean | undefined;
  /** Whether any text is a value of its sort, so that only its rules refuse one. */
  readonly takesAnyText: boolean;
  /** Whether its values are what a text is: no transformation makes them, as far as is known. */
  readonly keepsValue: boolean;
}

/**
 * What the API document says of a text input, besides what its codec or its schema says. An example is what a typed client
 * takes, and the input must read it.
 */
export interface TextOptions<out Example = unknown> {
  /** Its description. */
  readonly doc?: string;
  /** A value that a client may send, as a typed client takes it. */
  readonly example?: Example;
  /** Several examples, in place of `example`. */
  readonly examples?: readonly Example[];
  /** Whether clients should stop sending it. */
  readonly deprecated?: boolean;
}

/** How many items a list may have. */
export interface ListBounds {
  /** With fewer items the list is a problem `too_few`. */
  readonly minItems?: number;
  /** With more items the list is a problem `too_many`. */
  readonly maxItems?: number;
}

/** The options of a list: how many items it may have, and what the document says of it. */
export interface ListOptions<out Example = unknown> extends TextOptions<readonly Example[]>, ListBounds {}

/**
 * The error for every text that a codec does not read. One frozen value, made with the codec: a hostile request costs no
 * allocation, and no sentence can quote its text.
 */
export function malformed(expects: string): Result<never, string> {
  return Object.freeze(error(`This is not ${expects}.`));
}

/**
 * A codec for a type of the application.
 *
 * @param options `kind` is its title in the API document. `parse` returns the value, or the whole sentence for the client,
 *   which must not quote the text. `list` marks a header that may be sent on several lines: they are read as one, joined
 *   by `,`.
 * @example
 * ```ts
 * const sku = Codec.custom({
 *   kind: "sku",
 *   parse: (text) => (/^[A-Z]{3}-[0-9]{4}$/.test(text) ? ok(text) : error("An article number is ABC-1234.")),
 *   print: (value: string) => value,
 * });
 * ```
 */
/* @__NO_SIDE_EFFECTS__ */
export function custom<A>(options: {
  readonly kind: string;
  readonly parse: (text: string) => Result<A, string>;
  readonly print: (value: A) => string;
  readonly list?: boolean;
}): Codec<A> {
  // `text` is a member of a codec that is copied: `{ ...codec, kind: "list" }`.
  needsOptions("Codec.custom", options, "kind parse print list text");
  const { kind, parse, print, list = false } = options;
  return { parse, print, list, text: { type: "string", kind } };
}

/**
 * Reads the rest of a field as elements with commas between them (RFC 9110 §5.6.1); undefined where one is malformed. A
 * recipient must skip empty elements.
 */
export function readElements<A>(field: FieldScanner, read: (field: FieldScanner) => A | undefined): A[] | undefined {
  const list: A[] = [];
  for (;;) {
    field.skipBlanks();
    if (field.take(",")) continue;
    if (field.done) return list;
    const element = read(field);
    if (element === undefined) return undefined;
    list.push(element);
    field.skipBlanks();
    if (!field.done && !field.take(",")) return undefined;
  }
}

/**
 * A codec of a list field. A list with an element that cannot be printed prints as nothing.
 *
 * @param options `least` is the smallest number of elements.
 */
export function elements<A>(options: {
  readonly expects: string;
  readonly least: 0 | 1;
  readonly read: (field: FieldScanner) => A | undefined;
  readonly print: (element: A) => string | undefined;
}): Codec<readonly A[]> {
  const { expects, least, read, print } = options;
  const notList = malformed(expects);
  return {
    parse: (text) => {
      const list = readElements(new FieldScanner(text), read);
      return list !== undefined && list.length >= least ? ok(list) : notList;
    },
    print: (list) => {
      const printed = list.map(print);
      return printed.includes(undefined) ? "" : printed.join(", ");
    },
    list: true,
    text: { type: "string" },
  };
}

/** Any text, unchanged. */
export const string: Codec<string, string> = { parse: ok, print: (value) => value, text: { type: "string" } };

const yes: Result<boolean, string> = { ok: true, value: true };
const no: Result<boolean, string> = { ok: true, value: false };
const neither = /* @__PURE__ */ malformed("true or false");

function parseBool(text: string): Result<boolean, string> {
  if (text === "true") return yes;
  return text === "false" ? no : neither;
}

/** `true` or `false`; case matters. */
export const bool: Codec<boolean, boolean> = {
  parse: parseBool,
  print: (value) => (value ? "true" : "false"),
  text: { type: "boolean" },
};

const notWhole = /* @__PURE__ */ malformed("a whole number");

function parseInteger(text: string): Result<number, string> {
  const negative = text.charCodeAt(0) === 0x2d;
  const start = negative ? 1 : 0;
  if (text.length === start) return notWhole;
  let value = 0;
  for (let at = start; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return notWhole;
    value = value * 10 + digit;
    if (value > Number.MAX_SAFE_INTEGER) return notWhole;
  }
  // Subtraction makes "-0" 0 and not -0.
  return ok(negative ? 0 - value : value);
}

function printInteger(value: number): string {
  if (!Number.isSafeInteger(value)) return "";
  return String(value);
}

/**
 * A whole number, −(2^53−1) to 2^53−1: digits with an optional `-`. Leading zeros are accepted. A number outside the range
 * is malformed, and prints as nothing.
 */
export const int: Codec<number, number> = { parse: parseInteger, print: printInteger, text: { type: "integer" } };

const notInt32 = /* @__PURE__ */ malformed(int32Range);

/**
 * A 32-bit whole number, −2^31 to 2^31−1, as PostgreSQL's `int` holds: `Type.int` takes each. A number outside the range is
 * malformed, and prints as nothing.
 */
export const int32: Codec<number, number> = {
  parse(text) {
    const read = parseInteger(text);
    return read.ok && isInt32(read.value) ? read : notInt32;
  },
  print: (value) => (isInt32(value) ? String(value) : ""),
  text: { type: "integer", format: "int32" },
};

// 2^63 has 19 digits. `BigInt` never gets a longer text, because its work grows faster than the text.
const maxDigits = 19;

function parseInt64(text: string): Result<bigint, string> {
  if (!/^-?[0-9]+$/.test(text)) return notWhole;
  const negative = text.charCodeAt(0) === 0x2d;
  let start = negative ? 1 : 0;
  while (text.charCodeAt(start) === 0x30) start++;
  if (text.length - start > maxDigits) return notWhole;
  // The rest of "000" is "", which BigInt reads as 0.
  const magnitude = BigInt(text.slice(start));
  const value = negative ? -magnitude : magnitude;
  return fits(value) ? ok(value) : notWhole;
}

function printInt64(value: bigint): string {
  return fits(value) ? String(value) : "";
}

function fits(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** A 64-bit whole number, −2^63 to 2^63−1, exact. A number outside the range is malformed, and prints as nothing. */
export const int64: Codec<bigint, bigint> = { parse: parseInt64, print: printInt64, text: { type: "integer" } };

const notNumber = /* @__PURE__ */ malformed("a number");

/** The number that a text is: NaN for any other text, an infinity past the range of a double. */
export function decimalOf(text: string): number {
  // Most numbers are digits alone: a loop reads them in a quarter of the 58 ns of the pattern. Fifteen of them are exact.
  if (text.length === 0 || text.length > 15) return byPattern(text);
  let value = 0;
  for (let at = 0; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return byPattern(text);
    value = value * 10 + digit;
  }
  return value;
}

function byPattern(text: string): number {
  return /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(text) ? Number(text) : Number.NaN;
}

function parseDecimal(text: string): Result<number, string> {
  const value = decimalOf(text);
  return Number.isFinite(value) ? ok(value) : notNumber;
}

function printDecimal(value: number): string {
  if (!Number.isFinite(value)) return "";
  return Object.is(value, -0) ? "-0" : String(value);
}

/**
 * A finite number, written `-12`, `0.5` or `2.5e-4`; `.5`, `5.`, `+3`, `inf` and `nan` are malformed. It prints the fewest
 * digits that read back as the same number, and nothing for infinity and NaN.
 */
export const float: Codec<number, number> = { parse: parseDecimal, print: printDecimal, text: { type: "number" } };

const notUuid = /* @__PURE__ */ malformed("a UUID");
// RFC 9562 §4: versions 1 to 8 of the variant 10x; the nil and the max UUID (§5.9, §5.10) have neither.
const versioned = /^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[1-8][0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$/;
const nil = "00000000-0000-0000-0000-000000000000";
const max = "ffffffff-ffff-ffff-ffff-ffffffffffff";

function parseUuid(text: string): Result<string, string> {
  return isUuid(text) ? ok(text.toLowerCase()) : notUuid;
}

function printUuid(value: string): string {
  return isUuid(value) ? value.toLowerCase() : "";
}

function isUuid(text: string): boolean {
  return versioned.test(text) || text === nil || text === max;
}

/**
 * A UUID (RFC 9562) of version 1 to 8, the nil UUID, or the max UUID, which must be in lower case. The others are read in
 * either case; the value and the printed text are in lower case. Text that is not a UUID prints as nothing.
 */
export const uuid: Codec<string, string> = {
  parse: parseUuid,
  print: printUuid,
  text: { type: "string", format: "uuid" },
};

/**
 * One of a set of words, named `Codec.enum`; case matters. Any other value prints as nothing.
 *
 * @param kind The name of the set in errors; the API document lists its words.
 * @example
 * ```ts
 * const size = Codec.enum("size", ["small", "large"]);
 * ```
 */
export function enumeration<const Words extends readonly string[]>(
  kind: string,
  words: Words,
): Codec<Words[number], Words[number]>;
/** One of a set of values, each written as its word. */
export function enumeration<A>(kind: string, values: readonly A[], word: (value: A) => string): Codec<A>;
export function enumeration<A>(
  kind: string,
  values: readonly A[],
  word: (value: A) => string = (value) => String(value),
): Codec<A> {
  needs(Array.isArray(values), "Codec.enum: its words", values, "a list");
  const byWord = new Map<string, Result<A, string>>();
  const words: string[] = [];
  for (const value of values) {
    const one = word(value);
    if (byWord.has(keyOf(one))) throw new Error(`Codec.enum: ${kind} has the word ${JSON.stringify(one)} twice`);
    byWord.set(keyOf(one), Object.freeze(ok(value)));
    words.push(one);
  }
  const noneOfThem = malformed(`one of ${words.join(", ")}`);
  return {
    parse: (text) => byWord.get(keyOf(text)) ?? noneOfThem,
    print: (value) => {
      const one = word(value);
      return byWord.has(keyOf(one)) ? one : "";
    },
    text: { type: "string", enum: words, kind },
  };
}

const notOurs = /* @__PURE__ */ malformed("a value this server wrote");
// A byte order mark at the start belongs to the text.
const utf8 = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function parseBase64url(text: string): Result<string, string> {
  const bytes = decodeBase64url(text);
  if (bytes === undefined) return notOurs;
  try {
    return ok(utf8.decode(bytes));
  } catch {
    return notOurs;
  }
}

function printBase64url(value: string): string {
  // A lone surrogate has no UTF-8: `TextEncoder` would write U+FFFD instead.
  return value.isWellFormed() ? encodeBase64url(new TextEncoder().encode(value)) : "";
}

/** Any Unicode text as base64url of its UTF-8, which a cookie can hold. Each text has one spelling. */
export const encoded: Codec<string> = { parse: parseBase64url, print: printBase64url, text: { type: "string" } };
