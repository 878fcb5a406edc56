import type { StatementValues } from "./connection.ts";

/** Longer messages are cut: only those that quote a value are longer. */
const maxReadCharacters = 500;
/** This many consecutive characters of a value count as a piece of it. */
const pieceLength = 4;

/**
 * A server's message, with everything that may be a parameter's value replaced by `…`.
 *
 * - Quoted text stays if it is a name in the statement or in the error's own fields. The server may quote a value in
 *   another form: `select $1::regclass` with `Secret` says `relation "secret" does not exist`.
 * - Other words stay if they contain no piece of a value, or are in the statement.
 *
 * @param names The table, column and constraint of the error's own fields.
 */
export function redact(sentence: string, sql: string, values: StatementValues, names: readonly string[] = []): string {
  const read = sentence.slice(0, maxReadCharacters);
  const leaked = leaksIn(lowerCase(read), values);
  const statement = lowerCase(sql);
  const isLeaked = (start: number, end: number): boolean => leaked.subarray(start, end).includes(1);
  const isName = (start: number, end: number): boolean => {
    const quoted = read.slice(start, end);
    return contains(lowerCase(quoted), statement) || (names.includes(quoted) && !isLeaked(start, end));
  };
  let redacted = "";
  for (let at = 0; at < read.length;) {
    const closing = closings.get(read[at] as string);
    if (closing === undefined) {
      const end = wordEnd(read, at);
      const word = read.slice(at, end);
      const isKept =
        !isLeaked(at, end) || isBlank(word[0]) || (isWord(word[0]) && contains(lowerCase(word), statement));
      redacted += isKept ? word : "…";
      at = end;
    } else {
      const end = closingOf(read, at + 1, closing);
      redacted += `${read[at]}${isName(at + 1, end) ? read.slice(at + 1, end) : "…"}${read[end] ?? ""}`;
      at = end + 1;
    }
  }
  if (sentence.length > maxReadCharacters) redacted += "…";
  return redacted.replace(/…(?:\s*…)+/g, "…");
}

/** Closing quotation marks, in the languages of a server's messages: German reverses the French ones. */
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

/** The end of a quotation. An unclosed one ends with the message. */
function closingOf(text: string, start: number, closing: string): number {
  let at = start;
  while (at < text.length && !closing.includes(text[at] as string)) at++;
  return at;
}

/** The end of a word, of a run of white space, or of one other character. */
function wordEnd(text: string, start: number): number {
  const run = isWord(text[start]) ? isWord : isBlank;
  let end = start + 1;
  if (run(text[start])) while (run(text[end])) end++;
  return end;
}

/** Whether the statement contains the name as a whole word. Both are in lower case. */
function contains(name: string, statement: string): boolean {
  if (name === "") return true;
  for (let at = statement.indexOf(name); at !== -1; at = statement.indexOf(name, at + 1)) {
    const isPart =
      (isWord(name[0]) && isWord(statement[at - 1])) || (isWord(name.at(-1)) && isWord(statement[at + name.length]));
    if (!isPart) return true;
  }
  return false;
}

/** Marks every part of the sentence that a value contains, forwards or backwards. The sentence is in lower case. */
function leaksIn(sentence: string, values: StatementValues): Uint8Array {
  const leaked = new Uint8Array(sentence.length);
  const pieces = new Pieces(sentence, leaked);
  const short = new Set<string>();
  for (const value of values) {
    if (value === null || value === "") continue;
    if (value.length < pieceLength) short.add(lowerCase(value));
    else pieces.mark(lowerCase(value));
  }
  for (const value of short) markShort(sentence, value, leaked);
  return leaked;
}

// A short value is a part of many words, so only a whole word counts.
function markShort(sentence: string, value: string, leaked: Uint8Array): void {
  for (let at = sentence.indexOf(value); at !== -1; at = sentence.indexOf(value, at + 1)) {
    if (!isWord(sentence[at - 1]) && !isWord(sentence[at + value.length])) leaked.fill(1, at, at + value.length);
  }
}

/** The pieces of a sentence. Each value is scanned once. */
class Pieces {
  readonly #leaked: Uint8Array;
  /** The positions of each piece that no value has matched yet. */
  readonly #starts = new Map<string, number[]>();
  /** Whether the sentence may have a piece with this hash. It skips most of a long value. */
  readonly #known = new Uint8Array(1 << 16);

  constructor(sentence: string, leaked: Uint8Array) {
    this.#leaked = leaked;
    for (let at = 0; at + pieceLength <= sentence.length; at++) {
      const forwards = sentence.slice(at, at + pieceLength);
      this.#add(forwards, at);
      this.#add(Array.from({ length: pieceLength }, (_, i) => forwards[pieceLength - 1 - i]).join(""), at);
    }
  }

  #add(text: string, at: number): void {
    const starts = this.#starts.get(text);
    if (starts === undefined) this.#starts.set(text, [at]);
    else starts.push(at);
    this.#known[hashAt(text, 0)] = 1;
  }

  mark(value: string): void {
    for (let at = 0; at + pieceLength <= value.length; at++) {
      if (this.#known[hashAt(value, at)] === 0) continue;
      const text = value.slice(at, at + pieceLength);
      for (const start of this.#starts.get(text) ?? []) this.#leaked.fill(1, start, start + pieceLength);
      this.#starts.delete(text);
    }
  }
}

function hashAt(text: string, at: number): number {
  let hash = 0;
  for (let i = at; i < at + pieceLength; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) & 0xffff;
  return hash;
}

/** In lower case, with every character at its index. */
function lowerCase(text: string): string {
  const lower = text.toLowerCase();
  // The Turkish İ becomes two characters. A final Greek sigma has another form.
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
