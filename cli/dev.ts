import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { constants } from "node:os";
import { resolve } from "node:path";
import process from "node:process";
import { CommandFailure, UsageError, moduleAnd } from "./command.ts";
import type { Command } from "./command.ts";

const help = `usher dev <module> [options]

Serves the routes that the module exports as "routes", and starts again whenever it changes, or a file that it imports. The
restart is by the runtime: node --watch, bun --watch or deno run --watch. Errors are printed with their messages and stacks.

An export "options" has the options of the app (resources, cors, trustedProxies): an object, or a function that makes it,
which may be async.

  --port NUMBER  the port; 8080 by default
  --host HOST    the address; localhost by default, 0.0.0.0 for every interface`;

/** The options of `usher dev`, which it hands to the server that it starts. */
export const devOptions = { port: { type: "string" }, host: { type: "string" } } as const;

/** `usher dev`: serves, and restarts on change. */
export const dev: Command = {
  name: "dev",
  summary: "serve the routes, and restart when a file changes",
  help,
  async run(args) {
    const { module, values } = moduleAnd(args, devOptions);
    const { port = "8080" } = values;
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
      throw new UsageError(`--port must be a number from 0 to 65535, not ${port}`);
    // A file that does not exist is not watched, so its creation would not restart anything.
    if (!existsSync(resolve(module))) throw new CommandFailure(`${module} is missing`);
    if (statSync(resolve(module)).isDirectory()) throw new CommandFailure(`${module} is a folder, not a module`);
    return watched([...watcher(), "dev-server", ...args]);
  },
};

/** The arguments that make this runtime run this command again, restarted whenever a file changes. */
function watcher(): readonly string[] {
  const { Deno } = globalThis as { readonly Deno?: { readonly mainModule: string } };
  if (Deno !== undefined) return ["run", "-A", "--watch", "--no-clear-screen", denoEntry(Deno.mainModule)];
  const entry = process.argv[1] as string;
  if (process.versions["bun"] !== undefined) return ["--watch", "--no-clear-screen", entry];
  return [...process.execArgv, "--watch", "--watch-preserve-output", entry];
}

/** Deno runs a file of its own cache of packages by the name of the package alone. */
function denoEntry(mainModule: string): string {
  const [, version] = /\/npm\/[^/]+\/usher-http\/([^/]+)\/dist\/cli\.js$/.exec(mainModule) ?? [];
  return version === undefined ? mainModule : `npm:usher-http@${version}/usher`;
}

const stopMs = 3000;

/**
 * Runs the watcher until a signal stops it. The watcher has a process group of its own, so that the terminal's Ctrl-C reaches
 * this process alone, and no process of the group outlives it.
 */
async function watched(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "inherit", "inherit"], detached: hasGroups });
  const killAll = () => signal(child, "SIGKILL");
  // The end of its input stops the server also where this process was killed.
  child.stdin?.on("error", () => {});
  let isStopping = false;
  const stop = () => {
    if (isStopping) {
      killAll();
      return;
    }
    isStopping = true;
    child.stdin?.end();
    signal(child, "SIGTERM");
    setTimeout(killAll, stopMs).unref();
  };
  for (const name of stopSignals) process.on(name, stop);
  process.on("exit", killAll);
  const [code, by] = await ended(child);
  killAll();
  return isStopping ? 0 : (code ?? 128 + (by === null ? 0 : constants.signals[by]));
}

const stopSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const hasGroups = process.platform !== "win32";

function signal(child: ChildProcess, name: "SIGTERM" | "SIGKILL"): void {
  if (child.pid === undefined) return;
  try {
    if (hasGroups) process.kill(-child.pid, name);
    else child.kill(name);
  } catch {
    // It has ended.
  }
}

function ended(child: ChildProcess): Promise<readonly [code: number | null, signal: NodeJS.Signals | null]> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve([code, signal]));
  });
}
