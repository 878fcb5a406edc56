import type { AnyCodec } from "../codecs/codec.ts";
import { keyOf } from "../http/bytes.ts";
import { decodeFormText } from "../http/target.ts";
import { Problem, Refusal, invalidRefusal } from "../refusals.ts";

/** What stands for a text in a charset that the platform does not read. */
export const inUnknownCharset: unique symbol = Symbol("in an unknown charset");

/** A received text, or null where its bytes are no text of its charset, which is UTF-8 except for fields of a form. */
export type GivenText = string | null;

/** A field of a form. */
export type GivenField = GivenText | typeof inUnknownCharset;

const ampersand = 0x26;
const equals = 0x3d;
// A character is at most three bytes of UTF-8, and each byte at most `%XX`.
const maxEncodedUnits = 9;

/**
 * The names of the fields that a route reads from a query or a form, collected when the app is made. A client's names are
 * looked up here.
 */
export class FieldNames {
  readonly #indexes = new Map<string, number>();
  readonly #lists: boolean[] = [];
  /** The objects whose members are fields, each with the index of its other names. */
  readonly #objects: (readonly [prefix: string, index: number])[] = [];
  #longest = 0;
  /** How often what is read has changed: by a name, or by a name that is a list from now on. */
  changes = 0;

  /** The index of a field's values: the first one, or all where the field is a list. */
  add(name: string, isList: boolean): number {
    const index = this.#indexes.get(keyOf(name)) ?? this.#lists.length;
    const before = this.#lists[index];
    this.#indexes.set(keyOf(name), index);
    this.#lists[index] = isList || before === true;
    if (this.#lists[index] !== before) this.changes++;
    this.#longest = Math.max(this.#longest, name.length);
    return index;
  }

  /**
   * The index of the names `name[…]` that no field has. The names are its values: the object refuses some of them.
   */
  addOthers(name: string): number {
    const prefix = `${name}[`;
    const known = this.#objects.find(([other]) => other === prefix);
    if (known !== undefined) return known[1];
    const index = this.#lists.push(true) - 1;
    this.#objects.push([prefix, index]);
    this.#longest = Number.POSITIVE_INFINITY;
    this.changes++;
    return index;
  }

  /** The object that a name within a text is of, and that name; undefined where no object has it. */
  otherIn(text: string, start: number, end: number): readonly [index: number, name: string] | undefined {
    if (this.#objects.length === 0) return undefined;
    const name = decodeFormText(text, start, end);
    const found = name === null ? undefined : this.#objects.find(([prefix]) => name.startsWith(prefix));
    return found === undefined ? undefined : [found[1], name as string];
  }

  /** The index of a name; -1 where no field has it. */
  indexOf(name: string): number {
    return this.#indexes.get(keyOf(name)) ?? -1;
  }

  /** As `indexOf`, for a name within a text. */
  indexIn(text: string, start: number, end: number, isEncoded: boolean): number {
    if (end - start > (isEncoded ? maxEncodedUnits : 1) * this.#longest) return -1;
    const name = isEncoded ? decodeFormText(text, start, end) : text.slice(start, end);
    return name === null ? -1 : this.indexOf(name);
  }

  isList(index: number): boolean {
    return this.#lists[index] === true;
  }
}

/** The values of a route's fields in the text of a query or a form, read in one pass. */
export class FieldValues {
  readonly #text: string;
  readonly #names: FieldNames;
  readonly #changes: number;
  /** By field index: the first value, or the list of all. */
  readonly #values: (GivenText | GivenText[] | undefined)[] = [];

  constructor(text: string, names: FieldNames) {
    this.#text = text;
    this.#names = names;
    this.#changes = names.changes;
    for (let start = 0; start < text.length; start++) {
      if (text.charCodeAt(start) !== ampersand) start = this.#readPair(start);
    }
  }

  /** Whether it was read for these fields: a bind may add to them during the request. */
  isOf(names: FieldNames): boolean {
    return this.#names === names && this.#changes === names.changes;
  }

  /** The first value of a field; undefined where it is absent. */
  first(index: number): GivenText | undefined {
    const value = this.#values[index];
    return Array.isArray(value) ? value[0] : value;
  }

  /** Every value of a list field, in order. */
  all(index: number): readonly GivenText[] {
    const values = this.#values[index];
    return Array.isArray(values) ? values : [];
  }

  /** Reads one pair and keeps the value if a field has its name. Returns the end of the pair; `a` alone has an empty value. */
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
    else this.#noteOther(this.#names.otherIn(text, start, at));
    return end;
  }

  #noteOther(other: readonly [index: number, name: string] | undefined): void {
    if (other === undefined) return;
    const [index, name] = other;
    const known = this.#values[index];
    if (Array.isArray(known)) known.push(name);
    else this.#values[index] = [name];
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

// A native search costs as much as twenty steps of this loop, and most values are shorter.
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

/** Every value of a name that no route declares, in order. */
export function everyValue(text: string, name: string): readonly GivenText[] {
  const names = new FieldNames();
  const index = names.add(name, true);
  return new FieldValues(text, names).all(index);
}

/** The problems of a text that a schema does not read. */
export class WrongText {
  readonly ok = false;
  /** The first problem's sentence. */
  readonly error: string;
  readonly problems: readonly Problem[];

  constructor(problems: readonly [Problem, ...Problem[]]) {
    this.error = problems[0].message;
    this.problems = problems;
  }
}

/** Parses one text with its codec: the value, or its problem or problems at its place. */
export function readText(codec: AnyCodec, text: string, at: string): unknown {
  const read = codec.parse(text);
  return read.ok ? read.value : problemOrRefusal(problemsOf(read, at));
}

/** A schema's problems have their place; a codec's error gets it here. */
function problemsOf(read: { readonly error: string }, at: string): readonly Problem[] {
  return read instanceof WrongText ? read.problems : [new Problem(at, "malformed", read.error)];
}

/** One problem by itself, several as a refusal. */
export function problemOrRefusal(problems: readonly Problem[], more = 0): Problem | Refusal {
  return problems.length === 1 && more === 0 ? (problems[0] as Problem) : invalidRefusal(problems, undefined, more);
}

/** Parses a text whose bytes may not be text. */
export function readGiven(codec: AnyCodec, given: GivenField, at: string): unknown {
  return typeof given === "string" ? readText(codec, given, at) : noText(codec, given, at);
}

/** The problem for bytes that are no text. */
export function noText(codec: AnyCodec, given: Exclude<GivenField, string>, at: string): Problem {
  return given === null ? notText(codec, at) : unknownCharset(at);
}

/** The problem of a charset that the platform does not read. */
export function unknownCharset(at: string): Problem {
  return new Problem(at, "malformed", "This charset is not supported.");
}

/**
 * Parses a field of a form, of which a browser sends every empty control: an empty text that its type does not read is what an absent
 * field is. A required text has a problem of its own, as for its least length.
 */
export function readControl(codec: AnyCodec, given: GivenField, at: string, absent: () => unknown): unknown {
  const read = readGiven(codec, given, at);
  if (given !== "" || !(read instanceof Problem || read instanceof Refusal)) return read;
  const instead = absent();
  return codec.schema?.takesAnyText === true && instead instanceof Problem ? read : instead;
}

/** The fields of a form without those that are empty and that their type does not read. */
export function* filledControls(given: Iterable<GivenField>, codec: AnyCodec): Generator<GivenField, void, undefined> {
  for (const text of given) if (text !== "" || codec.parse("").ok) yield text;
}

/** The problem for a text that is not UTF-8, with the codec's own sentence. */
export function notText(codec: AnyCodec, at: string): Problem {
  // A codec that accepts any text has no sentence. A schema of texts has one for its rules, as a length, and none for this.
  const read = codec.schema?.takesAnyText === true ? undefined : codec.parse("\ufffd");
  return new Problem(at, "malformed", read === undefined || read.ok ? "This is not text." : read.error);
}

/** The problem of a text or a file that was not sent. */
export function missing(at: string): Problem {
  return new Problem(at, "required", "This is required.");
}
