import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { Changes } from "./changes.ts";
import { CommandFailure, UsageError, moduleAnd } from "./command.ts";
import type { Command, Terminal } from "./command.ts";
import { ProcessGroup, onStopSignal } from "./process-group.ts";

const help = `usher dev <module> [options]

Serves the routes that the module exports as "routes", and starts again whenever it changes, or a file that it imports. On
Deno the restart is by deno run --watch. Errors are printed with their messages and stacks.

An export "options" has the options of the app (resources, cors, trustedProxies): an object, or a function that makes it,
which may be async.

  --port NUMBER  the port; 8080 by default
  --host HOST    the address; localhost by default, 0.0.0.0 for every interface`;

/** The options of `usher dev`, which it hands to the server that it starts. */
export const devOptions = { port: { type: "string" }, host: { type: "string" } } as const;

/** What the server sends where it could not start. */
export const notStarted = "not started";

/** `usher dev`: serves, and restarts on change. */
export const dev: Command = {
  name: "dev",
  summary: "serve the routes, and restart when a file changes",
  help,
  async run(args, terminal) {
    const { module, values } = moduleAnd(args, devOptions);
    const { port = "8080" } = values;
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
      throw new UsageError(`--port must be a number from 0 to 65535, not ${port}`);
    // A file that does not exist is not watched, so its creation would not restart anything.
    if (!existsSync(resolve(module))) throw new CommandFailure(`${module} is missing`);
    if (statSync(resolve(module)).isDirectory()) throw new CommandFailure(`${module} is a folder, not a module`);
    const { Deno } = globalThis as { readonly Deno?: { readonly mainModule: string } };
    if (Deno !== undefined) return watched([...denoWatcher(Deno.mainModule), ...args]);
    return restarted([...process.execArgv, process.argv[1] as string, "dev-server", ...args], terminal);
  },
};

/** The arguments of Deno by which it runs this command again, restarted whenever a file changes. */
function denoWatcher(mainModule: string): readonly string[] {
  return ["run", "-A", "--watch", "--no-clear-screen", denoEntry(mainModule), "dev-server"];
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

/** Runs the server until a signal stops it, and again whenever a file changes that it imported. */
async function restarted(args: readonly string[], terminal: Terminal): Promise<number> {
  const changes = new Changes();
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
    // Node sends the name of each file that it imports; on Bun the server does.
    server = new ProcessGroup(args, { sends: true, env: { ...process.env, WATCH_REPORT_DEPENDENCIES: "1" } });
    server.child.on("message", (message) => hear(changes, message));
    const first = await Promise.race([changed, server.ended]);
    if (typeof first === "number") {
      changes.addAny();
      terminal.error(`usher dev: the server ended with code ${first}\nusher dev: waiting for a change\n`);
      await changed;
    }
    if (!isStopping) terminal.error("usher dev: restarting\n");
    if (!isStopping) server.stop();
    await server.ended;
  }
  return 0;
}

/** A message of the server: files that it imported, or that it could not start. A user's own program may send others. */
function hear(changes: Changes, message: unknown): void {
  if (message === notStarted) changes.addAny();
  if (typeof message !== "object" || message === null) return;
  const { "watch:import": imported, "watch:require": required } = message as { readonly [kind: string]: unknown };
  for (const files of [imported, required])
    if (Array.isArray(files)) changes.add(files.filter((file) => typeof file === "string"));
}
