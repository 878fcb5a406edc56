import { join } from "node:path";
import type { ServeOptions } from "../../../adapters/bun/index.ts";
import { runtimes } from "../../support/runtimes.ts";
import { SpawnedServer } from "../../support/spawned/server.ts";

/** A server of `usher-http/bun`, run from its source. */
export function start(options: ServeOptions = {}): Promise<SpawnedServer> {
  return SpawnedServer.start([runtimes.bun()], join(import.meta.dirname, "server.ts"), options);
}
