import { keyOf } from "./bytes.ts";

let second = Number.NaN;
let text = "";

/** RFC 9110 §5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`, formatted once a second. */
export function httpDate(at: number): string {
  const now = Math.floor(at / 1000);
  if (now !== second) {
    second = now;
    text = new Date(now * 1000).toUTCString();
  }
  return text;
}

/**
 * A part of a field without the SP and HTAB at its ends, the only white space of HTTP (RFC 9110 §5.6.3).
 * `String.prototype.trim` also removes U+00A0 and others, which belong to a name or a value. A browser would send a cookie
 * named U+00A0 and `__Host-sid` for any sibling domain that set it.
 */
export function stripped(text: string, from = 0, to: number = text.length): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** The value of a field, its lines joined (RFC 9110 §5.3); undefined without a line. */
export function fieldValue(lines: readonly string[]): string | undefined {
  const [first] = lines;
  return first === undefined ? undefined : stripped(lines.length === 1 ? first : lines.join(", "));
}

/**
 * The fields of `Headers`. Deno's iterator looks at all of them for each one (2.9.5: 80 µs for 12 of them, and 12 s for 4,000), and its
 * `forEach` does not.
 */
export function fieldsOf(headers: Headers): Iterable<readonly [name: string, value: string]> {
  if (!("Deno" in globalThis)) return headers;
  const fields: [name: string, value: string][] = [];
  headers.forEach((value, name) => fields.push([name, value]));
  return fields;
}

/** The fields of a request over HTTP/2 with one of all its cookies, which a client may split (RFC 9113 §8.2.3). */
export function* withOneCookie(
  fields: Iterable<readonly [name: string, value: string]>,
): Iterable<readonly [name: string, value: string]> {
  const cookies: string[] = [];
  for (const field of fields) {
    if (field[0] === "cookie") cookies.push(field[1]);
    else yield field;
  }
  if (cookies.length > 0) yield ["cookie", cookies.join("; ")];
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09;
}

/** Whether a header that lists tokens, on one line or several, has this token; case does not matter (RFC 9110 §5.6.1). */
export function lists(lines: readonly string[], token: string): boolean {
  const lower = token.toLowerCase();
  return itemsOf(lines).some((item) => item.toLowerCase() === lower);
}

/** The value of a `Content-Length`. Two equal lines arrive as a list, which gives no length: the runtime frames the body. */
export function contentLengthOf(value: string): number | undefined {
  return /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

/** The items of a list, as sent. */
export function itemsOf(lines: readonly string[]): readonly string[] {
  return lines
    .join(",")
    .split(",")
    .map((item) => stripped(item));
}

/** RFC 9110 §5.6.2. Sticky: for {@link FieldScanner.match}. */
export const token: RegExp = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y;

/** A position in a field value that each read moves forward. No character is read twice, so the cost is linear. */
export class FieldScanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Whether the position is at the end. */
  get done(): boolean {
    return this.#at === this.#text.length;
  }

  /** The next character; `""` at the end. */
  get next(): string {
    return this.#text.charAt(this.#at);
  }

  /** Reads the next character if it is this one. */
  take(character: string): boolean {
    if (this.next !== character) return false;
    this.#at += 1;
    return true;
  }

  /** Whether a sticky pattern matches here; reads nothing. */
  sees(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    return pattern.test(this.#text);
  }

  /** Reads what a sticky pattern matches here. */
  match(pattern: RegExp): string | undefined {
    if (!this.sees(pattern)) return undefined;
    const start = this.#at;
    this.#at = pattern.lastIndex;
    return this.#text.slice(start, this.#at);
  }

  /** Optional white space: OWS, and BWS where it is bad (RFC 9110 §5.6.3). */
  skipBlanks(): void {
    while (this.next === " " || this.next === "\t") this.#at += 1;
  }
}

const plain = /[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]+/y;
const escaped = /\\[\t \x21-\x7e\x80-\xff]/y;

/** Whether text is a token (RFC 9110 §5.6.2). */
export function isToken(text: string): boolean {
  token.lastIndex = 0;
  return token.test(text) && token.lastIndex === text.length;
}

/** A token, or the text of a quoted string. */
export function readWord(field: FieldScanner): string | undefined {
  return field.match(token) ?? readQuoted(field);
}

/** The text of a quoted string (RFC 9110 §5.6.4). */
function readQuoted(field: FieldScanner): string | undefined {
  if (!field.take('"')) return undefined;
  let content = "";
  while (!field.take('"')) {
    const part = field.match(plain) ?? field.match(escaped)?.slice(1);
    if (part === undefined) return undefined;
    content += part;
  }
  return content;
}

/** Text as a token, or quoted where it is not one; undefined where it cannot be quoted either. */
export function printWord(text: string): string | undefined {
  return isToken(text) ? text : printQuoted(text);
}

/** Text as a quoted string; undefined where it has a character that no field value may have. */
export function printQuoted(text: string): string | undefined {
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return undefined;
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/** Parameters by name, in the order sent. Names are in lower case. */
type Parameters = ReadonlyMap<string, string>;

/** Parameters as they are read. The `Map` is made only where the application reads it: see {@link keyOf}. */
export class Pairs {
  readonly #keys = new Set<string>();
  readonly #list: (readonly [name: string, value: string])[] = [];
  #map: Parameters | undefined;

  /** Adds a parameter; false if its name is already present. */
  add(name: string, value: string): boolean {
    const key = keyOf(name);
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    this.#list.push([name, value]);
    return true;
  }

  get list(): readonly (readonly [name: string, value: string])[] {
    return this.#list;
  }

  get map(): Parameters {
    return (this.#map ??= new Map(this.#list));
  }
}

const semicolon = /[ \t]*;[ \t]*/y;

/**
 * Reads parameters (RFC 9110 §5.6.6), none or more. Undefined where one is malformed or a name is repeated. No white space
 * is allowed around `=`.
 *
 * @param until A sticky pattern that ends them.
 */
export function readParameters(field: FieldScanner, until?: RegExp): Pairs | undefined {
  const pairs = new Pairs();
  while (!(until !== undefined && field.sees(until)) && field.match(semicolon) !== undefined) {
    const name = field.match(token)?.toLowerCase();
    // RFC 9110 §5.6.6 allows an empty parameter: "text/html;".
    if (name === undefined) continue;
    if (!field.take("=")) return undefined;
    const value = readWord(field);
    if (value === undefined || !pairs.add(name, value)) return undefined;
  }
  return pairs;
}

/** Parameters, each after a `;`; undefined where one cannot be printed. */
export function printParameters(parameters: Parameters): string | undefined {
  const pairs = printPairs(parameters);
  return pairs?.map((pair) => `;${pair}`).join("");
}

/** Each parameter as `name=value`; undefined where one cannot be printed, or two names differ only in case. */
export function printPairs(parameters: Parameters): readonly string[] | undefined {
  const names = new Set<string>();
  const pairs: string[] = [];
  for (const [given, value] of parameters) {
    const name = given.toLowerCase();
    const word = printWord(value);
    if (!isToken(name) || names.has(name) || word === undefined) return undefined;
    names.add(name);
    pairs.push(`${name}=${word}`);
  }
  return pairs;
}

/**
 * Visible ASCII, spaces and tabs: less than RFC 9110 §5.5 allows, since runtimes differ on other bytes. One runtime ends the
 * process for a control character here.
 */
export function isFieldValue(value: unknown): boolean {
  return typeof value === "string" && /^[\t\x20-\x7e]*$/.test(value);
}
