/** Servers of `usher-http/node` in a process of their own: on Node, and on the `node:http` of Bun and Deno. */
import { join } from "node:path";
import { runtimes } from "../../support/runtimes.ts";
import { SpawnedServer } from "../../support/spawned/server.ts";
import type { Command, Start } from "../../support/spawned/server.ts";
import { rows } from "../../support/wide.ts";

const deno = ["run", "--no-lock", "--node-modules-dir=manual", "--cached-only", "--no-prompt"];
const rights = ["--allow-net", "--allow-read", "--allow-write", "--allow-env", "--allow-sys"];
const commands: { readonly [runtime: string]: () => Command } = {
  node: () => [runtimes["node-newest"](), "--disable-warning=ExperimentalWarning"],
  bun: () => [runtimes.bun()],
  deno: () => [runtimes.deno(), ...deno, ...rights],
};

const start =
  (runtime: string): Start =>
  (options) =>
    SpawnedServer.start(commands[runtime]?.() ?? [runtime], join(import.meta.dirname, "server.ts"), options);

export const starts: readonly (readonly [runtime: string, start: Start])[] = rows(["node"], ["bun", "deno"]).map(
  (runtime) => [runtime, start(runtime)],
);
