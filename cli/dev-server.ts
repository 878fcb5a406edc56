import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { describeFailure, moduleAnd } from "./command.ts";
import type { Command, Terminal } from "./command.ts";
import { commandOfProgram, devOptions, notStarted } from "./dev.ts";
import { hostGuard, hostsOf } from "./dev-hosts.ts";
import { NoRoutes, appOptions, loadModule } from "./load-routes.ts";
import type { Server } from "../src/server/options.ts";

/** How long requests in flight may hold up a restart. */
const drainMs = 1000;
const importsMs = 500;

/** The process that `usher dev` starts, and starts again at a change: serves the routes of a module until it is stopped. */
export const devServer: Command = {
  name: "dev-server",
  summary: "the server of usher dev",
  help: "usher dev starts this command: see usher dev --help",
  async run(args, terminal) {
    const stopRequest = stopRequested();
    // It stays after a failure: Deno's watcher ends with its program, and what Bun imports later is sent too.
    const staying = setInterval(sendImports, importsMs);
    const server = await started(args, terminal);
    const isLast = await stopRequest;
    clearInterval(staying);
    await server?.stop();
    // Deno's watcher is this process, and would wait for a change.
    if (isLast && "Deno" in globalThis) process.kill(process.pid, "SIGKILL");
    return 0;
  },
};

async function started(args: readonly string[], terminal: Terminal): Promise<Server | undefined> {
  const { module, values } = moduleAnd(args, devOptions);
  const { port = "8080", host = "localhost", "allow-host": allowed = [] } = values;
  // A module that does not load is not among the imports of Bun.
  if ("Bun" in globalThis) process.send?.({ "watch:import": [resolve(module)] });
  try {
    const loaded = await loadModule(module);
    const options = await appOptions(module, loaded, terminal);
    const guard = hostGuard(hostsOf(host, allowed), () => terminal.error(hostAdvice));
    const { serve } = await adapter();
    return await serve(loaded.routes, {
      ...options,
      middleware: [guard, ...(options.middleware ?? [])],
      port: Number(port),
      host,
      drainMs,
      signals: false,
    });
  } catch (thrown) {
    const advice = thrown instanceof NoRoutes ? `\nA program that calls serve itself: ${commandOfProgram(module)}` : "";
    terminal.error(`usher dev: ${describeFailure(thrown)}${advice}\nusher dev: waiting for a change\n`);
    sendFailed(thrown);
    process.send?.(notStarted);
    return undefined;
  } finally {
    sendImports();
  }
}

const hostAdvice =
  "usher dev: a request for another host than localhost was refused. If it is yours, as that of a tunnel, list it: --allow-host NAME\n";

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

/** On Bun the file of a wrong import, which is not among the imports: one that is missing, or that cannot be read. Node sends it by itself. */
function sendFailed(thrown: unknown): void {
  if (!("Bun" in globalThis) || !(thrown instanceof Error) || !(thrown.cause instanceof Error)) return;
  const { specifier, referrer, position } = thrown.cause as Error & Partial<BunMessage>;
  const isMissing = typeof referrer === "string" && typeof specifier === "string" && specifier.startsWith(".");
  const file = isMissing ? resolve(dirname(referrer), specifier) : position?.file;
  if (file !== undefined) process.send?.({ "watch:import": [file] });
}

/** What Bun throws for an import. */
interface BunMessage {
  readonly specifier: string;
  readonly referrer: string;
  readonly position: { readonly file: string } | null;
}

let sent = 0;

/** On Bun the files that were imported so far, as Node sends them by itself. */
function sendImports(): void {
  if (!("Bun" in globalThis)) return;
  const imported = Object.keys(createRequire(import.meta.url).cache);
  if (imported.length !== sent) process.send?.({ "watch:import": imported });
  sent = imported.length;
}
