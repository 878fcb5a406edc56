import { counted } from "../counted.ts";
import { keyOf } from "../http/bytes.ts";
import { fraction, mustBe, oneOf, outside, sortOf, spell, wholeHere } from "./messages.ts";
import type { Sort } from "./messages.ts";
import { isObject } from "./reading.ts";
import type { ValueCheck, ReadValue, Reader, JsonReading } from "./reading.ts";
import { authorMessage } from "./valibot.ts";
import type { Action, Kind, Other, Scalar } from "./valibot.ts";

const text: readonly Sort[] = ["text"];
const number: readonly Sort[] = ["a number"];
const boolean: readonly Sort[] = ["true or false"];
const nothing: readonly Sort[] = ["null"];
const whole = ["a whole number"];

export function textReader(shape: Scalar): Reader {
  return scalar(text, (value, reading) => {
    if (typeof value === "string") return value;
    return reading.wrong("unexpected_type", authorMessage(shape, value, mustBe(text, value)));
  });
}

export function booleanReader(shape: Scalar): Reader {
  return scalar(boolean, (value, reading) => {
    if (typeof value === "boolean") return value;
    return reading.wrong("unexpected_type", authorMessage(shape, value, mustBe(boolean, value)));
  });
}

export function nullReader(shape: Scalar): Reader {
  return scalar(nothing, (value, reading) => {
    if (value === null) return value;
    return reading.wrong("unexpected_type", authorMessage(shape, value, mustBe(nothing, value)));
  });
}

/** A shape that no JSON value fits. */
export function nothingReader(shape: Other): Reader {
  return scalar([], (value, reading) =>
    reading.wrong("unexpected_type", authorMessage(shape, value, mustBe([], value))),
  );
}

export function numberReader(shape: Scalar): Reader {
  return scalar(number, function read(value, reading): unknown {
    if (typeof value === "number" && Number.isFinite(value)) return value;
    if (typeof value === "bigint") return read(Number(value), reading);
    if (typeof value !== "number")
      return reading.wrong("unexpected_type", authorMessage(shape, value, mustBe(number, value)));
    return tooFar(value, "a number", reading);
  });
}

/** A number whose pipe requires a whole one: a fraction is not checked against further bounds. */
export function wholeReader(shape: Scalar, integer: Action): Reader {
  return {
    sorts: () => number,
    expected: () => whole,
    read: function read(value, reading): unknown {
      if (Number.isSafeInteger(value)) return value;
      if (typeof value === "bigint") return read(Number(value), reading);
      if (typeof value !== "number")
        return reading.wrong("unexpected_type", authorMessage(shape, value, mustBe(whole, value)));
      if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return tooFar(value, wholeHere, reading);
      return reading.wrong("unexpected_type", authorMessage(integer, value, fraction));
    },
  };
}

function tooFar(value: number, kind: string, reading: JsonReading): void {
  const below = value < 0;
  reading.wrong(below ? "too_small" : "too_large", outside(kind, below));
}

function scalar(sorts: readonly Sort[], read: ReadValue): Reader {
  return { sorts: () => sorts, expected: () => sorts, read };
}

/** One of several words of any sorts. */
export function enumReader(shape: Kind, words: readonly unknown[]): Reader {
  const set = new Set(words.map(enumKey));
  const sorts = [...new Set(words.map((word) => sortOf(word) as Sort))];
  const choice = oneOf(words);
  const expected = [choice];
  return {
    sorts: () => sorts,
    expected: () => expected,
    read: function read(value, reading): unknown {
      if (set.has(enumKey(value))) return value;
      if (typeof value === "bigint") return read(Number(value), reading);
      const known = sorts.includes(sortOf(value) as Sort);
      if (known) return reading.wrong("unknown_word", authorMessage(shape, value, `This must be ${choice}.`));
      return reading.wrong("unexpected_type", authorMessage(shape, value, mustBe(expected, value)));
    },
  };
}

/** A word of any sort as a key. */
export function enumKey(word: unknown): unknown {
  return typeof word === "string" ? keyOf(word) : word;
}

