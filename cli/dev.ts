import { existsSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { parseEnv } from "node:util";
import { Changes } from "./changes.ts";
import { CommandFailure, UsageError, moduleAnd } from "./command.ts";
import type { Command, Terminal } from "./command.ts";
import { hostsOf } from "./dev-hosts.ts";
import { noTypeScript } from "./load-routes.ts";
import { ProcessGroup, onStopSignal } from "./process-group.ts";

const help = `usher dev <module> [options]

Serves the routes that the module exports as "routes", and starts again whenever it changes, or a file that it imports. On
Deno the restart is by deno run --watch. Errors are printed with their messages and stacks.

An export "options" has the options of the app (resources, cors, trustedProxies): an object, or a function that makes it,
which may be async.

  --port NUMBER    the port; 8080 by default
  --host HOST      the address; localhost by default, 0.0.0.0 for every interface
  --allow-host NAME
                   a host besides localhost that requests may name, as of a tunnel or a container: shop.example, or
                   *.tunnel.example for all names below it; may be repeated
  --env FILE       sets the environment variables of the file, if it exists, except those that are set already
  --program        the module is a program that calls serve itself, on Node: usher dev --program src/main.ts`;

/** The options of `usher dev`, which it hands to the server that it starts. */
export const devOptions = {
  port: { type: "string" },
  host: { type: "string" },
  "allow-host": { type: "string", multiple: true },
  env: { type: "string" },
  program: { type: "boolean" },
} as const;

/** What the server sends where it could not start. */
export const notStarted = "not started";

/** `usher dev`: serves, and restarts on change. */
export const dev: Command = {
  name: "dev",
  summary: "serve the routes, and restart when a file changes",
  help,
  async run(args, terminal) {
    const { module, values } = moduleAnd(args, devOptions);
    const { port = "8080", host = "localhost", program: isProgram = false, env: envFile } = values;
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
      throw new UsageError(`--port must be a number from 0 to 65535, not ${port}`);
    hostsOf(host, values["allow-host"] ?? []);
    if (isProgram) checkProgram(module, values);
    // A file that does not exist is not watched, so its creation would not restart anything.
    if (!existsSync(resolve(module))) throw new CommandFailure(`${module} is missing`);
    if (statSync(resolve(module)).isDirectory()) throw new CommandFailure(`${module} is a folder, not a module`);
    if (isProgram && isUnread(module))
      throw new CommandFailure(`${noTypeScript(module)}, or update Node to 22.18 or newer.`);
    const { Deno } = globalThis as { readonly Deno?: { readonly mainModule: string } };
    if (Deno !== undefined) return watched([...denoWatcher(Deno.mainModule, envFile), ...args]);
    const started = isProgram
      ? { kind: "program", args: ["--import", preload, resolve(module)] }
      : { kind: "server", args: [process.argv[1] as string, "dev-server", ...args] };
    return restarted({ ...started, envFile }, terminal);
  },
};

/** `dev-program.ts`, which ends the program with this process. */
const preload = new URL(`dev-program.js?${process.pid}`, import.meta.url).href;

interface Started {
  /** How messages call it. */
  readonly kind: string;
  readonly args: readonly string[];
  readonly envFile: string | undefined;
}

function checkProgram(module: string, values: { readonly [option: string]: unknown }): void {
  for (const name of ["port", "host", "allow-host"])
    if (values[name] !== undefined) throw new UsageError(`--program takes no --${name}: the program chooses it`);
  if ("Bun" in globalThis || "Deno" in globalThis)
    throw new UsageError(`--program is for Node: run ${commandOfProgram(module)}`);
}

/** Whether Node cannot run a program because it is TypeScript. A loader that was given may read it. */
function isUnread(module: string): boolean {
  if (!/\.[cm]?tsx?$/.test(module) || "Bun" in globalThis || "Deno" in globalThis) return false;
  // Node 20 has no such feature.
  const { typescript } = process.features as { readonly typescript?: unknown };
  const given = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].join(" ");
  return !typescript && !/(?:^|\s)(?:-r|--(?:require|import|loader|experimental-loader))\b/.test(given);
}

