/** A sentence that a function of the value made: it may quote the value, so that only the client gets it. */
export class ClientSentence {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The sentence of a problem. */
export type Sentence = string | ClientSentence;

/** A type of JSON value, in words for the client. */
export type Sort = "null" | "true or false" | "a number" | "text" | "a list" | "an object";

/** All sorts, for a shape that accepts any. */
export const everySort: readonly Sort[] = ["null", "true or false", "a number", "text", "a list", "an object"];

/** The sort of a value, or `something else` for a value that JSON does not have. */
export function sortOf(value: unknown): Sort | "something else" {
  switch (typeof value) {
    case "string":
      return "text";
    case "number":
    case "bigint":
      return "a number";
    case "boolean":
      return "true or false";
    case "object":
      return value === null ? "null" : Array.isArray(value) ? "a list" : "an object";
    default:
      return "something else";
  }
}

/** Joins words as in a sentence: `A, B or C`. */
export function joined(words: readonly string[]): string {
  const last = words.at(-1);
  if (last === undefined) return "nothing at all";
  return words.length === 1 ? last : `${words.slice(0, -1).join(", ")} or ${last}`;
}

/** The words a value is chosen from: `one of "a", "b" or "c"`. */
export function oneOf(words: readonly unknown[]): string {
  const spelled = words.map((word) => spell(word));
  if (spelled.length === 0) return "one of no words at all";
  return spelled.length === 1 ? joined(spelled) : `one of ${joined(spelled)}`;
}

/** Spells a bound or a word of the shape, never a received value. */
export function spell(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "another instant" : value.toISOString();
  return String(value);
}

export function mustBe(expected: readonly string[], value: unknown): string {
  return `This must be ${joined(expected)}, not ${sortOf(value)}.`;
}

export const required = "This is required.";
export const unreadable = "This could not be read.";
export const notJson = "This is not JSON.";
/** How deep lists and objects may be nested, read and written. */
export const maxDepth = 512;
export const tooDeep = "This is nested more than 512 deep.";
export const fraction = "This must be a whole number, not a fraction.";
export const unknownMember = "This is not a member this object has.";
export const tooLargeToRead = "This number is too large to be read.";
/** The name of a whole number that must fit a JavaScript number. */
export const wholeHere = "a whole number here";
export const whole64 = "a 64-bit whole number";
export const wholeWithFraction = "a whole number written with a fraction";

/** Outside the range of the number's kind, and not of a bound of the shape. */
export function outside(kind: string, below: boolean): string {
  return `This is ${below ? "smaller" : "larger"} than ${kind} can hold.`;
}

const plainName = /^[A-Za-z0-9_$\-\u{80}-\u{10ffff}]+$/u;

/** The step to a member's name, where the name itself is invalid. */
export const memberName: unique symbol = Symbol("name");

export type Step = string | number | typeof memberName | undefined;

/**
 * Spells the place of a value: `body.items[2].count`, `body["odd name"]`.
 *
 * @param own The names that may be spelled; all unless given. Any other is `(unknown)`.
 */
export function jsonPath(root: string, path: readonly Step[], depth: number, own?: ReadonlySet<string>): string {
  let place = root;
  for (let level = 0; level < depth; level++) {
    const step = path[level];
    if (typeof step === "number") place += `[${step}]`;
    else if (step === memberName) place += "[name]";
    else if (step === undefined) continue;
    else if (own?.has(step) === false) place += ".(unknown)";
    else place += plainName.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
  }
  return place;
}
