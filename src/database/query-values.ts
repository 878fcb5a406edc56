/** The values of a query: each is written by its JavaScript type, as PostgreSQL's text form. */
import { isObject, kindOf } from "../arguments.ts";
import { TypeMismatch, hexOf, instantText, storableText } from "./type-text.ts";

/** Why a value cannot be sent. Its text names the kind of the value, and never quotes it. */
export class ValueMismatch extends Error {}

/** The most dimensions of PostgreSQL's arrays (MAXDIM). It bounds an array that contains itself, too. */
const maxDimensions = 6;

/**
 * Writes a value.
 *
 * @throws ValueMismatch for a value without a form in SQL.
 */
export function valueText(value: unknown): string | null {
  if (value === null) return null;
  switch (typeof value) {
    case "string":
      return storedText(value);
    case "number":
      return Object.is(value, -0) ? "-0" : String(value);
    case "bigint":
      return String(value);
    case "boolean":
      return value ? "t" : "f";
    case "object":
      return objectText(value);
    case "undefined":
      throw new ValueMismatch("is undefined: write null for NULL");
    default:
      throw new ValueMismatch(`is ${kindOf(value)}, which has no form in SQL`);
  }
}

function storedText(value: string): string {
  try {
    return storableText(value);
  } catch {
    throw new ValueMismatch("is a text that PostgreSQL cannot hold: it has NUL or a lone surrogate");
  }
}

function objectText(value: object): string {
  if (Array.isArray(value)) return listText(value, 1);
  if (value instanceof Date) return dateText(value);
  if (value instanceof Uint8Array) return hexOf(value);
  if (isPlainObject(value)) return jsonText(value);
  throw new ValueMismatch(`is ${nameOf(value)}, which has no form in SQL`);
}

/** What it is, without its value. */
function nameOf(value: unknown): string {
  return isObject(value) && !Array.isArray(value) ? "an object of a class" : kindOf(value);
}

function dateText(value: Date): string {
  try {
    return instantText(value);
  } catch (thrown) {
    if (!(thrown instanceof TypeMismatch)) throw thrown;
    throw new ValueMismatch("is a Date that is invalid, or not in the years 1 to 9999");
  }
}

function listText(values: readonly unknown[], dimension: number): string {
  if (dimension > maxDimensions) throw new ValueMismatch(`is an array of more than ${maxDimensions} dimensions`);
  // `map` would skip a hole, which is undefined.
  const items = Array.from(values, (value) => {
    if (Array.isArray(value)) return listText(value, dimension + 1);
    const text = valueText(value);
    return text === null ? "NULL" : `"${text.replace(/["\\]/g, String.raw`\$&`)}"`;
  });
  return `{${items.join(",")}}`;
}

/** Whether it is an object of a literal, `Object.create(null)` or `JSON.parse`, of any realm. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** JSON of what JSON can hold: `JSON.stringify` alone drops a function, writes NaN as `null` and a `Map` as `{}`. */
function jsonText(value: object): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value, checked) as string | undefined;
  } catch (thrown) {
    if (thrown instanceof ValueMismatch) throw thrown;
    // It contains itself, is too deep, or its own `toJSON` threw: that error may quote the value.
    throw new ValueMismatch("is an object that cannot be written as JSON");
  }
  if (text === undefined) throw new ValueMismatch("is an object whose toJSON gives nothing");
  return storedText(text);
}

/** The second argument of `JSON.stringify`. */
function checked(this: unknown, _name: string, value: unknown): unknown {
  switch (typeof value) {
    case "number":
      if (!Number.isFinite(value)) throw new ValueMismatch("is an object with a number that JSON does not have");
      return value;
    case "bigint":
      throw new ValueMismatch("is an object with a bigint, which JSON does not have: write it as a text");
    case "function":
    case "symbol":
      throw new ValueMismatch(`is an object with ${kindOf(value)}, which JSON does not have`);
    case "undefined":
      if (Array.isArray(this)) throw new ValueMismatch("is an object with a list that has undefined");
      return value;
    default:
      break;
  }
  if (isObject(value) && !Array.isArray(value) && !isPlainObject(value))
    throw new ValueMismatch(`is an object with ${nameOf(value)}, which JSON does not have`);
  return value;
}
