import { isA } from "../logging/raised.ts";
import { Refusal, RefusingError, refuse } from "../refusals.ts";
import type { ConnectionError, StatementValues } from "./connection.ts";

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

/** The items of an array and the members of JSON that are shorter than a piece. */
const shortItems = /[":[,]([^"\\:[\]{},\s]{1,3})(?=["\]},])/g;

/** Marks every part of the sentence that a value contains, forwards or backwards. The sentence is in lower case. */
function leaksIn(sentence: string, values: StatementValues): Uint8Array {
  const leaked = new Uint8Array(sentence.length);
  const pieces = new Pieces(sentence, leaked);
  const short = new Set<string>();
  for (const value of values) {
    if (value === null || value === "") continue;
    if (value.length < pieceLength) short.add(lowerCase(value));
    else pieces.mark(lowerCase(value));
    for (const [, item = ""] of value.matchAll(shortItems)) short.add(lowerCase(item));
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

/** Why a database call failed. The kinds differ in what the database may have done. */
export type DatabaseFailure =
  /** No connection became free within `waitMs`. */
  | { readonly kind: "pool_busy"; readonly waitedMs: number }
  | { readonly kind: "pool_closed" }
  /** The database could not be reached. Nothing was done. */
  | { readonly kind: "unsent"; readonly detail: string }
  /**
   * The borrowed connection is closed. Nothing was sent. `ended` is what had ended before, so that its connection was returned to the
   * pool: the transaction, or the `use`.
   */
  | { readonly kind: "connection_closed"; readonly ended?: "transaction" | "use" }
  /** The connection was lost while a statement or a commit ran. Its outcome is unknown. */
  | { readonly kind: "lost"; readonly detail: string }
  /** A statement violated a unique, exclusion or foreign key constraint; or the commit, if the constraint is deferred. */
  | { readonly kind: "conflict"; readonly constraint: string | undefined }
  /** A concurrent transaction conflicted, also on the last retry. Nothing was kept. */
  | { readonly kind: "not_serializable"; readonly detail: string }
  /** Nothing of the transaction was kept. */
  | { readonly kind: "not_committed"; readonly detail: string }
  /**
   * Any other error of the database, with its SQLSTATE; or, without one, a parameter or a result that does not fit the
   * statement's declaration. Outside of a transaction a statement whose result does not fit was done. If a statement violated a
   * check, `constraint` is its name.
   */
  | {
      readonly kind: "db";
      readonly code: string | undefined;
      readonly detail: string;
      readonly constraint?: string;
    };

/**
 * The error that a pool and its connections throw. If the application does not handle it, the response is 503 `busy` for a
 * failure worth a retry, else 500 `internal` (contract 7.5). The message is logged. It never contains a parameter's
 * value. Of what the server quotes it keeps only names: from the statement, and from the error's own fields.
 *
 * @example
 * try {
 *   return await pool.exec(addUser, name);
 * } catch (error) {
 *   if (DatabaseError.conflict(error, "users_name_key")) return refuse(nameTaken, "That name is taken.");
 *   throw error;
 * }
 */
export class DatabaseError extends RefusingError {
  declare readonly failure: DatabaseFailure;
  declare readonly refusal: Refusal<"busy" | "internal">;

  /** @param ended The signal of the caller, where that ended the work: its reason is the `cause`. */
  constructor(failure: DatabaseFailure, isBusy: boolean = busyKinds.has(failure.kind), ended?: AbortSignal) {
    const message = sentenceOf(failure);
    super(message, ended && { cause: ended.reason });
    const refusal = refuse(isBusy ? Refusal.busy : Refusal.internal, undefined, { detail: message });
    // An uncaught error is printed with its enumerable members: the sentence would be there three times.
    Object.defineProperties(this, {
      name: { value: "DatabaseError" },
      failure: { value: failure },
      refusal: { value: refusal },
    });
  }

  /** The SQLSTATE of a failure of kind `db`. */
  get code(): string | undefined {
    return this.failure.kind === "db" ? this.failure.code : undefined;
  }

  override get isOutcomeUnknown(): boolean {
    return this.failure.kind === "lost";
  }

  /** An error of the database, also where a library has made it the `cause` of its own, as Drizzle does; undefined for any other error. */
  static of(error: unknown): DatabaseError | undefined {
    let found = error;
    for (let left = maxCauses; left > 0; left--) {
      if (isA(DatabaseError, found)) return found;
      if (!(found instanceof Error)) return undefined;
      found = found.cause;
    }
    return undefined;
  }

  /** The name of the constraint that an error violated, or its cause, a check too; undefined for any other error. */
  static conflict(error: unknown): string | undefined;
  /** Whether an error violated that constraint: unique, exclusion, foreign key or check. */
  static conflict(error: unknown, constraint: string): boolean;
  static conflict(error: unknown, constraint?: string): string | boolean | undefined {
    const failure = DatabaseError.of(error)?.failure;
    const violated = failure?.kind === "conflict" || failure?.kind === "db" ? failure.constraint : undefined;
    return constraint === undefined ? violated : violated === constraint;
  }
}

/** Causes may be a circle. */
const maxCauses = 8;

const busyKinds: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "pool_busy",
  "pool_closed",
  "unsent",
  "not_serializable",
]);

function sentenceOf(failure: DatabaseFailure): string {
  switch (failure.kind) {
    case "pool_busy":
      return `no database connection came free within ${failure.waitedMs} ms`;
    case "pool_closed":
      return "the database pool is closed";
    case "unsent":
      return `there was no connection to the database, and nothing was done: ${failure.detail}`;
    case "connection_closed":
      return failure.ended === undefined
        ? "the database connection is closed, and nothing was sent on it"
        : `the ${failure.ended} has ended, and nothing was sent: await what uses it before its end, or use the pool`;
    case "lost":
      return `the database connection was lost, and what was done is not known: ${failure.detail}`;
    case "conflict":
      return `a constraint is violated: ${failure.constraint ?? "of no name"}`;
    case "not_serializable":
      return `a concurrent transaction stood in the way: ${failure.detail}`;
    case "not_committed":
      return `the transaction was not committed: ${failure.detail}`;
    default:
      return `the database: ${failure.detail}`;
  }
}

/** Unique, exclusion, foreign key, and RESTRICT of a foreign key (PostgreSQL, appendix A, class 23). */
const conflicts: ReadonlySet<string> = /* @__PURE__ */ new Set(["23505", "23P01", "23503", "23001"]);
const checkViolation = "23514";
/** Serialisation failure and deadlock. */
const concurrent: ReadonlySet<string> = /* @__PURE__ */ new Set(["40001", "40P01"]);

/**
 * Maps a connection's error to the failure that the application gets.
 *
 * @param sql Named in the detail if the statement is wrong: it is the program's own text.
 * @param values The parameters, to be kept out of the detail; undefined if they are unknown, as for a commit.
 */
export function failureOf(reason: ConnectionError, sql: string, values: StatementValues | undefined): DatabaseFailure {
  if (reason.kind === "unreachable") return { kind: "unsent", detail: reason.why };
  if (reason.kind === "gone")
    return reason.isSent
      ? { kind: "lost", detail: redact(reason.why, sql, values ?? []) }
      : { kind: "connection_closed" };
  if (reason.kind === "unsendable")
    return { kind: "db", code: undefined, detail: `${reason.why}, for ${clipped(sql)}` };
  const { code, constraint } = reason;
  if (conflicts.has(code)) return { kind: "conflict", constraint };
  const text = logMessageOf(reason, sql, values);
  if (concurrent.has(code)) return { kind: "not_serializable", detail: text };
  const detail = `${text}, for ${clipped(sql)}`;
  // Without a handler it is a mistake of the program, which did not validate: the log has the statement.
  return { kind: "db", code, detail, ...(code === checkViolation && constraint !== undefined && { constraint }) };
}

// Messages of SQLSTATE class 22 (data exception) quote values. Hints, details and contexts may too, so they are not used.
function logMessageOf(
  { code, severity, message, names }: ConnectionError & { kind: "refused" },
  sql: string,
  values: StatementValues | undefined,
): string {
  const start = `${severity} ${code}`;
  return code.startsWith("22") || values === undefined ? start : `${start}: ${redact(message, sql, values, names)}`;
}

const maxShownCharacters = 100;

/** A statement's text on one line, cut to 100 characters. */
export function clipped(sql: string): string {
  const line = sql.replace(/\s+/g, " ").trim();
  return line.length > maxShownCharacters ? `${line.slice(0, maxShownCharacters - 1)}…` : line;
}
