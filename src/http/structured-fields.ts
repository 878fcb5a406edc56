import { encodeBase64 } from "./bytes.ts";
import type { FieldScanner } from "./fields.ts";

/**
 * A value in a structured field (RFC 9651 §3.3). A number is an integer of at most 15 digits, a string has only printable
 * ASCII, and a `Date` is in whole seconds. A decimal is `{ thousandths }`, because `1.0` is not the integer `1`. A number
 * with a fraction may be printed too, rounded half to even to thousandths.
 */
export type StructuredValue =
  | number
  | string
  | boolean
  | Uint8Array
  | Date
  | { readonly token: string }
  | { readonly thousandths: number }
  | { readonly display: string };

/** Values by key, in the order sent; a key without a value is `true`. */
export type StructuredParameters = ReadonlyMap<string, StructuredValue>;

/** A value and its parameters. */
export type StructuredItem = readonly [value: StructuredValue, parameters: StructuredParameters];

/** Several items in parentheses, and the parameters of the whole list. */
export type StructuredInnerList = readonly [items: readonly StructuredItem[], parameters: StructuredParameters];

/** A member of a list or a dictionary. */
export type StructuredMember = StructuredItem | StructuredInnerList;

/** Items and inner lists, in the order sent. */
export type StructuredList = readonly StructuredMember[];

/** Items and inner lists by key. A repeated key has its last value, in its first position. */
export type StructuredDictionary = ReadonlyMap<string, StructuredMember>;

