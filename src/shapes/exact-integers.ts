import { endOfString } from "./json-string.ts";

// Past 2^53 a number loses digits. Of 20 digits and more none is a 64-bit number, and making a bigint of a million
// digits is slow: those stay numbers.
const long = /[0-9]{16}/;
const longInteger = /^-?[1-9][0-9]{15,18}$/;

// Half of a surrogate pair: no text that is read or written may hold it alone, so what it marks is ours.
const mark = "\udc00";

/**
 * Parses JSON text that spells no lone surrogate, a whole number of 16 to 19 digits as a bigint. Throws as `JSON.parse` does.
 *
 * The digits go through the parser as text in a list of one: a list is not a member's name, so what was not JSON
 * before is not JSON after.
 */
export function parseExactly(text: string): unknown {
  if (!long.test(text)) return JSON.parse(text);
  if (!text.isWellFormed()) throw new SyntaxError("This is not Unicode text.");
  return withBigints(JSON.parse(marked(text)));
}

/** A whole number that `JSON.stringify` is given: it leaves its digits marked in the text. */
export class LongInteger {
  readonly #digits: string;

  constructor(value: bigint) {
    this.#digits = String(value);
  }

  toJSON(): string {
    return mark + this.#digits;
  }
}

/** The text with the digits of every {@link LongInteger} as a number. */
export function withDigits(text: string): string {
  return text.replace(/"\\udc00(-?[0-9]+)"/g, "$1");
}

function marked(text: string): string {
  let out = "";
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) at = endOfString(text, at + 1);
    else if (isOfNumber(unit)) {
      const start = at;
      while (isOfNumber(text.charCodeAt(at + 1))) at++;
      const token = text.slice(start, at + 1);
      if (!longInteger.test(token)) continue;
      out += `${text.slice(copied, start)}["${mark}${token}"]`;
      copied = at + 1;
    }
  }
  return out + text.slice(copied);
}

/** A digit, or `+ - . e E`. */
function isOfNumber(unit: number): boolean {
  return (unit >= 0x30 && unit <= 0x39) || unit === 0x2d || unit === 0x2e || unit === 0x2b || (unit | 0x20) === 0x65;
}

function withBigints(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const [only] = value as unknown[];
    if (value.length === 1 && typeof only === "string" && only.startsWith(mark)) return BigInt(only.slice(1));
  }
  const members = value as { [name: string]: unknown };
  for (const name of Object.keys(members)) {
    const member = members[name];
    if (typeof member === "object") members[name] = withBigints(member);
  }
  return value;
}
