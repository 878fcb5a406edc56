import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { parseExactly } from "./exact-integers.ts";
import { escapesLoneSurrogate } from "./json-string.ts";

const mostDeep = 512;
const quote = 0x22;
const backslash = 0x5c;
const notJson = Object.freeze(error("malformed" as const));
const tooDeep = Object.freeze(error("too_deep" as const));
const blank = /^[ \t\n\r]*$/;

/**
 * Reads JSON text (RFC 8259) with the platform's own parser; text with nothing in it is an empty object.
 *
 * @param exact Reads whole numbers too long for a JavaScript number as bigints.
 */
export function parseJson(text: string, exact: boolean): Result<unknown, "malformed" | "too_deep"> {
  if (isDeep(text)) return tooDeep;
  // The parser takes the halves of a surrogate pair alone, which no UTF-8 can spell (RFC 7493 §2.1). One of them marks long
  // numbers: a million digits behind it that a client sent would become a bigint, which takes 0.8 s.
  if (text.includes("\\u") && escapesLoneSurrogate(text)) return notJson;
  try {
    return ok(exact ? parseExactly(text) : JSON.parse(text));
  } catch {
    return blank.test(text) ? ok({}) : notJson;
  }
}

/** Whether a value that was parsed elsewhere nests as deep. */
export function isDeepValue(value: unknown, level = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (level >= mostDeep) return true;
  if (Array.isArray(value)) return value.some((item) => isDeepValue(item, level + 1));
  const members = value as { readonly [name: string]: unknown };
  for (const name in members) {
    if (isDeepValue(members[name], level + 1)) return true;
  }
  return false;
}

function isDeep(text: string): boolean {
  // What is opened has to be closed: shorter text is shallow, or cut short and refused by the parser.
  if (text.length < 2 * (mostDeep + 1) || !opensMany(text)) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) {
      for (at++; at < text.length && text.charCodeAt(at) !== quote; at++) {
        if (text.charCodeAt(at) === backslash) at++;
      }
    } else if (unit === 0x5b || unit === 0x7b) {
      if (++depth > mostDeep) return true;
    } else if (unit === 0x5d || unit === 0x7d) depth--;
  }
  return false;
}

/** Looked up by the engine, brackets cost a hundredth of looking at each character, and most bodies have few. */
function opensMany(text: string): boolean {
  let opened = 0;
  for (const bracket of "[{") {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++opened > mostDeep) return true;
    }
  }
  return false;
}
