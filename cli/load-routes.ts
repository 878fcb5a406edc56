import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Route } from "../src/routing/route.ts";
import { CommandFailure } from "./command.ts";

/** A file of the package, whether this runs from its source or from what was built of it. */
export function packageFile(path: string): URL {
  const inSource = new URL(`../${path}`, import.meta.url);
  return existsSync(inSource) ? inSource : new URL(`../../${path}`, import.meta.url);
}

/** The routes a module exports under the name `routes`. */
export async function loadRoutes(file: string): Promise<readonly Route[]> {
  const path = resolve(file);
  if (!existsSync(path)) throw new CommandFailure(`${file} is missing`);
  if (statSync(path).isDirectory()) throw new CommandFailure(`${file} is a folder, and no module`);
  const module = await load(file, pathToFileURL(path));
  const { routes } = module;
  if (!Array.isArray(routes))
    throw new CommandFailure(`${file} exports no list named routes: it exports ${namesOf(module)}`);
  const wrong = routes.findIndex((route) => !isRoute(route));
  if (wrong !== -1) throw new CommandFailure(`${file}: routes[${wrong}] is no route`);
  checkPackage(file, path);
  return routes as readonly Route[];
}

async function load(file: string, url: URL): Promise<{ readonly routes?: unknown }> {
  try {
    return (await import(url.href)) as object;
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
    if (code !== "ERR_UNKNOWN_FILE_EXTENSION")
      throw new CommandFailure(`${file} cannot be loaded:\n${said(thrown, url)}`);
    throw new CommandFailure(
      `${file}: Node ${process.versions.node} does not run TypeScript. Name what was built from it, or run usher with ` +
        "Node 22.18 or newer (npx usher), Bun (bunx --bun usher) or Deno (deno run -A npm:usher-http/usher).",
    );
  }
}

/** What was raised, and where in the program: the runtime's own lines and ours say nothing of it. */
function said(thrown: unknown, module: URL): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { position } = thrown as { readonly position?: { file: string; line: number; column: number } | null };
  // Of what does not parse Bun has no stack.
  if (position) return `${String(thrown)}\n    at ${position.file}:${position.line}:${position.column}`;
  const text = inProgram(thrown.stack ?? String(thrown));
  if (!(thrown instanceof SyntaxError) || / at |file:/.test(text) || !process.execPath.endsWith("node")) return text;
  // Where JavaScript does not parse Node tells to nobody who catches it; of what does not parse nothing is run.
  const { stderr } = spawnSync(process.execPath, [fileURLToPath(module)], { encoding: "utf8", timeout: checkingMs });
  return stderr.includes(String(thrown))
    ? inProgram(stderr.slice(0, stderr.lastIndexOf("\nNode.js v")).trimEnd())
    : text;
}

const checkingMs = 10_000;

/** A stack without the lines of the runtime, and of this package. */
function inProgram(stack: string): string {
  const { pathname } = new URL(".", import.meta.url);
  const isElsewhere = (line: string) =>
    /\b(node|ext|native|bun):|processTicksAndRejections/.test(line) || line.includes(pathname);
  const lines = stack.split("\n");
  return lines.filter((line) => !/^ +at /.test(line) || !isElsewhere(line)).join("\n");
}

const mostNames = 10;

function namesOf(module: object): string {
  const names = Object.keys(module);
  const more = names.length > mostNames ? [`${names.length - mostNames} more`] : [];
  const listed = [...names.slice(0, mostNames), ...more];
  const last = listed.pop();
  if (last === undefined) return "nothing";
  return listed.length === 0 ? last : `${listed.join(", ")} and ${last}`;
}

function isRoute(value: unknown): boolean {
  return typeof value === "object" && value !== null && "pattern" in value && "returns" in value && "inputs" in value;
}

/** What a shape means is known to the copy of the package it was made with, and to no other. */
function checkPackage(file: string, path: string): void {
  if ("Deno" in globalThis) return;
  const theirs = packageOf(path);
  const own = new URL(".", packageFile("package.json")).href;
  if (theirs !== undefined && theirs !== own) {
    throw new CommandFailure(
      `${file} is made with another usher-http than this: run the one of its project, with npx usher`,
    );
  }
}

/** The folder of the `usher-http` that a module imports; undefined where it finds none. */
function packageOf(path: string): string | undefined {
  try {
    const found = createRequire(path).resolve("usher-http/package.json");
    return new URL(".", pathToFileURL(found)).href;
  } catch {
    return undefined;
  }
}
