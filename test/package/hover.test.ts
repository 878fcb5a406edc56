/** What an editor shows where a user points at the package's values, in `hover/shown.md`: a change of the types shows there. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compilerOptions, oldest } from "./compilers.ts";
import type * as TypeScript from "./consumer/node_modules/typescript/lib/typescript.js";
import { hovers, prelude } from "./hover/list.ts";
import type { Hover } from "./hover/list.ts";
import { shared } from "./mistakes/list.ts";
import { pack } from "./packed.ts";
import type { Packed } from "./packed.ts";

const ts = createRequire(import.meta.url)(oldest) as typeof TypeScript;
const maxLines = 12;
const marked = (mark: "long" | "inner"): readonly string[] =>
  hovers.filter((hover) => hover[mark] !== undefined).map(({ what }) => what);

describe("the types that an editor shows", () => {
  let packed: Packed;
  let shown: readonly string[];
  let errors: readonly string[];
  beforeAll(() => {
    packed = pack();
    const folder = join(packed.folder, "hovers");
    const service = serviceOf(folder);
    shown = hovers.map((hover, i) => hoverOf(service, join(folder, fileOf(i)), hover));
    errors = hovers.flatMap((hover, i) => errorsOf(service, join(folder, fileOf(i)), hover));
  }, 300_000);
  afterAll(() => packed.remove());

  const where = (holds: (text: string) => boolean): readonly string[] =>
    hovers.filter((_, i) => holds(shown[i] ?? "")).map(({ what }) => what);

  it("are those of programs that compile", () => {
    expect(errors).toEqual([]);
  });

  it("have at most twelve lines, except where the list has a reason", () => {
    expect(where((text) => text.split("\n").length > maxLines)).toEqual(marked("long"));
  });

  it("have no type that users do not write, except where the list has a reason", () => {
    const names = namesOf(readFileSync(join(import.meta.dirname, "exports.txt"), "utf8"), shared + prelude);
    expect(where((text) => unknownOf(text, names).length > 0)).toEqual(marked("inner"));
  });

  it("are as in hover/shown.md", async () => {
    const sections = hovers.map((hover, i) => section(hover, shown[i] ?? ""));
    const file = join(import.meta.dirname, "hover/shown.md");
    await expect(`# What an editor shows\n\n${sections.join("\n")}`).toMatchFileSnapshot(file);
  });
});

function section({ what, source, at, long, inner }: Hover, text: string): string {
  const code = (language: string, lines: string) => `\`\`\`${language}\n${lines}\n\`\`\`\n`;
  const why = [
    long === undefined ? "" : `\nMore than ${maxLines} lines: ${long}\n`,
    inner === undefined ? "" : `\nA name that users do not write: ${inner}\n`,
  ];
  const lines = text.split("\n").length;
  return `## ${what}\n\n${code("ts", source)}\nAt \`${at}\`, lines: ${lines}\n\n${code("ts", text)}${why.join("")}`;
}

const fileOf = (i: number): string => `hover-${i}.ts`;

/** The language service of an editor whose project is `folder`. */
function serviceOf(folder: string): TypeScript.LanguageService {
  mkdirSync(folder);
  writeFileSync(join(folder, "shared.ts"), shared);
  for (const [i, { source }] of hovers.entries()) writeFileSync(join(folder, fileOf(i)), text(source));
  const { options } = ts.parseJsonConfigFileContent({ compilerOptions, include: ["*.ts"] }, ts.sys, folder);
  return ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
    getScriptFileNames: () => hovers.map((_, i) => join(folder, fileOf(i))),
    getScriptVersion: () => "1",
    getScriptSnapshot: (path) =>
      ts.sys.fileExists(path) ? ts.ScriptSnapshot.fromString(readFileSync(path, "utf8")) : undefined,
    getCurrentDirectory: () => folder,
    getCompilationSettings: () => options,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
  });
}

const text = (source: string): string => `${prelude}${source}\nexport {};\n`;

function hoverOf(service: TypeScript.LanguageService, path: string, { what, source, at }: Hover): string {
  const info = service.getQuickInfoAtPosition(path, prelude.length + source.lastIndexOf(at));
  if (info === undefined || !source.includes(at)) throw new Error(`nothing is shown at ${at}: ${what}`);
  return ts.displayPartsToString(info.displayParts);
}

function errorsOf(service: TypeScript.LanguageService, path: string, { what }: Hover): readonly string[] {
  return service
    .getSemanticDiagnostics(path)
    .map(({ messageText }) => `${what}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`);
}

/** The names that a user knows: those of `exports.txt` without their namespaces, those of the programs, and the language's. */
function namesOf(exports: string, programs: string): ReadonlySet<string> {
  const exported = exports.split("\n").map((line) => line.split(/[ .]/).at(-1) ?? "");
  return new Set(["Promise", "NoInfer", ...exported, ...(programs.match(/\w+/g) ?? [])]);
}

/** The types that `text` names and that no user knows. Valibot's have its namespace in front. */
function unknownOf(text: string, names: ReadonlySet<string>): readonly string[] {
  const bare = text.replaceAll(/"[^"]*"/g, "");
  return [...bare.matchAll(/(?<![\w.])[A-Z]\w+\b(?!\??:)/g)].map(([name]) => name).filter((name) => !names.has(name));
}
