import { ok } from "../result.ts";
import type { Result } from "../result.ts";
import type { Codec } from "./codec.ts";
import { malformed } from "./malformed.ts";

const notNumber = /* @__PURE__ */ malformed("a number");

function parse(text: string): Result<number, string> {
  if (!/^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/.test(text)) return notNumber;
  const value = Number(text);
  return Number.isFinite(value) ? ok(value) : notNumber;
}

function print(value: number): string {
  if (!Number.isFinite(value)) return "";
  return Object.is(value, -0) ? "-0" : String(value);
}

/**
 * A finite number, written `-12`, `0.5` or `2.5e-4`; `.5`, `5.`, `+3`, `inf` and `nan` are malformed. Prints the
 * fewest digits that read back as the same number, and infinity and NaN as nothing.
 */
export const float: Codec<number, number> = { parse, print, text: { type: "number" } };
