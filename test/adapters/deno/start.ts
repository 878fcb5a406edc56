import { join } from "node:path";
import type { SpawnOptions } from "../../support/spawned/options.ts";
import { runtimes } from "../../support/runtimes.ts";
import { SpawnedServer } from "../../support/spawned/server.ts";

const flags = [
  "run",
  "--no-lock",
  "--node-modules-dir=manual",
  "--cached-only",
  "--no-prompt",
  "--v8-flags=--expose-gc",
];
// No more rights than it needs.
const rights = ["--allow-net", "--allow-read", "--allow-write"];

/** A server of `usher-http/deno`, run from its source. */
export function start(options: SpawnOptions = {}, program = "server.ts"): Promise<SpawnedServer> {
  return SpawnedServer.start([runtimes.deno(), ...flags, ...rights], join(import.meta.dirname, program), options);
}
