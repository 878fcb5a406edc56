import process from "node:process";
import { describeFailure, moduleAnd } from "./command.ts";
import type { Command, Terminal } from "./command.ts";
import { devOptions } from "./dev.ts";
import { appOptions, loadModule } from "./load-routes.ts";
import type { Server } from "../src/server/options.ts";

/** How long requests in flight may hold up a restart. */
const drainMs = 1000;

/** The process that `usher dev` starts and the runtime restarts: serves the routes of a module until it is stopped. */
export const devServer: Command = {
  name: "dev-server",
  summary: "the server of usher dev",
  help: "usher dev starts this command: see usher dev --help",
  async run(args, terminal) {
    const stopRequest = stopRequested();
    // A watcher of Bun or Deno ends with its program: after a failure, this keeps it waiting for the next change.
    const staying = setInterval(() => {}, 2 ** 30);
    const server = await started(args, terminal);
    const isLast = await stopRequest;
    clearInterval(staying);
    await server?.stop();
    if (isLast) endWatcher();
    return 0;
  },
};

async function started(args: readonly string[], terminal: Terminal): Promise<Server | undefined> {
  const { module, values } = moduleAnd(args, devOptions);
  const { port = "8080", host = "localhost" } = values;
  try {
    const loaded = await loadModule(module);
    const options = await appOptions(module, loaded, terminal);
    const { serve } = await adapter();
    return await serve(loaded.routes, { ...options, port: Number(port), host, drainMs, signals: false });
  } catch (thrown) {
    terminal.error(`usher dev: ${describeFailure(thrown)}\nusher dev: waiting for a change\n`);
    return undefined;
  }
}

async function adapter() {
  if ("Bun" in globalThis) return import("../adapters/bun/index.ts");
  if ("Deno" in globalThis) return import("../adapters/deno/index.ts");
  return import("../adapters/node/index.ts");
}

/**
 * Resolves when the watcher asks for a restart (false), or when `usher dev` has ended (true): its end of the input closes then,
 * also where it was killed.
 */
function stopRequested(): Promise<boolean> {
  let isLast = false;
  return new Promise((resolve) => {
    process.stdin
      .on("error", () => {})
      .on("end", () => {
        isLast = true;
        resolve(true);
      });
    process.stdin.resume();
    // The input may end in the turn after the signal.
    for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
      process.on(name, () => {
        setImmediate(() => resolve(isLast));
      });
  });
}

/** Ends the runtime's watcher, which would wait for a change: on Node it is the parent, on Bun and Deno this process. */
function endWatcher(): void {
  if (process.connected) process.kill(process.ppid, "SIGTERM");
  if ("Deno" in globalThis) process.kill(process.pid, "SIGKILL");
}
