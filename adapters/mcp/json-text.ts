/**
 * Parts of a text that is JSON, as text: parsed and written again, a whole number past 2^53 would lose digits. The functions are for
 * text that `JSON.parse` takes; of any other what they return means nothing.
 */
const backslash = 0x5c;
const quote = 0x22;
const comma = 0x2c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** The members of an object, or the items of a list, one after the other. */
class JsonParts {
  /** Where the value begins and ends. */
  from = 0;
  end: number;
  /** Where the name begins and ends, within its quotes; the same for an item. */
  nameFrom = 0;
  nameEnd = 0;
  readonly #text: string;
  readonly #isObject: boolean;

  constructor(text: string) {
    this.#text = text;
    this.end = pastSpace(text, 0);
    this.#isObject = text.charCodeAt(this.end) === openObject;
  }

  /** Goes to the first part, or the next one; false where there is none. */
  next(): boolean {
    const text = this.#text;
    // The bracket that opens, a comma, or the bracket that closes.
    let at = pastSpace(text, this.end);
    const unit = text.charCodeAt(at);
    if (unit !== comma && unit !== openObject && unit !== openList) return false;
    at = pastSpace(text, at + 1);
    if (isClosing(text.charCodeAt(at))) return false;
    if (this.#isObject) {
      this.nameFrom = at + 1;
      this.nameEnd = endOfString(text, at + 1);
      at = pastSpace(text, pastSpace(text, this.nameEnd + 1) + 1);
    }
    this.from = at;
    this.end = endOfValue(text, at);
    return this.end > at;
  }

  get name(): string {
    const name = this.#text.slice(this.nameFrom, this.nameEnd);
    return name.includes("\\") ? (JSON.parse(`"${name}"`) as string) : name;
  }

  get value(): string {
    return this.#text.slice(this.from, this.end);
  }
}

/** The text of one member of an object; of two of its name the last, as `JSON.parse` has it. */
export function memberText(text: string, name: string): string | undefined {
  let found: string | undefined;
  const parts = new JsonParts(text);
  while (parts.next()) if (parts.name === name) found = parts.value;
  return found;
}

/** The text of each member of an object. */
export function memberTexts(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const parts = new JsonParts(text);
  while (parts.next()) found.set(parts.name, parts.value);
  return found;
}

/** The text of each item of a list. */
export function itemTexts(text: string): readonly string[] {
  const found: string[] = [];
  const parts = new JsonParts(text);
  while (parts.next()) found.push(parts.value);
  return found;
}

function pastSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

function endOfValue(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === quote) return endOfString(text, from + 1) + 1;
  if (first === openObject || first === openList) return endOfBrackets(text, from);
  let at = from;
  while (at < text.length && !endsLiteral(text.charCodeAt(at))) at++;
  return at;
}

/** The quote that ends a string; `from` is behind the quote that begins it. */
function endOfString(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at !== -1 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at === -1 ? text.length : at;
}

function isEscaped(text: string, at: number): boolean {
  let from = at;
  while (text.charCodeAt(from - 1) === backslash) from--;
  return (at - from) % 2 === 1;
}

function endOfBrackets(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === quote) at = endOfString(text, at + 1);
    else if (unit === openObject || unit === openList) depth++;
    else if (isClosing(unit) && --depth === 0) return at + 1;
  }
  return text.length;
}

function isClosing(unit: number): boolean {
  return unit === closeObject || unit === closeList;
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
}

function endsLiteral(unit: number): boolean {
  return unit === comma || isClosing(unit) || isSpace(unit);
}
