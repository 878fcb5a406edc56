import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect } from "node:util";
import type { AppOptions } from "../src/app/app.ts";
import type { OnError } from "../src/app/compile.ts";
import { kindOf } from "../src/arguments.ts";
import type { Route } from "../src/routing/route.ts";
import { wrongMembers } from "../src/routing/wrong-members.ts";
import { CommandFailure } from "./command.ts";
import type { Terminal } from "./command.ts";

/** A file of the package. This module runs from one of its folders: `cli` as source, `dist` when built. */
export function packageFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

/** Imports the routes that a module exports as `routes`. */
export async function loadRoutes(file: string): Promise<readonly Route[]> {
  return (await loadModule(file)).routes;
}

/** A module exports no routes: it may be a program. */
export class NoRoutes extends CommandFailure {}

/** What a command reads of a user's module. */
export interface LoadedModule {
  readonly routes: readonly Route[];
  /** The format of refusals that the module exports, as it exports the routes. */
  readonly refusalFormat: unknown;
  /** How bodies are decompressed, exported likewise. */
  readonly decompress: unknown;
  /** The options of the app, or a function that makes them. */
  readonly options: unknown;
}

/** Imports a module that exports `routes`. */
export async function loadModule(file: string): Promise<LoadedModule> {
  const path = resolve(file);
  if (!existsSync(path)) throw new CommandFailure(`${file} is missing`);
  if (statSync(path).isDirectory()) throw new CommandFailure(`${file} is a folder, not a module`);
  const module = await load(file, pathToFileURL(path));
  const { routes, refusalFormat, decompress, options } = module;
  if (routes === undefined) throw new NoRoutes(`${file} exports no list named routes: it exports ${namesOf(module)}`);
  if (!Array.isArray(routes))
    throw new CommandFailure(`${file}: routes is ${kindOf(routes)}, and not a list of routes`);
  checkPackage(file, path);
  const problems = routes.flatMap(wrongMembers);
  if (problems.length > 0) throw new CommandFailure(`${file}: ${problems.join("\n")}`);
  return { routes: routes as readonly Route[], refusalFormat, decompress, options };
}

/**
 * The options of the app of a module, for a command that runs it: those that it exports as `options`, with the exported format
 * of refusals and `decompress` unless they have them. What the app raises is printed with its message and stack, in addition to its `onError`.
 */
export async function appOptions(file: string, module: LoadedModule, terminal: Terminal): Promise<AppOptions> {
  const made = await madeOptions(file, module.options);
  const { refusalFormat = module.refusalFormat, decompress = module.decompress, onError } = made as AppOptions;
  const print: OnError = (error, request) => {
    terminal.error(`${inspect(error)}\n`);
    return onError?.(error, request);
  };
  const options = { ...made, onError: onError === undefined || typeof onError === "function" ? print : onError };
  const exported = {
    ...(refusalFormat === undefined ? {} : { refusalFormat }),
    ...(decompress === undefined ? {} : { decompress }),
  };
  return { ...options, ...exported } as AppOptions;
}

async function madeOptions(file: string, options: unknown): Promise<object> {
  let made = options ?? {};
  if (typeof made === "function") {
    try {
      made = (await made()) as object;
    } catch (thrown) {
      throw new CommandFailure(`${file}: options() failed:\n${describeError(thrown, pathToFileURL(resolve(file)))}`);
    }
  }
  if (typeof made === "object" && made !== null && !Array.isArray(made)) return made;
  const what = typeof options === "function" ? "what options() makes" : "options";
  const kind = made === null ? "null" : Array.isArray(made) ? "a list" : `a ${typeof made}`;
  throw new CommandFailure(`${file}: ${what} is ${kind}, not an object with the options of the app`);
}

type Exports = { readonly [name in keyof LoadedModule]?: unknown };

