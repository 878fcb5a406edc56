import type { Literal, Words } from "../kind.ts";
import { oneOf } from "../sentences.ts";
import type { Write } from "./writing.ts";

export const writeText: Write = (value, writing) => (typeof value === "string" ? value : writing.refuse("text", value));

export const writeBoolean: Write = (value, writing) =>
  typeof value === "boolean" ? value : writing.refuse("true or false", value);

export const writeNull: Write = (value, writing) => (value === null ? value : writing.refuse("null", value));

export const writeNumber: Write = (value, writing) => {
  if (typeof value !== "number") return writing.refuse("a number", value);
  return Number.isFinite(value) ? value : writing.fail("must be a finite number");
};

export const writeWhole: Write = (value, writing) => {
  if (typeof value !== "number") return writing.refuse("a whole number", value);
  return Number.isSafeInteger(value) ? value : writing.fail("must be a whole number within 2^53");
};

/** A shape that only what is left out fits. */
export const writeNothing: Write = (value, writing) =>
  value === undefined ? undefined : writing.refuse("nothing at all", value);

export function wordsWriter(shape: Words | Literal): Write {
  const words: readonly unknown[] = shape.type === "literal" ? [shape.literal] : shape.options;
  const set = new Set(words);
  const expected = oneOf(words);
  return (value, writing) => {
    if (set.has(value)) return value;
    return value === undefined ? writing.refuse(expected, value) : writing.fail(`must be ${expected}`);
  };
}
