const mostLines = 40;

/** Where two JSON values differ, a line for each place: `- ` what is missing, `+ ` what is new, `~ ` what changed. */
export function jsonDifference(before: unknown, after: unknown): readonly string[] {
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

/** The lines two texts differ in, between what is the same at their beginnings and at their ends. */
export function textDifference(before: string, after: string): readonly string[] {
  const [olds, news] = [before.split("\n"), after.split("\n")];
  const shorter = Math.min(olds.length, news.length);
  let start = 0;
  while (start < shorter && olds[start] === news[start]) start++;
  let end = 0;
  while (end < shorter - start && olds.at(-1 - end) === news.at(-1 - end)) end++;
  const removed = olds.slice(start, olds.length - end).map((line) => `- ${line}`);
  const added = news.slice(start, news.length - end).map((line) => `+ ${line}`);
  return bounded([`at line ${start + 1}`, ...removed, ...added]);
}

function bounded(lines: readonly string[]): readonly string[] {
  if (lines.length <= mostLines) return lines;
  return [...lines.slice(0, mostLines), `and ${lines.length - mostLines} lines more`];
}
