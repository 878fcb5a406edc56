import { digitsAt } from "../codecs/time.ts";

/**
 * A column's or a parameter's type: text both ways, exact. `Type.int`, `Type.text` and their kin are such; an
 * application makes its own with `Type.custom`.
 */
export interface Type<A> {
  readonly name: string;
  /** The numbers in `pg_type` of what it reads; undefined for anything. */
  readonly reads: readonly number[] | undefined;
  /** The numbers of what it may be sent as, where those are not what it reads. */
  readonly sends?: readonly number[];
  /** Whether NULL is one of its values. */
  readonly isOptional?: true;
  /** Set for a list: its text is no element but the list's own. */
  readonly isArray?: true;
  /** Throws where the text is none of its values. */
  parse(text: string): A;
  /** Throws where the value has no text. Null is NULL. */
  print(value: A): string | null;
}

/** In {@link Type.reads}, everything that an application or an extension made: the server numbers those from here. */
export const made = 16384;

/** Whether a type is for one of these numbers. */
export function includes(numbers: readonly number[] | undefined, type: number): boolean {
  return numbers === undefined || numbers.includes(type) || (type > made && numbers.includes(made));
}

/** What a type throws. It says nothing of the value: who asked names the column or the parameter. */
export class Misfit extends Error {}

/** A list as PostgreSQL writes it: `{1,NULL,"a,b"}`. */

/** The text of a list. Every element is quoted, so that none is taken for NULL, for a brace or for nothing. */
export function listText<A>(values: readonly A[], type: Type<A>): string {
  return `{${values.map((value) => elementText(value, type)).join(",")}}`;
}

function elementText<A>(value: A, type: Type<A>): string {
  const text = type.print(value);
  if (text === null) return "NULL";
  return type.isArray ? text : `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** The elements of a list's text. */
export function elementsOf<A>(text: string, type: Type<A>): readonly A[] {
  // Bounds other than from 1 stand before it: [0:2]={…}.
  const scanned = new ListText(text.startsWith("[") ? text.slice(text.indexOf("=") + 1) : text);
  const elements = listAt(scanned, type);
  if (scanned.at !== scanned.text.length) throw new Misfit();
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

function listAt<A>(scanned: ListText, type: Type<A>): readonly A[] {
  if (!scanned.takes("{")) throw new Misfit();
  const elements: A[] = [];
  if (scanned.takes("}")) return elements;
  do elements.push(elementAt(scanned, type));
  while (scanned.takes(","));
  if (!scanned.takes("}")) throw new Misfit();
  return elements;
}

function elementAt<A>(scanned: ListText, type: Type<A>): A {
  if (type.isArray) return type.parse(innerList(scanned));
  if (scanned.text[scanned.at] === '"') return type.parse(quoted(scanned));
  const start = scanned.at;
  while (scanned.at < scanned.text.length && !/[,}]/.test(scanned.text[scanned.at] as string)) scanned.at++;
  const text = scanned.text.slice(start, scanned.at);
  if (text !== "NULL") return type.parse(text);
  if (!type.isOptional) throw new Misfit();
  return undefined as A;
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
  throw new Misfit();
}

/** The text of a list that is an element, up to the brace that closes it. */
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
  throw new Misfit();
}

/** A moment as PostgreSQL writes a `timestamptz`: `2026-09-30 14:00:00.25+02`. */

// No year before the first and none past 9999: those are written in other forms, and no other runtime agrees on them.
const form = /^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?[+-][0-9]{2}(?::[0-9]{2}){0,2}$/;
const earliestMs = -62_135_596_800_000; // 0001-01-01T00:00:00.000Z
const latestMs = 253_402_300_799_999; // 9999-12-31T23:59:59.999Z
const fourCenturiesMs = 146_097 * 86_400_000;

/** The moment, whatever time zone the session prints it in. */
export function instantOf(text: string): Date {
  if (!form.test(text)) throw new Misfit();
  const at = (start: number): number => digitsAt(text, start, 2);
  // Date.UTC takes the years 0 to 99 for 1900 to 1999; the calendar repeats after four centuries.
  const year = digitsAt(text, 0, 4) + 400;
  const local = Date.UTC(year, at(5) - 1, at(8), at(11), at(14), at(17), millisecondsOf(text));
  return new Date(local - fourCenturiesMs - offsetMs(text));
}

export function instantText(value: Date): string {
  const instant = value.getTime();
  if (!(instant >= earliestMs && instant <= latestMs)) throw new Misfit();
  return value.toISOString();
}

function millisecondsOf(text: string): number {
  if (text[19] !== ".") return 0;
  let value = 0;
  for (let at = 20, worth = 100; worth >= 1; at++, worth /= 10) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) break;
    value += digit * worth;
  }
  return value;
}

// Hours, and minutes and seconds where there are some: zones of long ago were not whole minutes from Greenwich.
function offsetMs(text: string): number {
  const sign = Math.max(text.lastIndexOf("+"), text.lastIndexOf("-"));
  const at = (place: number): number => (text.length > sign + place ? digitsAt(text, sign + place, 2) : 0);
  const length = ((at(1) * 60 + at(4)) * 60 + at(7)) * 1000;
  return text[sign] === "-" ? -length : length;
}
