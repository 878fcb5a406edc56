import { oneOf, jsonPath, sortOf } from "./messages.ts";
import { LongInteger } from "./parse-json.ts";
import type { Members } from "./reading.ts";
import type { Literal, BuiltIn, EnumKind } from "./valibot.ts";

/**
 * Copies one value into what `JSON.stringify` is given: only what the shape names. `undefined` is left out of an
 * object, and stands for anything once the writing has failed.
 */
export type WriteValue = (value: unknown, writing: JsonWriting) => unknown;

/** Compiles a part of a shape. */
export type CompileWrite<Part> = (part: Part) => WriteValue;

const mostDeep = 512;

/** One value being written: where the writer stands, and the first thing that cannot be written. */
export class JsonWriting {
  failure: string | undefined;
  depth = 0;
  readonly path: (string | number)[] = [];
  /** What came of values that are tried by several shapes, while one of them is tried within another. */
  outcomes: Map<object, WeakMap<object, WriteOutcome>> | undefined;

  refuse(expected: string, value: unknown): undefined {
    this.failure ??=
      value === undefined
        ? `${this.place()} is missing: it must be ${expected}`
        : `${this.place()} must be ${expected}, not ${sortOf(value)}`;
  }

  /** For a value of the right sort. */
  fail(words: string): undefined {
    this.failure ??= `${this.place()} ${words}`;
  }

  /** Steps into a list or an object and answers its level; a value that holds itself would never end. */
  enter(): number | undefined {
    return this.depth < mostDeep ? this.depth++ : this.fail("is nested more than 512 deep, or holds itself");
  }

  place(): string {
    return jsonPath("value", this.path, this.depth);
  }
}

export interface WriteOutcome {
  readonly written: unknown;
  readonly failure: string | undefined;
}

/** Writes the members of an object whose names the shape leaves open. */
export function writeMembers(
  names: readonly string[],
  value: Members,
  write: WriteValue,
  out: Members,
  writing: JsonWriting,
): void {
  const level = writing.depth - 1;
  for (const name of names) {
    if (value[name] === undefined) continue;
    writing.path[level] = name;
    const written = write(value[name], writing);
    if (writing.failure !== undefined) return;
    if (written !== undefined) put(out, name, written);
  }
}

function put(out: Members, name: string, value: unknown): void {
  // Assigned, it would be the prototype and not a member.
  if (name === "__proto__")
    Object.defineProperty(out, name, { value, enumerable: true, configurable: true, writable: true });
  else out[name] = value;
}

export const writeText: WriteValue = (value, writing) =>
  typeof value === "string" ? value : writing.refuse("text", value);

export const writeBoolean: WriteValue = (value, writing) =>
  typeof value === "boolean" ? value : writing.refuse("true or false", value);

export const writeNull: WriteValue = (value, writing) => (value === null ? value : writing.refuse("null", value));

export const writeNumber: WriteValue = (value, writing) => {
  if (typeof value !== "number") return writing.refuse("a number", value);
  return Number.isFinite(value) ? value : writing.fail("must be a finite number");
};

export const writeWhole: WriteValue = (value, writing) => {
  if (typeof value !== "number") return writing.refuse("a whole number", value);
  return Number.isSafeInteger(value) ? value : writing.fail("must be a whole number within 2^53");
};

/** A shape that only what is left out fits. */
export const writeNothing: WriteValue = (value, writing) =>
  value === undefined ? undefined : writing.refuse("nothing at all", value);

export function wordsWriter(shape: EnumKind | Literal): WriteValue {
  const words: readonly unknown[] = shape.type === "literal" ? [shape.literal] : shape.options;
  const set = new Set(words);
  const expected = oneOf(words);
  return (value, writing) => {
    if (set.has(value)) return value;
    return value === undefined ? writing.refuse(expected, value) : writing.fail(`must be ${expected}`);
  };
}

/** Writes any JSON, and refuses what `JSON.stringify` would drop or change in silence. */
export const writeAny: WriteValue = (value, writing) => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : writing.fail("must be a finite number");
    case "bigint":
      return writing.fail("is a bigint, which JSON has no word for: give it the shape Shape.int64");
    case "object":
      if (value === null) return null;
      return Array.isArray(value) ? writeList(value, writing) : writeObject(value, writing);
    default:
      return writing.refuse("JSON", value);
  }
};

function writeList(list: readonly unknown[], writing: JsonWriting): unknown {
  const level = writing.enter();
  if (level === undefined) return undefined;
  const out: unknown[] = [];
  for (let index = 0; index < list.length && writing.failure === undefined; index++) {
    writing.path[level] = index;
    out.push(writeAny(list[index], writing));
  }
  writing.depth = level;
  return out;
}

function writeObject(object: object, writing: JsonWriting): unknown {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (object instanceof Date) return writing.fail("is a Date: give it the shape Shape.instant");
  if (prototype !== Object.prototype && prototype !== null) {
    return writing.fail("is an instance of a class: give its members as v.object");
  }
  const level = writing.enter();
  if (level === undefined) return undefined;
  const out: Members = {};
  writeMembers(Object.keys(object), object as Members, writeAny, out, writing);
  writing.depth = level;
  return out;
}

export function readyMadeWriter(readyMade: BuiltIn): WriteValue {
  return (value, writing) => {
    const written = readyMade.write(value);
    if (typeof written === "string") return written;
    if (written === undefined) {
      return value === undefined
        ? writing.refuse(readyMade.writes, value)
        : writing.fail(`must be ${readyMade.writes}`);
    }
    const number = Number(written);
    if (Number.isSafeInteger(number)) return number;
    return new LongInteger(written);
  };
}
