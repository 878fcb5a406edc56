import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { CommandFailure, UsageError } from "./command.ts";
import type { Terminal } from "./command.ts";

const mostLines = 40;

/** Where two JSON values differ, a line for each place: `- ` what is missing, `+ ` what is new, `~ ` what changed. */
export function jsonDiff(before: unknown, after: unknown): readonly string[] {
  return bounded([...differences("", before, after)]);
}

function* differences(at: string, before: unknown, after: unknown): Generator<string> {
  if (Object.is(before, after)) return;
  if (isPlain(before) && isPlain(after) && Array.isArray(before) === Array.isArray(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const place = `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      if (!Object.hasOwn(after, name)) yield `- ${place} ${brief(before[name])}`;
      else if (!Object.hasOwn(before, name)) yield `+ ${place} ${brief(after[name])}`;
      else yield* differences(place, before[name], after[name]);
    }
    return;
  }
  yield `~ ${at === "" ? "/" : at} ${brief(before)} is now ${brief(after)}`;
}

function isPlain(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null;
}

function brief(value: unknown): string {
  const text = value === undefined ? "no JSON" : JSON.stringify(value);
  return text.length > 100 ? `${text.slice(0, 97)}...` : text;
}

/** Where two texts differ: at which line of the first, what is missing, and what is new. */
export function textDiff(before: string, after: string): readonly string[] {
  const [olds, news] = [before.split("\n"), after.split("\n")];
  const shorter = Math.min(olds.length, news.length);
  let start = 0;
  while (start < shorter && olds[start] === news[start]) start++;
  let end = 0;
  while (end < shorter - start && olds.at(-1 - end) === news.at(-1 - end)) end++;
  return bounded([...changes(olds.slice(start, olds.length - end), news.slice(start, news.length - end), start + 1)]);
}

// Every line of the one is compared with every one of the other: a table of so many places takes 20 MB.
const mostCompared = 5_000_000;

/** The changes that make the one list the other, as few lines as can be; those of long lists are told as one. */
function* changes(olds: readonly string[], news: readonly string[], firstLine: number): Generator<string> {
  const width = news.length + 1;
  const isSmall = (olds.length + 1) * width <= mostCompared;
  // How many lines are alike in what is left from each place on (the longest common subsequence).
  const alike = new Uint32Array(isSmall ? (olds.length + 1) * width : 0);
  for (let i = isSmall ? olds.length - 1 : -1; i >= 0; i--) {
    for (let j = news.length - 1; j >= 0; j--) {
      const at = i * width + j;
      const rest = Math.max(alike[at + width] as number, alike[at + 1] as number);
      alike[at] = olds[i] === news[j] ? (alike[at + width + 1] as number) + 1 : rest;
    }
  }
  let isSaid = false;
  for (let [i, j] = [0, 0]; i < olds.length || j < news.length;) {
    if (isSmall && i < olds.length && j < news.length && olds[i] === news[j]) {
      isSaid = false;
      i++;
      j++;
      continue;
    }
    if (!isSaid) yield `at line ${firstLine + i}`;
    isSaid = true;
    const below = alike[(i + 1) * width + j] ?? 0;
    const beside = alike[i * width + j + 1] ?? 0;
    if (i < olds.length && (j === news.length || below >= beside)) yield `- ${olds[i++]}`;
    else yield `+ ${news[j++]}`;
  }
}

function bounded(lines: readonly string[]): readonly string[] {
  if (lines.length <= mostLines) return lines;
  return [...lines.slice(0, mostLines), `and ${lines.length - mostLines} lines more`];
}

/** Where what a command made goes: to standard output, to a file, or beside the file that should hold it. */
interface Destination {
  readonly output: string | undefined;
  readonly check: string | undefined;
}

/** Writes what was made, or compares it. Answers the exit code: 1 where the file is not what is made. */
export function writeOrCheck(
  text: string,
  { output, check }: Destination,
  terminal: Terminal,
  difference: (before: string, after: string) => readonly string[],
): number {
  if (output !== undefined && check !== undefined) throw new UsageError("either --output or --check, and not both");
  if (check !== undefined) return compare(text, check, terminal, difference);
  if (output === undefined) terminal.out(text);
  else {
    orFail(`${output} cannot be written`, () => writeFileSync(output, text));
    terminal.out(`${output}\n`);
  }
  return 0;
}

function compare(
  text: string,
  file: string,
  terminal: Terminal,
  difference: (before: string, after: string) => readonly string[],
): number {
  if (!existsSync(file)) throw new CommandFailure(`${file} is missing: generate it`);
  const before = orFail(`${file} cannot be read`, () => readFileSync(file, "utf8"));
  const lines = difference(before, text);
  if (lines.length === 0) return 0;
  for (const line of lines) terminal.out(`${line}\n`);
  throw new CommandFailure(`${file} is not what the routes make: generate it again`);
}

/** The system's own word for why says enough. */
function orFail<A>(what: string, act: () => A): A {
  try {
    return act();
  } catch (thrown) {
    throw new CommandFailure(`${what}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}