/** Lengths of texts in code points, of lists in items, of objects in members. */
function lengthCheck(action: Action): ValueCheck | undefined {
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

function atLeast(action: Action, min: number): ValueCheck {
  return (value, reading) => {
    // A code point is one or two units, so most texts need no count.
    if (typeof value === "string" && value.length >= 2 * min) return;
    const size = sizeOf(value);
    if (size !== undefined && size < min) addProblem(action, value, reading, "at least", min);
  };
}

function atMost(action: Action, max: number): ValueCheck {
  return (value, reading) => {
    if (typeof value === "string" && value.length <= max) return;
    const size = sizeOf(value);
    if (size !== undefined && size > max) addProblem(action, value, reading, "at most", max);
  };
}

function exactly(action: Action, exact: number): ValueCheck {
  return (value, reading) => {
    const size = sizeOf(value);
    if (size !== undefined && size !== exact) addProblem(action, value, reading, "exactly", exact);
  };
}

function addProblem(action: Action, value: unknown, reading: JsonReading, how: string, bound: number): void {
  const below = (sizeOf(value) ?? 0) < bound;
  if (typeof value === "string") {
    const sentence = `This must be ${how} ${counted(bound, "character")} long.`;
    reading.breaks(below ? "too_short" : "too_long", authorMessage(action, value, sentence));
  } else {
    const sentence = `This must have ${how} ${counted(bound, isObject(value) ? "member" : "item")}.`;
    reading.breaks(below ? "too_few" : "too_many", authorMessage(action, value, sentence));
  }
}

function sizeOf(value: unknown): number | undefined {
  if (typeof value === "string") return codePoints(value);
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : undefined;
}

// The second half of each pair is not counted. No text that is read or written holds half a pair alone.
function codePoints(text: string): number {
  let count = text.length;
  for (let index = 1; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xdc00 && unit <= 0xdfff) count--;
  }
  return count;
}

/** Bounds that Valibot checks differently, or for which it makes an object each. */
export function boundCheck(action: Action): ValueCheck | undefined {
  // Valibot compares numbers, bigints, dates and texts with the same operators.
  const bound = action.requirement as number;
  const addProblem = (value: unknown, reading: JsonReading, code: string, words: string): void =>
    reading.breaks(code, authorMessage(action, value, `This must be ${words} ${spell(bound)}.`));
  switch (action.type) {
    case "min_value":
      return (value, reading) => {
        if (value !== undefined && !((value as number) >= bound)) addProblem(value, reading, "too_small", "at least");
      };
    case "max_value":
      return (value, reading) => {
        if (value !== undefined && !((value as number) <= bound)) addProblem(value, reading, "too_large", "at most");
      };
    case "gt_value":
      return (value, reading) => {
        if (value !== undefined && !((value as number) > bound))
          addProblem(value, reading, "too_small", "greater than");
      };
    case "lt_value":
      return (value, reading) => {
        if (value !== undefined && !((value as number) < bound)) addProblem(value, reading, "too_large", "less than");
      };
    case "multiple_of":
      return (value, reading) => {
        if (value !== undefined && !isMultiple(value, bound))
          addProblem(value, reading, "not_a_multiple", "a multiple of");
      };
    case "integer":
    case "safe_integer":
      return (value, reading) => {
        const whole = action.type === "integer" ? Number.isInteger(value) : Number.isSafeInteger(value);
        if (value !== undefined && !whole) reading.breaks("unexpected_type", authorMessage(action, value, fraction));
      };
    default:
      return lengthCheck(action);
  }
}

/** Exact for whole numbers; 19.99 is a multiple of 0.01 although the quotient is not exactly whole. */
function isMultiple(value: unknown, bound: number | bigint): boolean {
  if (typeof value === "bigint") return value % BigInt(bound) === 0n;
  if (typeof value !== "number" || typeof bound !== "number") return false;
  if (Number.isInteger(value) && Number.isInteger(bound)) return value % bound === 0;
  const quotient = value / bound;
  const tolerance = 4 * Number.EPSILON * Math.max(1, Math.abs(quotient));
  return Math.abs(quotient - Math.round(quotient)) <= tolerance;
}
