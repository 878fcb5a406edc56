import { isObject, needs } from "../arguments.ts";
import { digitsAt, millisecondsOf } from "../codecs/time.ts";

/**
 * The type of a column or parameter: it parses and prints PostgreSQL's text form without loss, as `Type.int` and
 * `Type.text` do. An application makes its own with `Type.custom`.
 */
export interface DatabaseType<A> {
  /** Its name in errors. */
  readonly name: string;
  /** What of its sort of value it takes, for errors: `-2147483648 to 2147483647`. */
  readonly takes?: string;
  /** The OIDs in `pg_type` of the columns that it reads; undefined for any. */
  readonly reads: readonly number[] | undefined;
  /** The OIDs of the parameters that it may be sent as, if they differ from `reads`. */
  readonly sends?: readonly number[];
  /** Whether NULL is one of its values. */
  readonly isOptional?: true;
  /** Whether NULL is read as `null`, and not as `undefined`. */
  readonly isNullable?: true;
  /** Set for an array, whose text is not quoted inside another array. */
  readonly isArray?: true;
  /** Throws if the text is not a value of the type. */
  parse(text: string): A;
  /** Throws if the value does not fit the type. `null` stands for NULL. */
  print(value: A): string | null;
}

/** Throws where a value is no type. */
export function needsType(at: string, type: unknown): void {
  const isType = isObject(type) && typeof type["parse"] === "function" && typeof type["print"] === "function";
  needs(isType, at, type, "one of Type");
}

/** In {@link DatabaseType.reads} it stands for every type of an application or extension: the server numbers those from here. */
export const customTypes = 16384;

/** Whether the OID is in the list. */
export function includes(numbers: readonly number[] | undefined, type: number): boolean {
  return numbers === undefined || numbers.includes(type) || (type > customTypes && numbers.includes(customTypes));
}

/** Thrown by a type. It does not quote the value; the caller names the column or parameter. */
export class TypeMismatch extends Error {}

/** Writes an array, as `{"1",NULL,"a,b"}`. Quoted elements cannot be read as NULL, as a brace or as absent. */
export function listText<A>(values: readonly A[], type: DatabaseType<A>): string {
  return `{${values.map((value) => elementText(value, type)).join(",")}}`;
}

function elementText<A>(value: A, type: DatabaseType<A>): string {
  const text = type.print(value);
  if (text === null) return "NULL";
  return type.isArray ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
}

export function elementsOf<A>(text: string, type: DatabaseType<A>): readonly A[] {
  // An array whose bounds do not start at 1 begins with them: [0:2]={…}.
  const scanned = new ListText(text.startsWith("[") ? text.slice(text.indexOf("=") + 1) : text);
  const elements = listAt(scanned, type);
  if (scanned.at !== scanned.text.length) throw new TypeMismatch();
  return elements;
}

class ListText {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  takes(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }
}

function listAt<A>(scanned: ListText, type: DatabaseType<A>): readonly A[] {
  if (!scanned.takes("{")) throw new TypeMismatch();
  const elements: A[] = [];
  if (scanned.takes("}")) return elements;
  do elements.push(elementAt(scanned, type));
  while (scanned.takes(","));
  if (!scanned.takes("}")) throw new TypeMismatch();
  return elements;
}

function elementAt<A>(scanned: ListText, type: DatabaseType<A>): A {
  if (type.isArray) return type.parse(innerList(scanned));
  if (scanned.text[scanned.at] === '"') return type.parse(quoted(scanned));
  const start = scanned.at;
  while (scanned.at < scanned.text.length && !/[,}]/.test(scanned.text[scanned.at] as string)) scanned.at++;
  const text = scanned.text.slice(start, scanned.at);
  if (text !== "NULL") return type.parse(text);
  if (!type.isOptional) throw new TypeMismatch();
  return nullOf(type) as A;
}

/** The value that NULL is read as. */
export function nullOf({ isNullable }: DatabaseType<unknown>): null | undefined {
  return isNullable ? null : undefined;
}

