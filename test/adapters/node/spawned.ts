/** Servers of `usher-http/node` in a process of their own: on Node, and on the `node:http` of Bun and Deno. */
import { join } from "node:path";
import { runtimes } from "../../support/runtimes.ts";
import { SpawnedServer } from "../../support/spawned/server.ts";
import type { Command, Start } from "../../support/spawned/server.ts";
import { rows } from "../../support/wide.ts";

const deno = ["run", "--no-lock", "--node-modules-dir=manual", "--cached-only", "--no-prompt"];
const rights = ["--allow-net", "--allow-read", "--allow-write", "--allow-env", "--allow-sys"];
const commands = rows<readonly [runtime: string, command: () => Command]>(
  [["node", () => [runtimes["node-newest"](), "--disable-warning=ExperimentalWarning"]]],
  [
    ["bun", () => [runtimes.bun()]],
    ["deno", () => [runtimes.deno(), ...deno, ...rights]],
  ],
);

export const starts = commands.map(([runtime, command]): readonly [runtime: string, start: Start] => [
  runtime,
  (options) => SpawnedServer.start(command(), join(import.meta.dirname, "server.ts"), options),
]);
