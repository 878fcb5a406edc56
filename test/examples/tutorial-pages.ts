/** The pages of the tutorial, taken apart: the code they show, the commands and their answers. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** The folder of the programs; each has the name of its page. */
export const programs: string = join(root, "examples/tutorial");

export interface Block {
  readonly language: string;
  readonly text: string;
  /** The file that the page names above the block. */
  readonly file: string | undefined;
}

export interface Command {
  readonly command: string;
  readonly answer: string;
}

export interface Page {
  /** `03-validation`. */
  readonly name: string;
  readonly blocks: readonly Block[];
}

export const pages: readonly Page[] = readdirSync(join(root, "docs/tutorial"))
  .filter((name) => /^\d.*\.md$/.test(name))
  .toSorted()
  .map((name) => ({
    name: name.replace(".md", ""),
    blocks: blocksOf(readFileSync(join(root, "docs/tutorial", name), "utf8")),
  }));

function blocksOf(text: string): readonly Block[] {
  const found = text.matchAll(/(?:^\*\*`([^`]+)`\*\*[^`\n]*(?:`[^`\n]+`[^`\n]*)*\n\n)?^```(\w+)\n([^]*?)\n```$/gm);
  return [...found].map(([, file, language = "", code = ""]) => ({ language, text: code, file }));
}

/** The commands that are followed by their answer, without those that start, install or test something. */
export function commandsOf({ blocks }: Page): readonly Command[] {
  return blocks.flatMap(({ language, text }, i) => {
    const isAsked = language === "sh" && /^(?:curl|node client\.ts)/.test(text);
    return isAsked ? [{ command: text, answer: blocks[i + 1]?.text ?? "" }] : [];
  });
}

/** The log lines that a page shows. */
export function logLinesOf({ blocks }: Page): readonly string[] {
  return blocks.flatMap(({ text }) => (text.startsWith('{"timestamp"') ? text.split("\n") : []));
}

/** A text with what differs each time blanked: times, ids, durations. */
export function untimed(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replaceAll(/("(?:request_id|span_id)":)"\w+"/g, "$1<id>")
    .replaceAll(/("duration":)\d+/g, "$1<ns>");
}

/** The files of a step, by path. A step before the first has none. */
export function filesOf(name: string | undefined): ReadonlyMap<string, string> {
  if (name === undefined) return new Map();
  const folder = join(programs, name);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path.slice(folder.length + 1).replaceAll("\\", "/"), readFileSync(path, "utf8")];
    }),
  );
}
