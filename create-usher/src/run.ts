import { relative } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { ask } from "./ask.ts";
import type { Terminal } from "./ask.ts";
import { help, read } from "./arguments.ts";
import { completed } from "./choices.ts";
import type { Choices, Runtime } from "./choices.ts";
import { obstacleIn, placeOf, write } from "./folder.ts";
import { filesOf } from "./project.ts";

/** What the command gets from its process. */
export interface Surroundings {
  readonly folder: string;
  /** `npm_config_user_agent`: the package manager that runs this, and the runtime. */
  readonly userAgent: string;
  readonly version: string;
  /** Undefined where nothing can be asked. */
  readonly terminal: Terminal | undefined;
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
}

const templates = fileURLToPath(new URL("../templates", import.meta.url));

/** Makes a project. Resolves with the exit code: 0, 1 if it cannot be made, 2 for a wrong command line, 130 for Ctrl-C. */
export async function run(args: readonly string[], around: Surroundings): Promise<number> {
  const request = read(args);
  if (request.kind === "help") return print(around, help);
  if (request.kind === "version") return print(around, `${around.version}\n`);
  if (request.kind === "error") return fail(around, `${request.message}\nSee npm create usher -- --help`, 2);
  const runtime = runtimeOf(around.userAgent);
  const problemWith = (folder: string) => {
    const place = placeOf(folder, around.folder);
    return "error" in place ? place.error : obstacleIn(place.folder);
  };
  // Before any question: the answers would be lost.
  const early = request.folder === undefined ? undefined : problemWith(request.folder);
  if (early !== undefined) return fail(around, early, 1);
  const answers =
    request.asks && around.terminal !== undefined
      ? await ask(around.terminal, { ...request, runtime }, problemWith)
      : { folder: request.folder ?? "my-api", choices: completed(request.chosen, runtime) };
  if (answers === undefined) return fail(around, "Nothing was made.", 130);
  return make(around, answers.folder, answers.choices);
}

function make(around: Surroundings, given: string, choices: Choices): number {
  const place = placeOf(given, around.folder);
  const problem = "error" in place ? place.error : obstacleIn(place.folder);
  if ("error" in place || problem !== undefined) return fail(around, problem ?? "", 1);
  try {
    write(place.folder, filesOf(templates, choices, place.name));
  } catch (error) {
    return fail(around, `The project cannot be written: ${error instanceof Error ? error.message : String(error)}`, 1);
  }
  return print(around, nextSteps(place.folder, around, choices));
}

function print({ out }: Surroundings, text: string): 0 {
  out(text);
  return 0;
}

function fail({ error }: Surroundings, message: string, code: number): number {
  error(`create-usher: ${message}\n`);
  return code;
}

/** The runtime that runs this command, as its package manager names itself: `bun/1.4.5 …`. */
function runtimeOf(userAgent: string): Runtime {
  const [, name] = /^(bun|deno)\//.exec(userAgent) ?? [];
  return name === "bun" || name === "deno" ? name : "node";
}

/** What to type next, for the package manager that runs this. */
function nextSteps(folder: string, { folder: from, userAgent }: Surroundings, choices: Choices): string {
  const [, manager = "npm"] = /^(npm|pnpm|yarn|bun|deno)\//.exec(userAgent) ?? [];
  const { runtime } = choices;
  // Bun and Deno install packages themselves.
  const program = runtime === "bun" || runtime === "deno" ? runtime : manager === "deno" ? "npm" : manager;
  const runs = program === "deno" ? "deno task" : `${program} run`;
  const steps = [
    ...(folder === from ? [] : [`cd ${quoted(relative(from, folder))}`]),
    `${program} install`,
    ...(choices.database === "postgres"
      ? ["docker compose up --detach --wait   # or name another database in .env"]
      : []),
    `${runs} dev`,
  ];
  const old = runtime === "bun" || runtime === "deno" ? undefined : oldNodeOf(userAgent);
  const update =
    old === undefined ? "" : `\nFirst update Node: the project needs 22.18 or newer, and this is ${old}.\n`;
  return `\nMade ${folder}\n${update}\n${steps.map((step) => `  ${step}\n`).join("")}\nREADME.md says more.\n`;
}

/** The version of Node, `npm/11.0.0 node/v20.20.2 …`, if it does not run TypeScript. */
function oldNodeOf(userAgent: string): string | undefined {
  const [, version, major, minor] = /\bnode\/v?((\d+)\.(\d+)[^\s]*)/.exec(userAgent) ?? [];
  const runs = Number(major) > 22 || (Number(major) === 22 && Number(minor) >= 18);
  return runs ? undefined : version;
}

/** As a shell takes it. */
function quoted(path: string): string {
  if (/^[\w@%+=:,./\\-]+$/.test(path)) return path;
  return process.platform === "win32" ? `"${path}"` : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
