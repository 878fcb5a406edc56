import { ok } from "../result.ts";
import type { Result } from "../result.ts";
import type { Codec } from "./codec.ts";
import { malformed } from "./malformed.ts";

const notWhole = /* @__PURE__ */ malformed("a whole number");

function parse(text: string): Result<number, string> {
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
  // Subtracted, so that "-0" is 0 and not the other zero.
  return ok(negative ? 0 - value : value);
}

function print(value: number): string {
  if (!Number.isSafeInteger(value)) return "";
  return String(value);
}

/**
 * A whole number, −(2^53−1) to 2^53−1: digits, with `-` before them or not. Leading zeros are read. A number
 * outside the range is malformed, and prints as nothing.
 */
export const int: Codec<number, number> = { parse, print, text: { type: "integer" } };
