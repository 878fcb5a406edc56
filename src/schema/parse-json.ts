import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { int64 } from "./built-in.ts";
import { maxDepth } from "./messages.ts";
import { kindOf, builtInOf } from "./valibot.ts";
import type { Kind } from "./valibot.ts";

/** The end of the string that begins before `at`, or of the text. */
function endOfString(text: string, at: number): number {
  for (let quote = text.indexOf('"', at); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text.charCodeAt(before - 1) === 0x5c) before--;
    if ((quote - before) % 2 === 0) return quote;
  }
  return text.length;
}

/** Whether a text escapes half of a surrogate pair. For invalid JSON either result is fine. */
function escapesLoneSurrogate(text: string): boolean {
  for (let at = text.indexOf("\\"); at !== -1; at = text.indexOf("\\", at)) {
    const unit = escapedAt(text, at);
    at += unit === undefined ? 2 : 6;
    if (unit === undefined || !isHalf(unit)) continue;
    const next = escapedAt(text, at) ?? 0;
    if (unit > 0xdbff || !isHalf(next) || next < 0xdc00) return true;
    at += 6;
  }
  return false;
}

/** False also for NaN, from four characters that are not hex digits. */
function isHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function escapedAt(text: string, at: number): number | undefined {
  return text.startsWith("\\u", at) ? Number.parseInt(text.slice(at + 2, at + 6), 16) : undefined;
}

// Past 2^53 a number loses digits. Numbers of 20 digits and more are not 64-bit numbers and stay numbers, because making a
// bigint of a million digits is slow.
const long = /[0-9]{16}/;
const longInteger = /^-?[1-9][0-9]{15,18}$/;

// Half of a surrogate pair marks a number: no text that is read or written may contain it alone.
const mark = "\udc00";

/**
 * Parses JSON text without lone surrogates, with whole numbers of 16 to 19 digits as bigints. Throws as `JSON.parse` does.
 *
 * The parser gets the digits as text in a list of one. A list is not a member's name, so text that was not JSON before is
 * not JSON after.
 */
function parseExactly(text: string): unknown {
  if (!long.test(text)) return JSON.parse(text);
  if (!text.isWellFormed()) throw new SyntaxError("This is not Unicode text.");
  return withBigints(JSON.parse(marked(text)));
}

/** A whole number for `JSON.stringify`, which leaves its digits marked in the text. */
export class LongInteger {
  readonly #digits: string;

  constructor(value: bigint) {
    this.#digits = String(value);
  }

  toJSON(): string {
    return mark + this.#digits;
  }
}

/** The text with every {@link LongInteger} as a number. */
export function withDigits(text: string): string {
  return text.replace(/"\\udc00(-?[0-9]+)"/g, "$1");
}

function marked(text: string): string {
  let out = "";
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) at = endOfString(text, at + 1);
    else if (isOfNumber(unit)) {
      const start = at;
      while (isOfNumber(text.charCodeAt(at + 1))) at++;
      const token = text.slice(start, at + 1);
      if (!longInteger.test(token)) continue;
      out += `${text.slice(copied, start)}["${mark}${token}"]`;
      copied = at + 1;
    }
  }
  return out + text.slice(copied);
}

/** A digit, or `+ - . e E`. */
function isOfNumber(unit: number): boolean {
  return (unit >= 0x30 && unit <= 0x39) || unit === 0x2d || unit === 0x2e || unit === 0x2b || (unit | 0x20) === 0x65;
}

function withBigints(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const [only] = value as unknown[];
    if (value.length === 1 && typeof only === "string" && only.startsWith(mark)) return BigInt(only.slice(1));
  }
  const members = value as { [name: string]: unknown };
  for (const name of Object.keys(members)) {
    const member = members[name];
    if (typeof member === "object") members[name] = withBigints(member);
  }
  return value;
}

const exact = /* @__PURE__ */ builtInOf(/* @__PURE__ */ kindOf(int64));
const maxParts = 10_000;

/** Whether any part of a shape is a 64-bit number. */
export function holdsInt64(shape: Kind): boolean {
  const seen = new Set<unknown>();
  const waiting: unknown[] = [shape];
  while (waiting.length > 0) {
    const part = waiting.pop();
    if (typeof part !== "object" || part === null || seen.has(part)) continue;
    seen.add(part);
    const kind = part as Kind;
    if (exact !== undefined && builtInOf(kind) === exact) return true;
    if (kind.type === "lazy" && !seen.has(kind.getter)) {
      seen.add(kind.getter);
      // A getter may depend on the value, or make a new schema each time. Exact reading is then always correct, only slower.
      if (kind.getter.length > 0 || seen.size > maxParts) return true;
      waiting.push(kind.getter(undefined));
    }
    waiting.push(...kindsWithin(kind));
  }
  return false;
}

function kindsWithin(kind: Kind): unknown[] {
  const { entries, rest, key, value, item, items, wrapped, options, pipe } = kind as unknown as {
    [part: string]: unknown;
  };
  return [
    rest,
    key,
    value,
    item,
    wrapped,
    ...Object.values(entries ?? {}),
    ...list(items),
    ...list(options),
    ...list(pipe),
  ];
}

function list(parts: unknown): readonly unknown[] {
  return Array.isArray(parts) ? parts : [];
}

const quote = 0x22;
const backslash = 0x5c;
const notJson = /* @__PURE__ */ Object.freeze(error("malformed" as const));
const tooDeep = /* @__PURE__ */ Object.freeze(error("too_deep" as const));
const blank = /^[ \t\n\r]*$/;

/**
 * Parses JSON text (RFC 8259) with `JSON.parse`; blank text is an empty object.
 *
 * @param exact Reads whole numbers that are too long for a JavaScript number as bigints.
 */
export function parseJson(text: string, exact: boolean): Result<unknown, "malformed" | "too_deep"> {
  if (isDeep(text)) return tooDeep;
  // `JSON.parse` accepts lone surrogates, which UTF-8 cannot encode (RFC 7493 §2.1). One of them marks long numbers: a
  // client could send it with a million digits, and the bigint would take 0.8 s.
  if (text.includes("\\u") && escapesLoneSurrogate(text)) return notJson;
  try {
    return ok(exact ? parseExactly(text) : JSON.parse(text));
  } catch {
    return blank.test(text) ? ok({}) : notJson;
  }
}

/** Whether a value that was parsed elsewhere is nested too deep. */
export function isDeepValue(value: unknown, level = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (level >= maxDepth) return true;
  if (Array.isArray(value)) return value.some((item) => isDeepValue(item, level + 1));
  const members = value as { readonly [name: string]: unknown };
  for (const name in members) {
    if (isDeepValue(members[name], level + 1)) return true;
  }
  return false;
}

function isDeep(text: string): boolean {
  // Every bracket must be closed, so shorter text is shallow, or cut short and refused by the parser.
  if (text.length < 2 * (maxDepth + 1) || !opensMany(text)) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) {
      for (at++; at < text.length && text.charCodeAt(at) !== quote; at++) {
        if (text.charCodeAt(at) === backslash) at++;
      }
    } else if (unit === 0x5b || unit === 0x7b) {
      if (++depth > maxDepth) return true;
    } else if (unit === 0x5d || unit === 0x7d) depth--;
  }
  return false;
}

/** Searching brackets with `indexOf` costs a hundredth of a loop over the characters, and most bodies have few. */
function opensMany(text: string): boolean {
  let opened = 0;
  for (const bracket of "[{") {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++opened > maxDepth) return true;
    }
  }
  return false;
}
