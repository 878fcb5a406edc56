/** What the oldest and the newest compiler say of the commonest mistakes, in `mistakes/said.md`: a change of the types shows there. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compilerOptions, newest, oldest } from "./compilers.ts";
import { mistakes, prelude, shared } from "./mistakes/list.ts";
import type { Mistake } from "./mistakes/list.ts";
import { pack, root } from "./packed.ts";
import type { Packed } from "./packed.ts";

const run = promisify(execFile);
const maxLines = 4;

/** The lines of the errors of each mistake, in the order of the list. */
type Said = readonly (readonly string[])[];

describe("the commonest mistakes", () => {
  let packed: Packed;
  let before: Said;
  let now: Said;
  beforeAll(async () => {
    packed = pack();
    const folder = join(packed.folder, "mistakes");
    write(folder);
    [before, now] = await Promise.all([saidBy(oldest, folder), saidBy(newest, folder)]);
  }, 300_000);
  afterAll(() => packed.remove());

  it("are all reported by both compilers", () => {
    const untold = (said: Said) => mistakes.filter((_, i) => said[i]?.length === 0).map(({ what }) => what);
    expect([untold(before), untold(now)]).toEqual([[], []]);
  });

  it("are reported in at most four lines, except where the list has a reason", () => {
    const long = (said: Said) => mistakes.filter((_, i) => (said[i]?.length ?? 0) > maxLines).map(({ what }) => what);
    const marked = mistakes.filter((mistake) => mistake.long !== undefined).map(({ what }) => what);
    expect([...new Set([...long(before), ...long(now)])].toSorted()).toEqual(marked.toSorted());
  });

  it("are reported with a solution, if the list has one", () => {
    const silent = (said: Said) =>
      mistakes.filter(({ names }, i) => names !== undefined && said[i]?.at(-1)?.includes(names) !== true);
    expect(mistakes.filter(({ names }) => names !== undefined).length).toBeGreaterThan(2);
    expect([silent(before), silent(now)]).toEqual([[], []]);
  });

  it("are reported in the words that the guide quotes", () => {
    const [page = ""] = readFileSync(join(root, "docs/guides/compiler-errors.md"), "utf8").split(
      "## Without a compiler",
    );
    const quotes = quotesOf(page);
    const untold = (said: Said) => quotes.filter((quote) => !said.flat().some((line) => line.includes(quote)));
    expect(quotes.length).toBeGreaterThan(10);
    expect([untold(before), untold(now)]).toEqual([[], []]);
  });

  it("are reported as in `mistakes/said.md`", async () => {
    const sections = mistakes.map((mistake, i) => section(mistake, before[i] ?? [], now[i] ?? []));
    const file = join(import.meta.dirname, "mistakes/said.md");
    await expect(`# What the compiler says of mistakes\n\n${sections.join("\n")}`).toMatchFileSnapshot(file);
  });

  // `exactOptionalPropertyTypes` has TypeScript advise to change an optional property of the target, which here is the package's.
  it("are reported without advice to change the package's types", async () => {
    const exact = await saidBy(newest, join(packed.folder, "mistakes"), "--exactOptionalPropertyTypes");
    const advised = mistakes.filter((_, i) => exact[i]?.some((line) => line.includes("Consider adding 'undefined'")));
    expect(exact.filter((lines) => lines.length > 0).length).toBe(mistakes.length);
    expect(advised.map(({ what }) => what)).toEqual([]);
  });
});

function section({ what, source, long }: Mistake, before: readonly string[], now: readonly string[]): string {
  const code = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\`\n`;
  const both = before.join("\n") === now.join("\n");
  const told = both
    ? `TypeScript 5.9 and 7, lines: ${now.length}\n\n${code("text", now.join("\n"))}`
    : `TypeScript 5.9, lines: ${before.length}\n\n${code("text", before.join("\n"))}\n` +
      `TypeScript 7, lines: ${now.length}\n\n${code("text", now.join("\n"))}`;
  const why = long === undefined ? "" : `\nMore than ${maxLines} lines: ${long}\n`;
  return `## ${what}\n\n${code("ts", source)}\n${told}${why}`;
}

/** The first code of each row of the guide's table. */
function quotesOf(guide: string): readonly string[] {
  return [...guide.matchAll(/^\| (`+) ?(.+?) ?\1(?!`)/gm)].map(([, , quote = ""]) => quote);
}

function write(folder: string): void {
  mkdirSync(folder);
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  writeFileSync(join(folder, "shared.ts"), shared);
  for (const [i, { source }] of mistakes.entries()) {
    writeFileSync(join(folder, `mistake-${i}.ts`), `${prelude}${source}\nexport {};\n`);
  }
}

/** The errors of each mistake by one compiler, each with its line and column in the mistake's source. */
async function saidBy(compiler: string, folder: string, ...options: readonly string[]): Promise<Said> {
  const args = [join(compiler, "bin/tsc"), "-p", folder, "--pretty", "false", ...options];
  const tsc = run(process.execPath, args, { cwd: folder });
  const { stdout } = await tsc.catch((error: { readonly stdout: string }) => error);
  const said: string[][] = mistakes.map(() => []);
  const above = prelude.split("\n").length - 1;
  let current: string[] | undefined;
  for (const line of stdout.trimEnd().split("\n")) {
    const [, i, at, column, text] = /^mistake-(\d+)\.ts\((\d+),(\d+)\): (.*)$/.exec(line) ?? [];
    if (i === undefined && !line.startsWith(" ")) throw new Error(`not of a mistake: ${line}`);
    if (i !== undefined) current = said[Number(i)];
    current?.push(i === undefined ? line : `${Number(at) - above}:${column} ${text}`);
  }
  return said;
}
