/** The files that a guide shows, in a project that has the package as it is built. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { transformSync } from "esbuild";
import { afterAll } from "vitest";

const root = join(import.meta.dirname, "../..");

/** A guide's project. */
export interface Guide {
  readonly folder: string;
  readonly text: string;
  /** The path of a file, compiled to JavaScript. */
  path(file: string): string;
  /** Imports a file, with the package that it imports itself. */
  load<Exports>(file: string): Promise<Exports>;
  /** Writes a module of the test's own. */
  write(file: string, text: string): void;
}

/**
 * Writes the snippets of `docs/guides/<page>.md` that name their file in the first line (`// routes.ts`) to a folder, compiled
 * to JavaScript, so that Node 20 runs them.
 */
export function openGuide(page: string): Guide {
  const text = readFileSync(join(root, "docs/guides", `${page}.md`), "utf8");
  const folder = mkdtempSync(join(tmpdir(), "usher-guide-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  linkPackages(folder);
  const path = (file: string) => join(folder, file.replace(/\.ts$/, ".mjs"));
  const write = (file: string, text: string) => {
    mkdirSync(dirname(path(file)), { recursive: true });
    const { code } = transformSync(text, { loader: "ts", format: "esm" });
    writeFileSync(path(file), code.replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.mjs"'));
  };
  for (const [, file = "", code = ""] of text.matchAll(/^```ts\n(?:\/\/ ([\w./-]+\.ts)\b)([^]*?)^```$/gm))
    write(file, code);
  return {
    folder,
    text,
    path,
    write,
    load: async <Exports>(file: string) => (await import(pathToFileURL(path(file)).href)) as Exports,
  };
}

/** The packages of this repository, and this one by its name. */
function linkPackages(folder: string): void {
  const own = join(root, "node_modules");
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/usher-http"));
  for (const name of readdirSync(own)) {
    if (!name.startsWith(".") && name !== "usher-http")
      symlinkSync(join(own, name), join(folder, "node_modules", name));
  }
}