function quoted(scanned: ListText): string {
  const { text } = scanned;
  let value = "";
  for (let at = scanned.at + 1, start = at; at < text.length; at++) {
    const character = text[at];
    if (character === "\\") {
      value += text.slice(start, at);
      start = ++at;
    } else if (character === '"') {
      scanned.at = at + 1;
      return value + text.slice(start, at);
    }
  }
  throw new TypeMismatch();
}

/** The text of an inner array, up to its closing brace. */
function innerList(scanned: ListText): string {
  const { text, at: start } = scanned;
  for (let depth = 0; scanned.at < text.length; scanned.at++) {
    const character = text[scanned.at];
    if (character === '"') {
      quoted(scanned);
      scanned.at--;
    } else if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return text.slice(start, ++scanned.at);
  }
  throw new TypeMismatch();
}

// A `timestamptz`, as `2026-09-30 14:00:00.25+02`. PostgreSQL writes years before 1 and after 9999 in other forms.
const form = /^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?[+-][0-9]{2}(?::[0-9]{2}){0,2}$/;
const earliestMs = -62_135_596_800_000; // 0001-01-01T00:00:00.000Z
const latestMs = 253_402_300_799_999; // 9999-12-31T23:59:59.999Z
const fourCenturiesMs = 146_097 * 86_400_000;

/** Reads a `timestamptz` in any time zone. */
export function instantOf(text: string): Date {
  if (!form.test(text)) throw new TypeMismatch();
  const at = (start: number): number => digitsAt(text, start, 2);
  // Date.UTC reads years 0 to 99 as 1900 to 1999, so count 400 years later: the calendar repeats after them.
  const year = digitsAt(text, 0, 4) + 400;
  const local = Date.UTC(year, at(5) - 1, at(8), at(11), at(14), at(17), millisecondsOf(text));
  return new Date(local - fourCenturiesMs - offsetMs(text));
}

export function instantText(value: Date): string {
  const instant = value.getTime();
  if (!(instant >= earliestMs && instant <= latestMs)) throw new TypeMismatch();
  return value.toISOString();
}

// Historical zones have offsets with seconds.
function offsetMs(text: string): number {
  const sign = Math.max(text.lastIndexOf("+"), text.lastIndexOf("-"));
  const at = (place: number): number => (text.length > sign + place ? digitsAt(text, sign + place, 2) : 0);
  const length = ((at(1) * 60 + at(4)) * 60 + at(7)) * 1000;
  return text[sign] === "-" ? -length : length;
}

/** Throws unless the value passes the test. */
export function fit<A>(value: A, is: (value: A) => boolean): A {
  if (is(value)) return value;
  throw new TypeMismatch();
}

// A lone surrogate would be sent as another character, and the server refuses NUL.
export function storableText(value: string): string {
  return fit(value, (value) => typeof value === "string" && !value.includes("\0") && value.isWellFormed());
}

const digits = "0123456789abcdef";

export function hexOf(value: Uint8Array): string {
  if (!(value instanceof Uint8Array)) throw new TypeMismatch();
  let hex = "\\x";
  for (const byte of value) hex += (digits[byte >> 4] as string) + (digits[byte & 15] as string);
  return hex;
}

export function bytesFromText(text: string): Uint8Array {
  if (!text.startsWith("\\x")) return escapedBytes(text);
  if (!/^\\x(?:[0-9a-f]{2})*$/.test(text)) throw new TypeMismatch();
  const bytes = new Uint8Array((text.length - 2) / 2);
  for (let at = 0; at < bytes.length; at++) bytes[at] = Number.parseInt(text.slice(2 + 2 * at, 4 + 2 * at), 16);
  return bytes;
}

/** The form of `bytea_output = escape`, which older databases may have: a character is a byte, and so is `\377`. */
function escapedBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; length++) {
    if (text[at] === "\\" && text[++at] !== "\\") {
      bytes[length] = Number.parseInt(text.slice(at, at + 3), 8);
      at += 3;
    } else bytes[length] = text.charCodeAt(at++);
  }
  return bytes.slice(0, length);
}