/** What restarts a program on the runtime that is there. */
export function commandOfProgram(module: string): string {
  if ("Bun" in globalThis) return `bun --watch ${module}`;
  if ("Deno" in globalThis) return `deno run --watch ${module}`;
  return `usher dev --program ${module}`;
}

/** The arguments of Deno by which it runs this command again, restarted whenever a file changes. */
function denoWatcher(mainModule: string, envFile: string | undefined): readonly string[] {
  const variables = envFile === undefined ? [] : [`--env-file=${envFile}`];
  return ["run", "-A", "--watch", "--no-clear-screen", ...variables, denoEntry(mainModule), "dev-server"];
}

/** Deno runs a file of its own cache of packages by the name of the package alone. */
function denoEntry(mainModule: string): string {
  const [, version] = /\/npm\/[^/]+\/usher-http\/([^/]+)\/dist\/cli\.js$/.exec(mainModule) ?? [];
  return version === undefined ? mainModule : `npm:usher-http@${version}/usher`;
}

/** Runs the watcher of the runtime until a signal stops it. */
async function watched(args: readonly string[]): Promise<number> {
  const watcher = new ProcessGroup(args, { sends: false });
  let isStopping = false;
  onStopSignal(() => {
    if (isStopping) watcher.kill();
    else watcher.stop();
    isStopping = true;
  });
  const code = await watcher.ended;
  return isStopping ? 0 : code;
}

/** Runs the server until a signal stops it, and again whenever the file of its variables changes, or one that it imported. */
async function restarted({ kind, args, envFile }: Started, terminal: Terminal): Promise<number> {
  const changes = new Changes();
  if (envFile !== undefined) changes.add([resolve(envFile)]);
  const own = ownVariables(envFile);
  let server: ProcessGroup;
  let isStopping = false;
  onStopSignal(() => {
    if (isStopping) server.kill();
    else server.stop();
    isStopping = true;
    changes.close();
  });
  while (!isStopping) {
    const changed = changes.next();
    server = new ProcessGroup([...process.execArgv, ...args], { sends: true, env: environment(envFile, own) });
    server.child.on("message", (message) => hear(changes, message));
    const first = await Promise.race([changed, server.ended]);
    if (typeof first === "number") {
      changes.addAny();
      terminal.error(`usher dev: the ${kind} ended with code ${first}\nusher dev: waiting for a change\n`);
      await changed;
    }
    if (!isStopping) terminal.error("usher dev: restarting\n");
    if (!isStopping) server.stop();
    await server.ended;
  }
  return 0;
}

/** The variables of this process. Bun sets those of `.env` by itself, and they would replace what the file has later. */
function ownVariables(file: string | undefined): NodeJS.ProcessEnv {
  if (file === undefined || !("Bun" in globalThis)) return process.env;
  const read = variablesOf(file);
  return Object.fromEntries(Object.entries(process.env).filter(([name, value]) => read[name] !== value));
}

/** Node sends the name of each file that it imports; on Bun the server does. */
function environment(file: string | undefined, own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...(file !== undefined && variablesOf(file)), ...own, WATCH_REPORT_DEPENDENCIES: "1" };
}

function variablesOf(file: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(file, "utf8"));
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT") return {};
    throw new CommandFailure(`${file} cannot be read: ${code}`);
  }
}

/** A message of the server: files that it imported, or that it could not start. A user's own program may send others. */
function hear(changes: Changes, message: unknown): void {
  if (message === notStarted) changes.addAny();
  if (typeof message !== "object" || message === null) return;
  const { "watch:import": imported, "watch:require": required } = message as { readonly [kind: string]: unknown };
  for (const files of [imported, required])
    if (Array.isArray(files)) changes.add(files.filter((file) => typeof file === "string"));
}