const stringPart = /[ !\x23-\x5b\x5d-\x7e]+|\\["\\]/y;
const display = /%"[ !\x23-\x7e]*"/y;
const bytes = /:[A-Za-z0-9+/=]*:/y;
const boolean = /\?[01]/y;
const date = /@-?[0-9]{1,15}/y;
const decimal = /-?[0-9]{1,12}\.[0-9]{1,3}/y;
const integer = /-?[0-9]{1,15}/y;
const token = /[A-Za-z*][:/!#$%&'*+\-.^_`|~0-9A-Za-z]*/y;

/** Reads the next value (RFC 9651 §4.2.3.1); undefined where there is none. The caller checks what follows. */
function readValue(field: FieldScanner): StructuredValue | undefined {
  switch (field.next) {
    case '"':
      return readString(field);
    case "%":
      return readDisplay(field);
    case ":":
      return readBytes(field);
    case "?":
      return readBoolean(field);
    case "@":
      return readDate(field);
    default:
      return readDecimal(field) ?? readInteger(field) ?? readToken(field);
  }
}

function readString(field: FieldScanner): string | undefined {
  let text = "";
  field.take('"');
  while (!field.take('"')) {
    const part = field.match(stringPart);
    if (part === undefined) return undefined;
    text += part.startsWith("\\") ? part.slice(1) : part;
  }
  return text;
}

function readDisplay(field: FieldScanner): StructuredValue | undefined {
  const escaped = field.match(display)?.slice(2, -1);
  // §4.2.10: escapes are in lower case; `decodeURIComponent` would accept upper case too.
  if (escaped === undefined || /%(?![0-9a-f]{2})/.test(escaped)) return undefined;
  try {
    return { display: decodeURIComponent(escaped) };
  } catch {
    return undefined;
  }
}

function readBytes(field: FieldScanner): StructuredValue | undefined {
  const text = field.match(bytes)?.slice(1, -1);
  if (text === undefined) return undefined;
  try {
    // §4.2.7: missing padding and stray last bits are accepted, and `atob` accepts both.
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function readBoolean(field: FieldScanner): boolean | undefined {
  const text = field.match(boolean);
  return text === undefined ? undefined : text === "?1";
}

function readDate(field: FieldScanner): Date | undefined {
  const text = field.match(date);
  if (text === undefined) return undefined;
  const value = new Date(Number(text.slice(1)) * 1000);
  // 15 digits of seconds exceed the range of `Date`; §3.3.7 asks for the years 1 to 9999.
  return Number.isNaN(value.getTime()) ? undefined : value;
}

function readDecimal(field: FieldScanner): StructuredValue | undefined {
  const text = field.match(decimal);
  if (text === undefined) return undefined;
  const [whole = "", fraction = ""] = text.split(".");
  return { thousandths: positiveZero(Number(whole + fraction.padEnd(3, "0"))) };
}

function readInteger(field: FieldScanner): number | undefined {
  const text = field.match(integer);
  return text === undefined ? undefined : positiveZero(Number(text));
}

function readToken(field: FieldScanner): StructuredValue | undefined {
  const text = field.match(token);
  return text === undefined ? undefined : { token: text };
}

function positiveZero(value: number): number {
  return value === 0 ? 0 : value;
}

const spaces = / */y;
const key = /[a-z*][a-z0-9_\-.*]*/y;

/** RFC 9651 §4.2.3. */
export function readItem(field: FieldScanner): StructuredItem | undefined {
  const value = readValue(field);
  return value === undefined ? undefined : withParameters(field, value);
}

/** RFC 9651 §4.2.1. */
export function readList(field: FieldScanner): StructuredList | undefined {
  const list: StructuredMember[] = [];
  const whole = readMembers(field, () => {
    const member = readMember(field);
    if (member === undefined) return false;
    list.push(member);
    return true;
  });
  return whole ? list : undefined;
}

/** RFC 9651 §4.2.2. */
export function readDictionary(field: FieldScanner): StructuredDictionary | undefined {
  const dictionary = new Map<string, StructuredMember>();
  const whole = readMembers(field, () => {
    const name = field.match(key);
    if (name === undefined) return false;
    const member = field.take("=") ? readMember(field) : withParameters<StructuredValue>(field, true);
    if (member === undefined) return false;
    dictionary.set(name, member);
    return true;
  });
  return whole ? dictionary : undefined;
}

/** Reads members with commas between them, and none after the last; false where one is malformed. */
function readMembers(field: FieldScanner, readOne: () => boolean): boolean {
  if (field.done) return true;
  for (;;) {
    if (!readOne()) return false;
    field.skipBlanks();
    if (field.done) return true;
    if (!field.take(",")) return false;
    field.skipBlanks();
  }
}

function readMember(field: FieldScanner): StructuredMember | undefined {
  return field.take("(") ? readInnerList(field) : readItem(field);
}

// The opening parenthesis has been read.
function readInnerList(field: FieldScanner): StructuredInnerList | undefined {
  const items: StructuredItem[] = [];
  for (;;) {
    field.match(spaces);
    if (field.take(")")) return withParameters(field, items);
    const item = readItem(field);
    if (item === undefined || (field.next !== " " && field.next !== ")")) return undefined;
    items.push(item);
  }
}

function withParameters<A>(field: FieldScanner, value: A): readonly [A, StructuredParameters] | undefined {
  const parameters = new Map<string, StructuredValue>();
  while (field.take(";")) {
    field.match(spaces);
    const name = field.match(key);
    const parameter = name !== undefined && field.take("=") ? readValue(field) : true;
    if (name === undefined || parameter === undefined) return undefined;
    parameters.set(name, parameter);
  }
  return [value, parameters];
}

const maxMagnitude = 999_999_999_999_999;

/** The value's text (RFC 9651 §4.1.3.1); undefined where it has none. */
function printValue(value: StructuredValue): string | undefined {
  if (typeof value === "number") return printNumber(value);
  if (typeof value === "boolean") return value ? "?1" : "?0";
  if (typeof value === "string") return printString(value);
  if (value instanceof Uint8Array) return printBytes(value);
  if (value instanceof Date) return printDate(value);
  if ("token" in value) return printToken(value.token);
  return "display" in value ? printDisplay(value.display) : printDecimal(value.thousandths);
}

function printNumber(value: number): string | undefined {
  return Number.isInteger(value) ? printInteger(value) : printDecimal(roundHalfEven(value * 1000));
}

function printInteger(value: number): string | undefined {
  return Math.abs(value) <= maxMagnitude ? String(value) : undefined;
}

// 12 digits before the point, and 1 to 3 after it.
function printDecimal(thousandths: number): string | undefined {
  if (!Number.isInteger(thousandths) || Math.abs(thousandths) > maxMagnitude) return undefined;
  const digits = String(Math.abs(thousandths)).padStart(4, "0");
  const fraction = digits.slice(-3).replace(/0{1,2}$/, "");
  return `${thousandths < 0 ? "-" : ""}${digits.slice(0, -3)}.${fraction}`;
}

function roundHalfEven(value: number): number {
  const below = Math.floor(value);
  const past = value - below;
  return past > 0.5 || (past === 0.5 && below % 2 !== 0) ? below + 1 : below;
}

function printString(value: string): string | undefined {
  return /^[ -~]*$/.test(value) ? `"${value.replace(/["\\]/g, "\\$&")}"` : undefined;
}

function printToken(value: string): string | undefined {
  return /^[A-Za-z*][:/!#$%&'*+\-.^_`|~0-9A-Za-z]*$/.test(value) ? value : undefined;
}

function printBytes(value: Uint8Array): string {
  return `:${encodeBase64(value)}:`;
}

function printDate(value: Date): string | undefined {
  const seconds = Math.floor(value.getTime() / 1000);
  return Number.isNaN(seconds) ? undefined : `@${seconds}`;
}

// §4.1.11: UTF-8; every byte but printable ASCII, the quote and the percent sign are escaped, in lower case.
function printDisplay(value: string): string | undefined {
  if (!value.isWellFormed()) return undefined;
  return `%"${value.replace(/[^ !\x23\x24\x26-\x7e]+/g, (part) => encodeURIComponent(part).toLowerCase())}"`;
}

/** RFC 9651 §4.1.3. All of these printers return undefined where a part cannot be printed. */
export function printItem([value, parameters]: StructuredItem): string | undefined {
  return joinedBy("", [printValue(value), printParameters(parameters)]);
}

/** RFC 9651 §4.1.1. */
export function printList(list: StructuredList): string | undefined {
  return joinedBy(", ", list.map(printMember));
}

/** RFC 9651 §4.1.2. */
export function printDictionary(dictionary: StructuredDictionary): string | undefined {
  return joinedBy(", ", [...dictionary].map(printNamedMember));
}

function printNamedMember([key, member]: readonly [string, StructuredMember]): string | undefined {
  if (member[0] === true) return joinedBy("", [printKey(key), printParameters(member[1])]);
  return joinedBy("=", [printKey(key), printMember(member)]);
}

function printMember(member: StructuredMember): string | undefined {
  return isInnerList(member) ? printInnerList(member) : printItem(member);
}

function printInnerList([items, parameters]: StructuredInnerList): string | undefined {
  return joinedBy("", ["(", joinedBy(" ", items.map(printItem)), ")", printParameters(parameters)]);
}

function isInnerList(member: StructuredMember): member is StructuredInnerList {
  return Array.isArray(member[0]);
}

function printParameters(parameters: StructuredParameters): string | undefined {
  return joinedBy("", [...parameters].map(printParameter));
}

function printParameter([key, value]: readonly [string, StructuredValue]): string | undefined {
  const start = joinedBy("", [";", printKey(key)]);
  return value === true ? start : joinedBy("=", [start, printValue(value)]);
}

function printKey(key: string): string | undefined {
  return /^[a-z*][a-z0-9_\-.*]*$/.test(key) ? key : undefined;
}

function joinedBy(separator: string, parts: readonly (string | undefined)[]): string | undefined {
  return parts.includes(undefined) ? undefined : parts.join(separator);
}
