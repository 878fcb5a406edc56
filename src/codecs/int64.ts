import { ok } from "../result.ts";
import type { Result } from "../result.ts";
import type { Codec } from "./codec.ts";
import { malformed } from "./malformed.ts";

const notWhole = /* @__PURE__ */ malformed("a whole number");
// 2^63 has 19 digits. Longer text is refused before BigInt sees it: its work grows faster than the text.
const mostDigits = 19;

function parse(text: string): Result<bigint, string> {
  if (!/^-?[0-9]+$/.test(text)) return notWhole;
  const negative = text.charCodeAt(0) === 0x2d;
  let start = negative ? 1 : 0;
  while (text.charCodeAt(start) === 0x30) start++;
  if (text.length - start > mostDigits) return notWhole;
  // What is left of "000" is "", which BigInt reads as 0.
  const magnitude = BigInt(text.slice(start));
  const value = negative ? -magnitude : magnitude;
  return fits(value) ? ok(value) : notWhole;
}

function print(value: bigint): string {
  return fits(value) ? String(value) : "";
}

function fits(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** A 64-bit whole number, −2^63 to 2^63−1, exact. A number outside the range is malformed, and prints as nothing. */
export const int64: Codec<bigint, bigint> = { parse, print, text: { type: "integer" } };