async function load(file: string, url: URL): Promise<Exports> {
  try {
    return (await import(url.href)) as object;
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
    const commonJs = readsAsCommonJs(thrown) ? commonJsPackageOf(fileURLToPath(url)) : undefined;
    if (commonJs !== undefined)
      throw new CommandFailure(
        `${file} is an ES module, and "type" in ${commonJs} is "commonjs": set it by npm pkg set type=module`,
      );
    if (code !== "ERR_UNKNOWN_FILE_EXTENSION")
      throw new CommandFailure(`${file} cannot be loaded:\n${describeError(thrown, url)}`, { cause: thrown });
    throw new CommandFailure(
      `${noTypeScript(file)}, or run usher with Node 22.18 or newer (npx usher-http), Bun (bunx --bun usher-http) or Deno ` +
        "(deno run -A npm:usher-http).",
    );
  }
}

/** What to do where a module is TypeScript, and its Node is too old for that. Its end is the caller's. */
export function noTypeScript(file: string): string {
  const { node } = process.versions;
  return (
    `${file}: Node ${node} does not run TypeScript. Give the compiled file, load TypeScript by tsx ` +
    '(npm install --save-dev tsx, and NODE_OPTIONS="--import tsx" before the command)'
  );
}

/** Whether Node read `import` or `export` in a file that it takes for CommonJS. */
function readsAsCommonJs(thrown: unknown): boolean {
  const { message } = thrown instanceof SyntaxError ? thrown : { message: "" };
  return message === "Cannot use import statement outside a module" || message === "Unexpected token 'export'";
}

/** The `package.json` of a file, if it says "commonjs": npm 11 writes that. */
function commonJsPackageOf(path: string): string | undefined {
  const folder = dirname(path);
  const described = join(folder, "package.json");
  if (!existsSync(described)) return folder === path ? undefined : commonJsPackageOf(folder);
  const { type } = JSON.parse(readFileSync(described, "utf8")) as { readonly type?: unknown };
  return type === "commonjs" ? described : undefined;
}

/** The error and its place in the program, without the runtime's frames and ours. */
function describeError(thrown: unknown, module: URL): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { position } = thrown as { readonly position?: { file: string; line: number; column: number } | null };
  // Bun gives a syntax error no stack.
  if (position) return `${String(thrown)}\n    at ${position.file}:${position.line}:${position.column}`;
  const text = withoutOwnFrames(thrown.stack ?? String(thrown));
  if (!(thrown instanceof SyntaxError) || / at |file:/.test(text) || !process.execPath.endsWith("node")) return text;
  // Node prints the place of a syntax error only if nothing catches it. A module with a syntax error does not run, so it is
  // safe to start it once more.
  const { stderr } = spawnSync(process.execPath, [fileURLToPath(module)], { encoding: "utf8", timeout: checkMs });
  return stderr.includes(String(thrown))
    ? withoutOwnFrames(stderr.slice(0, stderr.lastIndexOf("\nNode.js v")).trimEnd())
    : text;
}

const checkMs = 10_000;

/** A stack without the frames of the runtime and of this package. */
function withoutOwnFrames(stack: string): string {
  const { pathname } = new URL(".", import.meta.url);
  const isElsewhere = (line: string) =>
    /\b(node|ext|native|bun):|processTicksAndRejections/.test(line) || line.includes(pathname);
  const lines = stack.split("\n");
  return lines.filter((line) => !/^ +at /.test(line) || !isElsewhere(line)).join("\n");
}

const maxNames = 10;

function namesOf(module: object): string {
  const names = Object.keys(module);
  const more = names.length > maxNames ? [`${names.length - maxNames} more`] : [];
  const listed = [...names.slice(0, maxNames), ...more];
  const last = listed.pop();
  if (last === undefined) return "nothing";
  return listed.length === 0 ? last : `${listed.join(", ")} and ${last}`;
}

/** Only the copy of the package that made a shape can describe it. */
function checkPackage(file: string, path: string): void {
  if ("Deno" in globalThis) return;
  const packageUsed = packageOf(path);
  const own = new URL(".", packageFile("package.json")).href;
  if (packageUsed !== undefined && packageUsed !== own) {
    throw new CommandFailure(
      `${file} uses another copy of usher-http than this command: run npx usher-http in its project`,
    );
  }
}

/** The folder of the `usher-http` that a module imports, if it can be resolved. */
function packageOf(path: string): string | undefined {
  try {
    const found = createRequire(path).resolve("usher-http/package.json");
    return new URL(".", pathToFileURL(found)).href;
  } catch {
    return undefined;
  }
}
