import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { parseExactly } from "./exact-integers.ts";
import { endOfString, escapesLoneSurrogate } from "./json-string.ts";

const mostDeep = 512;
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
  try {
    // The parser takes the halves of a surrogate pair alone, which no UTF-8 can spell (RFC 7493 §2.1).
    const value: unknown = exact ? parseExactly(text) : JSON.parse(text);
    return text.includes("\\u") && escapesLoneSurrogate(text) ? notJson : ok(value);
  } catch {
    return blank.test(text) ? ok({}) : notJson;
  }
}

/** Whether a value that was parsed elsewhere nests as deep. */
export function isDeepValue(value: unknown, level = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  return level >= mostDeep || Object.values(value).some((part) => isDeepValue(part, level + 1));
}

function isDeep(text: string): boolean {
  // What is opened has to be closed: shorter text is shallow, or cut short and refused by the parser.
  if (text.length < 2 * (mostDeep + 1)) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22: // "
        at = endOfString(text, at + 1);
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > mostDeep) return true;
        break;
      case 0x5d: // ]
      case 0x7d: // }
        depth--;
        break;
      default:
    }
  }
  return false;
}
