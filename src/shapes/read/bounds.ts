import type { Action } from "../kind.ts";
import { said } from "../said.ts";
import { fraction, spell } from "../sentences.ts";
import { lengthCheck } from "./lengths.ts";
import type { Check, Reading } from "./reading.ts";

/** The bounds Valibot would judge otherwise, or at the cost of an object for each. */
export function boundCheck(action: Action): Check | undefined {
  // Valibot compares numbers, bigints, dates and texts with the same operators.
  const bound = action.requirement as number;
  const tell = (value: unknown, reading: Reading, code: string, words: string): void =>
    reading.breaks(code, said(action, value, `This must be ${words} ${spell(bound)}.`));
  switch (action.type) {
    case "min_value":
      return (value, reading) => {
        if (value !== undefined && !((value as number) >= bound)) tell(value, reading, "too_small", "at least");
      };
    case "max_value":
      return (value, reading) => {
        if (value !== undefined && !((value as number) <= bound)) tell(value, reading, "too_large", "at most");
      };
    case "gt_value":
      return (value, reading) => {
        if (value !== undefined && !((value as number) > bound)) tell(value, reading, "too_small", "greater than");
      };
    case "lt_value":
      return (value, reading) => {
        if (value !== undefined && !((value as number) < bound)) tell(value, reading, "too_large", "less than");
      };
    case "multiple_of":
      return (value, reading) => {
        if (value !== undefined && !isMultiple(value, bound)) tell(value, reading, "not_a_multiple", "a multiple of");
      };
    case "integer":
    case "safe_integer":
      return (value, reading) => {
        const whole = action.type === "integer" ? Number.isInteger(value) : Number.isSafeInteger(value);
        if (value !== undefined && !whole) reading.breaks("unexpected_type", said(action, value, fraction));
      };
    default:
      return lengthCheck(action);
  }
}

/** Exact for whole numbers; 19.99 is a multiple of 0.01 although its quotient is not quite whole. */
function isMultiple(value: unknown, bound: number | bigint): boolean {
  if (typeof value === "bigint") return value % BigInt(bound) === 0n;
  if (typeof value !== "number" || typeof bound !== "number") return false;
  if (Number.isInteger(value) && Number.isInteger(bound)) return value % bound === 0;
  const quotient = value / bound;
  const tolerance = 4 * Number.EPSILON * Math.max(1, Math.abs(quotient));
  return Math.abs(quotient - Math.round(quotient)) <= tolerance;
}
