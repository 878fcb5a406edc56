import { jsonPath, maxDepth, oneOf, sortOf } from "./messages.ts";
import type { Step } from "./messages.ts";
import { LongInteger } from "./parse-json.ts";
import type { Members } from "./reading.ts";
import type { Literal, BuiltIn, EnumKind } from "./valibot.ts";

/**
 * Copies one value for `JSON.stringify`: only what the shape declares. `undefined` is left out of an object; after a failure
 * the result has no meaning.
 */
export type WriteValue = (value: unknown, writing: JsonWriting) => unknown;

/** Compiles a part of a shape. */
export type CompileWrite<Part> = (part: Part) => WriteValue;

/** One value that is being written: the current place, and the first failure. */
export class JsonWriting {
  failure: string | undefined;
  depth = 0;
  readonly path: Step[] = [];
  /** The outcomes of values that several shapes try, while one trial is within another. */
  outcomes: Map<object, WeakMap<object, WriteOutcome>> | undefined;
  /** How deep copies leave something out of their values. */
  omissions: WeakMap<object, number> | undefined;

  refuse(expected: string, value: unknown): undefined {
    const what =
      value === undefined ? `is missing: it must be ${expected}` : `must be ${expected}, not ${sortOf(value)}`;
    return this.fail(value instanceof Promise ? promised : what);
  }

  /** The first sentence counts. */
  fail(words: string): undefined {
    this.failure ??= `${this.place()} ${words}`;
  }

  /** Ends an object of which a member has failed. A promise has no member of the shape: it is what is wrong, and not the member. */
  leave(value: object, level: number): undefined {
    if (!(value instanceof Promise)) return;
    this.depth = level;
    this.failure = `${this.place()} ${promised}`;
  }

  /** Enters a list or an object and returns its level; a value that contains itself would never end. */
  enter(): number | undefined {
    return this.depth < maxDepth ? this.depth++ : this.fail(`is nested more than ${maxDepth} deep, or holds itself`);
  }

  place(): string {
    return jsonPath("value", this.path, this.depth);
  }
}

const promised = "is a promise: await it";

interface WriteOutcome {
  readonly written: unknown;
  readonly failure: string | undefined;
}

/** Writes the members of these names with one writer. */
export function writeMembers(
  names: readonly string[],
  value: Members,
  write: WriteValue,
  out: Members,
  writing: JsonWriting,
): void {
  const level = writing.depth - 1;
  for (const name of names) {
    const member = value[name];
    if (member === undefined) continue;
    writing.path[level] = name;
    const written = write(member, writing);
    if (writing.failure !== undefined) return;
    if (written !== undefined) put(out, name, written);
  }
}

function put(out: Members, name: string, value: unknown): void {
  // An assignment would set the prototype.
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

/** A shape that fits only an absent value. */
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

/** Writes any JSON, and refuses what `JSON.stringify` would silently drop or change. */
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
      return Array.isArray(value) ? writeItems(value, writeAny, writing) : writeObject(value, writing);
    default:
      return writing.refuse("JSON", value);
  }
};

/** Writes the items of a list with one writer. */
export function writeItems(list: readonly unknown[], write: WriteValue, writing: JsonWriting): unknown {
  const level = writing.enter();
  if (level === undefined) return undefined;
  const out: unknown[] = [];
  for (let index = 0; index < list.length && writing.failure === undefined; index++) {
    writing.path[level] = index;
    out.push(write(list[index], writing));
  }
  writing.depth = level;
  return out;
}

/** Fails for a `Date` and for a promise, which have no member that would tell them from an object without one. */
export function isNoObject(value: object, writing: JsonWriting): boolean {
  if (value instanceof Promise) writing.refuse("JSON", value);
  else if (value instanceof Date) writing.fail("is a Date: give it the shape Shape.instant");
  else return false;
  return true;
}

function writeObject(object: object, writing: JsonWriting): unknown {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (isNoObject(object, writing)) return undefined;
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

export function builtInWriter(builtIn: BuiltIn): WriteValue {
  return (value, writing) => {
    const written = builtIn.write(value);
    if (typeof written === "string") return written;
    if (written === undefined) {
      return value === undefined ? writing.refuse(builtIn.writes, value) : writing.fail(`must be ${builtIn.writes}`);
    }
    const number = Number(written);
    if (Number.isSafeInteger(number)) return number;
    return new LongInteger(written);
  };
}
