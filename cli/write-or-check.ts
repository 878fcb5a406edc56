import { counted } from "../src/counted.ts";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { diffArrays } from "diff/lib/diff/array.js";
import { CommandFailure, UsageError } from "./command.ts";
import type { Terminal } from "./command.ts";

const maxLines = 40;

/** The differences of two JSON values, one line each: `- ` removed, `+ ` added, `~ ` changed. */
export function jsonDiff(before: unknown, after: unknown): readonly string[] {
  return limited([...differences("", before, after)]);
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

/** How many lines may differ: the search takes the square of it in time. Past it the whole text is one change. */
const maxEditLength = 5000;

/** The differences of two texts: the line number in the first, removed and added lines. */
export function textDiff(before: string, after: string): readonly string[] {
  const [removed, added] = [before.split("\n"), after.split("\n")];
  const changes = diffArrays(removed, added, { maxEditLength }) ?? [
    { value: removed, removed: true, added: false },
    { value: added, removed: false, added: true },
  ];
  const lines: string[] = [];
  let [at, isInChange] = [1, false];
  for (const { value, removed, added } of changes) {
    const isChange = removed || added;
    if (isChange && !isInChange) lines.push(`at line ${at}`);
    if (isChange) for (const line of value) lines.push(`${removed ? "-" : "+"} ${line}`);
    if (!added) at += value.length;
    isInChange = isChange;
  }
  return limited(lines);
}

function limited(lines: readonly string[]): readonly string[] {
  if (lines.length <= maxLines) return lines;
  return [...lines.slice(0, maxLines), `and ${counted(lines.length - maxLines, "more line")}`];
}

/** Where the output goes: a file, a comparison with a file, or standard output. */
interface Destination {
  readonly output: string | undefined;
  readonly check: string | undefined;
}

/** Writes or compares the output. Returns the exit code; throws if the file differs. */
export function writeOrCheck(
  text: string,
  { output, check }: Destination,
  terminal: Terminal,
  difference: (before: string, after: string) => readonly string[],
): number {
  if (output !== undefined && check !== undefined) throw new UsageError("use either --output or --check, not both");
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

/** Adds the system's reason to a failure. */
function orFail<A>(what: string, act: () => A): A {
  try {
    return act();
  } catch (thrown) {
    throw new CommandFailure(`${what}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
}
