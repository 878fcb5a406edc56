/** Event streams of `usher-http/node`, whose clients do wrong: on Node, and on the `node:http` of Bun and of Deno. */
import { join } from "node:path";
import { describe } from "vitest";
import { runtimes } from "../../support/runtimes.ts";
import { describeFeeds } from "../../support/spawned/feeds.ts";
import { SpawnedServer } from "../../support/spawned/server.ts";
import type { Command } from "../../support/spawned/server.ts";

const deno = ["run", "--no-lock", "--node-modules-dir=manual", "--cached-only", "--no-prompt"];
const rights = ["--allow-net", "--allow-read", "--allow-write", "--allow-env", "--allow-sys"];
const commands: { readonly [runtime: string]: () => Command } = {
  node: () => [runtimes["node-newest"](), "--disable-warning=ExperimentalWarning"],
  bun: () => [runtimes.bun()],
  deno: () => [runtimes.deno(), ...deno, ...rights],
};

describe.each(Object.entries(commands))("on %s", (_runtime, command) => {
  describeFeeds((options) => SpawnedServer.start(command(), join(import.meta.dirname, "server.ts"), options));
});
