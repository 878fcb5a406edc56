import type { StatementValues } from "./connection.ts";

/** A sentence of the server's that is longer ends here: only what quotes a value is. */
const maxReadCharacters = 500;
/** So many characters in a row that a value has too are a piece of it. */
const piece = 4;

/**
 * A sentence of the server's without what may be a value, each of which is replaced by `…`.
 *
 * - Of what it quotes, the names that stand in the statement stay, and those that the server says the error is about. The
 *   server quotes a value in its own form: `select $1::regclass` of `Secret` says `relation "secret" does not exist`.
 * - Of the rest, the words stay that have no piece of a value in them, or stand in the statement.
 *
 * @param names Of the table and so on, as the server gives them beside the sentence.
 */
export function untold(sentence: string, sql: string, values: StatementValues, names: readonly string[] = []): string {
  const read = sentence.slice(0, maxReadCharacters);
  const held = heldIn(fold(read), values);
  const statement = fold(sql);
  const isHeld = (start: number, end: number): boolean => held.subarray(start, end).includes(1);
  const isName = (start: number, end: number): boolean => {
    const quoted = read.slice(start, end);
    return stands(fold(quoted), statement) || (names.includes(quoted) && !isHeld(start, end));
  };
  let told = "";
  for (let at = 0; at < read.length;) {
    const closing = closings.get(read[at] as string);
    if (closing === undefined) {
      const end = wordEnd(read, at);
      const word = read.slice(at, end);
      const isTold = !isHeld(at, end) || isBlank(word[0]) || (isWord(word[0]) && stands(fold(word), statement));
      told += isTold ? word : "…";
      at = end;
    } else {
      const end = closingOf(read, at + 1, closing);
      told += `${read[at]}${isName(at + 1, end) ? read.slice(at + 1, end) : "…"}${read[end] ?? ""}`;
      at = end + 1;
    }
  }
  if (sentence.length > maxReadCharacters) told += "…";
  return told.replace(/…(?:\s*…)+/g, "…");
}

/** What ends a quotation, in the languages that a server speaks: German turns the French ones around. */
const closings: ReadonlyMap<string, string> = /* @__PURE__ */ new Map([
  ['"', '"'],
  ["'", "'"],
  ["`", "`'"],
  ["«", "»"],
  ["»", "«"],
  ["„", "“”"],
  ["“", "”"],
  ["‘", "’"],
  ["‚", "‘’"],
]);

/** Where a quotation ends. One that is not closed ends with the sentence. */
function closingOf(text: string, start: number, closing: string): number {
  let at = start;
  while (at < text.length && !closing.includes(text[at] as string)) at++;
  return at;
}

/** The end of a word, or of what stands between two: one character that is no letter, digit or blank, or the blanks. */
function wordEnd(text: string, start: number): number {
  const run = isWord(text[start]) ? isWord : isBlank;
  let end = start + 1;
  if (run(text[start])) while (run(text[end])) end++;
  return end;
}

/** Whether a name or a word stands in the statement, and not as a part of another one. Both are in lower case. */
function stands(name: string, statement: string): boolean {
  if (name === "") return true;
  for (let at = statement.indexOf(name); at !== -1; at = statement.indexOf(name, at + 1)) {
    const isPart =
      (isWord(name[0]) && isWord(statement[at - 1])) || (isWord(name.at(-1)) && isWord(statement[at + name.length]));
    if (!isPart) return true;
  }
  return false;
}

/** Marks what of the sentence stands in one of the values as well, forwards or backwards. Both are in lower case. */
function heldIn(sentence: string, values: StatementValues): Uint8Array {
  const held = new Uint8Array(sentence.length);
  const pieces = new Pieces(sentence, held);
  const short = new Set<string>();
  for (const value of values) {
    if (value === null || value === "") continue;
    if (value.length < piece) short.add(fold(value));
    else pieces.mark(fold(value));
  }
  for (const value of short) markShort(sentence, value, held);
  return held;
}

// A value as short as this one is a part of many words: it is told where it is a word.
function markShort(sentence: string, value: string, held: Uint8Array): void {
  for (let at = sentence.indexOf(value); at !== -1; at = sentence.indexOf(value, at + 1)) {
    if (!isWord(sentence[at - 1]) && !isWord(sentence[at + value.length])) held.fill(1, at, at + value.length);
  }
}

/** The pieces of a sentence. A value is read once, however long it is. */
class Pieces {
  readonly #held: Uint8Array;
  /** Where each piece begins that is not found yet. */
  readonly #starts = new Map<string, number[]>();
  /** By the hash of a piece, whether the sentence may have it: most of a long value is in none. */
  readonly #known = new Uint8Array(1 << 16);

  constructor(sentence: string, held: Uint8Array) {
    this.#held = held;
    for (let at = 0; at + piece <= sentence.length; at++) {
      const forwards = sentence.slice(at, at + piece);
      this.#add(forwards, at);
      this.#add(Array.from({ length: piece }, (_, i) => forwards[piece - 1 - i]).join(""), at);
    }
  }

  #add(text: string, at: number): void {
    const starts = this.#starts.get(text);
    if (starts === undefined) this.#starts.set(text, [at]);
    else starts.push(at);
    this.#known[hashAt(text, 0)] = 1;
  }

  mark(value: string): void {
    for (let at = 0; at + piece <= value.length; at++) {
      if (this.#known[hashAt(value, at)] === 0) continue;
      const text = value.slice(at, at + piece);
      for (const start of this.#starts.get(text) ?? []) this.#held.fill(1, start, start + piece);
      this.#starts.delete(text);
    }
  }
}

function hashAt(text: string, at: number): number {
  let hash = 0;
  for (let i = at; i < at + piece; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) & 0xffff;
  return hash;
}

/** In lower case, each character at its place. */
function fold(text: string): string {
  const lower = text.toLowerCase();
  // One letter, the Turkish İ, becomes two. The Greek sigma has another form at the end of a word.
  return (lower.length === text.length ? lower : text.replace(/[^İ]+/g, (part) => part.toLowerCase())).replace(
    /ς/g,
    "σ",
  );
}

function isWord(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{M}\p{N}_$\ud800-\udfff]/u.test(character);
}

function isBlank(character: string | undefined): boolean {
  return character !== undefined && /\s/.test(character);
}
