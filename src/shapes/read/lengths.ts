import type { Action } from "../kind.ts";
import { said } from "../said.ts";
import { counted } from "../sentences.ts";
import { isObject } from "./names.ts";
import type { Check, Reading } from "./reading.ts";

/** Lengths of texts in code points, of lists in items, of objects in members. */
export function lengthCheck(action: Action): Check | undefined {
  const bound = action.requirement as number;
  switch (action.type) {
    case "min_length":
    case "min_code_points":
    case "min_entries":
      return atLeast(action, bound);
    case "max_length":
    case "max_code_points":
    case "max_entries":
      return atMost(action, bound);
    case "length":
    case "code_points":
    case "entries":
      return exactly(action, bound);
    case "non_empty":
      return atLeast(action, 1);
    case "empty":
      return atMost(action, 0);
    default:
      return undefined;
  }
}

function atLeast(action: Action, least: number): Check {
  return (value, reading) => {
    // A code point is one or two units: most texts are decided without counting.
    if (typeof value === "string" && value.length >= 2 * least) return;
    const size = sizeOf(value);
    if (size !== undefined && size < least) tell(action, value, reading, "at least", least);
  };
}

function atMost(action: Action, most: number): Check {
  return (value, reading) => {
    if (typeof value === "string" && value.length <= most) return;
    const size = sizeOf(value);
    if (size !== undefined && size > most) tell(action, value, reading, "at most", most);
  };
}

function exactly(action: Action, exact: number): Check {
  return (value, reading) => {
    const size = sizeOf(value);
    if (size !== undefined && size !== exact) tell(action, value, reading, "exactly", exact);
  };
}

function tell(action: Action, value: unknown, reading: Reading, how: string, bound: number): void {
  const below = (sizeOf(value) ?? 0) < bound;
  if (typeof value === "string") {
    const sentence = `This must be ${how} ${counted(bound, "character")} long.`;
    reading.breaks(below ? "too_short" : "too_long", said(action, value, sentence));
  } else {
    const sentence = `This must have ${how} ${counted(bound, isObject(value) ? "member" : "item")}.`;
    reading.breaks(below ? "too_few" : "too_many", said(action, value, sentence));
  }
}

function sizeOf(value: unknown): number | undefined {
  if (typeof value === "string") return codePoints(value);
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : undefined;
}

function codePoints(text: string): number {
  let count = text.length;
  for (let index = 1; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0xdc00 || unit > 0xdfff) continue;
    const before = text.charCodeAt(index - 1);
    if (before >= 0xd800 && before <= 0xdbff) count--;
  }
  return count;
}
