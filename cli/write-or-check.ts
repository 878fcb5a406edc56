import { existsSync, readFileSync, writeFileSync } from "node:fs";
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

/** The differences of two texts: the line number in the first, removed and added lines. */
export function textDiff(before: string, after: string): readonly string[] {
  const [oldLines, newLines] = [before.split("\n"), after.split("\n")];
  const shorter = Math.min(oldLines.length, newLines.length);
  let start = 0;
  while (start < shorter && oldLines[start] === newLines[start]) start++;
  let end = 0;
  while (end < shorter - start && oldLines.at(-1 - end) === newLines.at(-1 - end)) end++;
  return limited([
    ...changes(oldLines.slice(start, oldLines.length - end), newLines.slice(start, newLines.length - end), start + 1),
  ]);
}

// Every line is compared with every other. A table of this size takes 20 MB.
const maxCompared = 5_000_000;

/** The smallest set of changes between two lists. Long lists are one single change. */
function* changes(oldLines: readonly string[], newLines: readonly string[], firstLine: number): Generator<string> {
  const width = newLines.length + 1;
  const isSmall = (oldLines.length + 1) * width <= maxCompared;
  // The length of the longest common subsequence from each place on.
  const common = new Uint32Array(isSmall ? (oldLines.length + 1) * width : 0);
  for (let i = isSmall ? oldLines.length - 1 : -1; i >= 0; i--) {
    for (let j = newLines.length - 1; j >= 0; j--) {
      const at = i * width + j;
      const rest = Math.max(common[at + width] as number, common[at + 1] as number);
      common[at] = oldLines[i] === newLines[j] ? (common[at + width + 1] as number) + 1 : rest;
    }
  }
  let hasHeading = false;
  for (let [i, j] = [0, 0]; i < oldLines.length || j < newLines.length;) {
    if (isSmall && i < oldLines.length && j < newLines.length && oldLines[i] === newLines[j]) {
      hasHeading = false;
      i++;
      j++;
      continue;
    }
    if (!hasHeading) yield `at line ${firstLine + i}`;
    hasHeading = true;
    const below = common[(i + 1) * width + j] ?? 0;
    const beside = common[i * width + j + 1] ?? 0;
    if (i < oldLines.length && (j === newLines.length || below >= beside)) yield `- ${oldLines[i++]}`;
    else yield `+ ${newLines[j++]}`;
  }
}

function limited(lines: readonly string[]): readonly string[] {
  if (lines.length <= maxLines) return lines;
  return [...lines.slice(0, maxLines), `and ${lines.length - maxLines} lines more`];
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
