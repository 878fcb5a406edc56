import type { AnyCodec } from "../codecs/codec.ts";
import { keyOf } from "../http/bytes.ts";
import { decodeFormText } from "../http/target.ts";
import { Problem } from "../refusals.ts";

/** A value as it was given: its text, or null where its bytes are not UTF-8. */
export type GivenText = string | null;

const ampersand = 0x26;
const equals = 0x3d;
// A character of a name is at most three bytes of UTF-8, and each of them at most `%XX`.
const longestEncoded = 9;

/**
 * The names of the fields that a route reads of a query or a form, put in when the app is made. The names that a client sends
 * are looked up here.
 */
export class FieldNames {
  readonly #indexes = new Map<string, number>();
  readonly #lists: boolean[] = [];
  #longest = 0;

  get size(): number {
    return this.#lists.length;
  }

  /** The index of a field's values: the first one, or all where the field is a list. */
  add(name: string, isList: boolean): number {
    const index = this.#indexes.get(keyOf(name)) ?? this.#lists.push(false) - 1;
    this.#indexes.set(keyOf(name), index);
    if (isList) this.#lists[index] = true;
    this.#longest = Math.max(this.#longest, name.length);
    return index;
  }

  /** The index of a name; -1 where no field has it. */
  indexOf(name: string): number {
    return this.#indexes.get(keyOf(name)) ?? -1;
  }

  /** As {@link indexOf}, of a name as it stands in a text. */
  indexIn(text: string, start: number, end: number, isEncoded: boolean): number {
    if (end - start > (isEncoded ? longestEncoded : 1) * this.#longest) return -1;
    const name = isEncoded ? decodeFormText(text, start, end) : text.slice(start, end);
    return name === null ? -1 : this.indexOf(name);
  }

  isList(index: number): boolean {
    return this.#lists[index] === true;
  }
}

/** The values that the text of a query or of a form gives for a route's fields, read in one pass. */
export class FieldValues {
  readonly #text: string;
  readonly #names: FieldNames;
  readonly #size: number;
  /** By the index of a field: its first value, or the list of all. */
  readonly #values: (GivenText | GivenText[] | undefined)[] = [];

  constructor(text: string, names: FieldNames) {
    this.#text = text;
    this.#names = names;
    this.#size = names.size;
    for (let start = 0; start < text.length; start++) {
      if (text.charCodeAt(start) !== ampersand) start = this.#readPair(start);
    }
  }

  /** Whether these are the fields that it was read for: a bind may add to them while the request runs. */
  isOf(names: FieldNames): boolean {
    return this.#names === names && this.#size === names.size;
  }

  /** The first value of a field; undefined where it is not given. */
  first(index: number): GivenText | undefined {
    const value = this.#values[index];
    return Array.isArray(value) ? value[0] : value;
  }

  /** Every value of a field that is a list, in the order given. */
  all(index: number): readonly GivenText[] {
    const values = this.#values[index];
    return Array.isArray(values) ? values : [];
  }

  /** Notes the value of one pair where its name is a field's, and answers where the pair ends; `a` alone is an empty value. */
  #readPair(start: number): number {
    const text = this.#text;
    let isEncoded = false;
    let at = start;
    let unit = 0;
    for (; at < text.length; at++) {
      unit = text.charCodeAt(at);
      if (unit === ampersand || unit === equals) break;
      if (unit === 0x25 || unit === 0x2b) isEncoded = true;
    }
    const hasValue = at < text.length && unit === equals;
    const index = this.#names.indexIn(text, start, at, isEncoded);
    const end = hasValue ? endOfPair(text, at) : at;
    if (index !== -1) this.#note(index, hasValue ? at + 1 : end, end);
    return end;
  }

  #note(index: number, start: number, end: number): void {
    const known = this.#values[index];
    if (Array.isArray(known)) known.push(decodeFormText(this.#text, start, end));
    else if (known === undefined) {
      const value = decodeFormText(this.#text, start, end);
      this.#values[index] = this.#names.isList(index) ? [value] : value;
    }
  }
}

// A native search costs as much as to look at twenty characters, and most values are shorter.
function endOfPair(text: string, from: number): number {
  const near = Math.min(from + 32, text.length);
  for (let at = from; at < near; at++) if (text.charCodeAt(at) === ampersand) return at;
  const found = near === text.length ? -1 : text.indexOf("&", near);
  return found === -1 ? text.length : found;
}

/** The first value of a name that no route declares. */
export function firstValue(text: string, name: string): GivenText | undefined {
  const names = new FieldNames();
  const index = names.add(name, false);
  return new FieldValues(text, names).first(index);
}

/** Every value of a name that no route declares, in the order given. */
export function everyValue(text: string, name: string): readonly GivenText[] {
  const names = new FieldNames();
  const index = names.add(name, true);
  return new FieldValues(text, names).all(index);
}

/** Reads one text by its codec: the value, or the problem at its place. */
export function readText(codec: AnyCodec, text: string, at: string): unknown {
  const read = codec.parse(text);
  return read.ok ? read.value : new Problem(at, "malformed", read.error);
}

/** Reads a text whose bytes may be no UTF-8. */
export function readGiven(codec: AnyCodec, given: GivenText, at: string): unknown {
  return given === null ? notText(codec, at) : readText(codec, given, at);
}

/** A text that could not be decoded, told as the codec tells what it cannot read. */
export function notText(codec: AnyCodec, at: string): Problem {
  // A codec that reads any text has no sentence for this one.
  const read = codec.parse("\ufffd");
  return new Problem(at, "malformed", read.ok ? "This is not text." : read.error);
}

export function required(at: string): Problem {
  return new Problem(at, "required", "This is required.");
}
