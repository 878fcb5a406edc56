import { join } from "node:path";
import type { SpawnOptions } from "../../support/spawned/options.ts";
import { runtimes } from "../../support/runtimes.ts";
import { SpawnedServer } from "../../support/spawned/server.ts";

/** A server of `usher-http/bun`, run from its source. */
export function start(options: SpawnOptions = {}): Promise<SpawnedServer> {
  return SpawnedServer.start([runtimes.bun()], join(import.meta.dirname, "server.ts"), options);
}
