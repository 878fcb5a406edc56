/** The files that a guide shows, in a project that has the package as it is built. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { transformSync } from "esbuild";
import { afterAll } from "vitest";
import { madeOnce } from "../support/run-folder.ts";

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
  /** Runs a file as a program, until it listens. */
  start(file: string, env: NodeJS.ProcessEnv): Promise<Program>;
}

interface Program {
  readonly url: string;
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<unknown>;
}

/**
 * Writes the snippets of `docs/guides/<page>.md` that name their file in the first line (`// routes.ts`) to a folder, compiled
 * to JavaScript, so that Node 20 runs them.
 */
export function openGuide(page: string): Guide {
  const text = readFileSync(join(root, "docs/guides", `${page}.md`), "utf8");
  const folder = mkdtempSync(join(madeOnce("guides", linkPackages), "guide-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const path = (file: string) => join(folder, file.replace(/\.ts$/, ".mjs"));
  const write = (file: string, text: string) => {
    mkdirSync(dirname(path(file)), { recursive: true });
    const { code } = transformSync(text, { loader: "ts", format: "esm" });
    writeFileSync(path(file), code.replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.mjs"'));
  };
  for (const [, file = "", code = ""] of text.matchAll(/^```ts\n\/\/ ([\w./-]+\.ts)\b[^\n]*\n([^]*?)^```$/gm))
    write(file, code);
  return {
    folder,
    text,
    path,
    write,
    start: (file, env) => start(path(file), env),
    load: async <Exports>(file: string) => (await import(pathToFileURL(path(file)).href)) as Exports,
  };
}

async function start(file: string, env: NodeJS.ProcessEnv): Promise<Program> {
  const child = spawn(process.execPath, [file], { env, stdio: ["ignore", "ignore", "pipe"] });
  const closed = once(child, "close");
  const lines: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    const reader = createInterface(child.stderr);
    reader.on("line", (line) => {
      lines.push(line);
      const listening = /listening on (http:\/\/[^\s"]+)/.exec(line)?.[1];
      if (listening !== undefined) resolve(listening);
    });
    reader.once("close", () => reject(new Error(`${file} did not listen:\n${lines.join("\n")}`)));
  });
  const stop = async (): Promise<unknown> => {
    child.kill("SIGTERM");
    return (await closed)[0];
  };
  return { url, stop };
}

/** The packages of this repository, and this one by its name: the projects inside of the folder find them. */
function linkPackages(folder: string): void {
  const own = join(root, "node_modules");
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/usher-http"));
  for (const name of readdirSync(own)) {
    if (!name.startsWith(".") && name !== "usher-http")
      symlinkSync(join(own, name), join(folder, "node_modules", name));
  }
}
