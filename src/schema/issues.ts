import { isObject } from "./reading.ts";
import type { JsonReading } from "./reading.ts";
import { ClientSentence, maxDepth, unreadable } from "./messages.ts";
import { SchemaError } from "./validate.ts";
import type { StandardIssue } from "./validate.ts";

const maxMessage = 500;
/** How many parts of one body are compared with messages. */
const maxCompared = 10_000;

/**
 * Notes a library's issues as problems.
 *
 * @param sent The parsed JSON that was validated.
 */
export function noteIssues(issues: readonly StandardIssue[], sent: unknown, reading: JsonReading): void {
  const messages = new Messages();
  for (const issue of issues) {
    if (typeof issue !== "object" || issue === null)
      throw new SchemaError("A schema answered an issue that is no object");
    // Once a problem is not listed, no later one is: only its number counts.
    if (reading.more > 0) {
      reading.count++;
      reading.more++;
      continue;
    }
    const at = follow(stepsOf(issue.path), sent, reading);
    // It may name what the client sent: `Unrecognized key: "…"`.
    reading.wrong(codeOf(issue, at), new ClientSentence(messages.of(issue, at.value)));
    reading.depth = 0;
  }
}

/** The place of an issue. */
interface IssuePlace {
  readonly value: unknown;
  /** Whether it is a member, or an item, that was not sent. */
  readonly isMissing: boolean;
}

/** The keys of an issue's path: each a key, or an object with one. A key of another type ends it. */
export function stepsOf(path: unknown): readonly (string | number)[] {
  const steps: (string | number)[] = [];
  if (!Array.isArray(path)) return steps;
  for (const step of path.slice(0, maxDepth) as readonly unknown[]) {
    const key = typeof step === "object" && step !== null ? (step as { readonly key?: unknown }).key : step;
    if (typeof key !== "string" && typeof key !== "number") break;
    steps.push(key);
  }
  return steps;
}

/** Sets the reading's place to a path, spelled as the JSON is: a number within a list, and a name within an object. */
function follow(steps: readonly (string | number)[], sent: unknown, reading: JsonReading): IssuePlace {
  let value = sent;
  let isMissing = false;
  for (const step of steps) {
    const isIndex = Array.isArray(value)
      ? /^[0-9]{1,15}$/.test(String(step))
      : !isObject(value) && typeof step === "number";
    reading.path[reading.depth++] = isIndex ? Number(step) : String(step);
    const holds = typeof value === "object" && value !== null;
    isMissing = holds && !Object.hasOwn(value as object, step);
    value = holds && !isMissing ? (value as { readonly [step: string | number]: unknown })[step] : undefined;
  }
  return { value, isMissing };
}

function codeOf({ code }: StandardIssue, { isMissing }: IssuePlace): string {
  if (isMissing) return "required";
  return typeof code === "string" && /^[a-z][a-z0-9_]{0,63}$/.test(code) ? code : "malformed";
}

/** Where libraries begin to tell the value: `Expected number, actual "x"`, `must be a number (was "x")`. */
const aboutValue = /(?:,? \(?| ?[,;:(] ?)(?:was|actual|actually|received|got|found|but)\b/i;

/** The messages of one body's issues, none of which may quote what was sent. */
class Messages {
  #compared = 0;

  of({ message, expected }: StandardIssue, value: unknown): string {
    if (typeof message !== "string") return unreadable;
    const start = message.slice(0, 2 * maxMessage);
    for (const text of [bySentence(expected, start), start, headOf(start)]) {
      if (text === undefined || text === "" || this.#quotes(text, value)) continue;
      return text.length > maxMessage ? `${text.slice(0, maxMessage - 1)}…`.toWellFormed() : text;
    }
    return unreadable;
  }

  /** Whether a text holds the value, or a part of it. */
  #quotes(text: string, value: unknown): boolean {
    if (typeof value !== "object" || value === null) return this.#quotesScalar(text, value, false);
    const waiting: object[] = [value];
    for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
      // Past the limit a message is not known to quote nothing.
      if (this.#compared > maxCompared) return true;
      for (const member of Object.values(part) as readonly unknown[]) {
        if (this.#compared > maxCompared) return true;
        if (typeof member === "object" && member !== null) waiting.push(member);
        else if (this.#quotesScalar(text, member, true)) return true;
      }
    }
    return false;
  }

  /** @param isInside Whether it is a part of the value: a common word is then no quotation. */
  #quotesScalar(text: string, value: unknown, isInside: boolean): boolean {
    this.#compared++;
    switch (typeof value) {
      case "string":
        return quotesText(text, value, isInside);
      case "number":
      case "boolean":
        return standsAlone(text, String(value), isInside ? /[:[,=] ?$/ : /[^\w.-]$/);
      default:
        return false;
    }
  }
}

/** ArkType's message names the place and the value, and `expected` neither. */
function bySentence(expected: unknown, message: string): string | undefined {
  if (typeof expected !== "string") return undefined;
  return message.includes(`must be ${expected} (was `) ? `This must be ${expected}.` : undefined;
}

/** The message up to where it tells the value. */
function headOf(message: string): string | undefined {
  const end = message.search(aboutValue);
  return end > 0 ? message.slice(0, end) : undefined;
}

const leastUncommon = 8;

/** A longer text may be quoted in part: its first 16 characters tell it. */
function quotesText(text: string, value: string, isInside: boolean): boolean {
  const [probe] = /[^ \t\r\n](?:.{0,14}[^ \t\r\n])?/s.exec(value) ?? [];
  if (probe === undefined) return false;
  const escaped = JSON.stringify(probe).slice(1, -1);
  return [probe, escaped].some((probe) => {
    if (probe.length >= leastUncommon) return text.includes(probe);
    if (!isInside) return standsAlone(text, probe, /[^\p{L}\p{N}_]$/u);
    return text.includes(`"${probe}"`) || text.includes(`'${probe}'`) || text.includes(`\`${probe}\``);
  });
}

/** Whether a text has a word, behind what `before` says and with no letter or digit after it. */
function standsAlone(text: string, word: string, before: RegExp): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const isFree = !/^[\p{L}\p{N}_]/u.test(text.slice(at + word.length, at + word.length + 2));
    if (isFree && (at === 0 || before.test(text.slice(0, at)))) return true;
  }
  return false;
}
