import { unknownOptions } from "../arguments.ts";
import { isToken } from "../http/fields.ts";
import type { FileNeed, TextNeed } from "./dep.ts";

/**
 * What is wrong with the declaration of a text or a file: JavaScript may have declared anything. Each input that reads one has this as its
 * `check`.
 */
export function wrongText(need: TextNeed | FileNeed): readonly string[] {
  const problems: string[] = [];
  const place = `reads ${need.in === "file" ? "form" : need.in}.${need.name}`;
  checkAbout(place, need, problems);
  if (need.in === "header" && !isToken(need.name)) {
    problems.push(`reads the header ${JSON.stringify(need.name)}, which is no header's name`);
  }
  return problems;
}

function checkAbout(place: string, need: TextNeed | FileNeed, problems: string[]): void {
  const { doc, deprecated, minItems, maxItems, ...examples }: NonNullable<TextNeed["about"]> = need.about ?? {};
  const known = `doc deprecated${need.in === "file" ? "" : " example examples"}${isListNeed(need) ? " minItems maxItems" : ""}`;
  // Those have a sentence of their own.
  const named = { ...need.about, minItems: undefined, maxItems: undefined };
  for (const problem of unknownOptions(named, known)) problems.push(`${place}: ${problem}`);
  if (need.in !== "file") {
    const { schema, list } = need.codec;
    if (schema?.problem !== undefined) problems.push(`${place} ${schema.problem}`);
    if (need.in === "header" && need.style === "list" && list === true) {
      problems.push(`${place} as a list of a codec that reads a whole list itself: use Header.optional`);
    }
    const refused = need.default === undefined ? undefined : refusedDefault(need.codec, need.default.value);
    if (refused !== undefined) {
      problems.push(`${place} with a default that it refuses: ${refused} Give one that a client may send`);
    }
  }
  if (doc !== undefined && typeof doc !== "string") problems.push(`${place} with a doc that is not a text`);
  if (deprecated !== undefined && typeof deprecated !== "boolean") {
    problems.push(`${place} with a deprecated that is neither true nor false`);
  }
  if (examples.examples !== undefined && !Array.isArray(examples.examples)) {
    problems.push(`${place} with examples that are not a list: one alone is its example`);
  }
  const isList = isListNeed(need);
  if (isList && examples.example !== undefined && !Array.isArray(examples.example)) {
    problems.push(`${place} with an example that is not a list, as it is`);
  }
  for (const [name, bound] of Object.entries({ minItems, maxItems })) {
    if (bound === undefined) continue;
    if (!isList) problems.push(`${place} with ${name}, which only a list has`);
    else if (!Number.isSafeInteger(bound) || bound < 0) {
      problems.push(`${place} with ${name} ${String(bound)}, which is no number of items`);
    }
  }
  if (minItems !== undefined && maxItems !== undefined && minItems > maxItems) {
    problems.push(`${place} with minItems ${minItems} and maxItems ${maxItems}, between which no list is`);
  }
}

/** Why an input would refuse its own default, were it sent; undefined where only a transformation makes such a value. */
function refusedDefault({ schema, parse, print }: TextNeed["codec"], value: never): string | undefined {
  if (schema?.keepsValue === false) return undefined;
  try {
    const read = parse(print(value));
    return read.ok ? undefined : read.error;
  } catch {
    return "It has no text.";
  }
}

function isListNeed(need: TextNeed | FileNeed): boolean {
  return need.in === "file" ? need.repeated : need.style === "list";
}
