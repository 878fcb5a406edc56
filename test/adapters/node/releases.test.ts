/** What a request acquired is released once by `usher-http/node`, on Node and on the `node:http` of Bun and Deno. */
import { join } from "node:path";
import { describe } from "vitest";
import { runtimes } from "../../support/runtimes.ts";
import { describeReleases } from "../../support/spawned/releases.ts";
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
  describeReleases((options) => SpawnedServer.start(command(), join(import.meta.dirname, "server.ts"), options));
});
