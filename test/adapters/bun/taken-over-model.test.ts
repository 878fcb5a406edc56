/** The WebSockets of `usher-http/bun` compared with their model. */
import { join } from "node:path";
import { runtimes } from "../../support/runtimes.ts";
import { SpawnedServer } from "../../support/spawned/server.ts";
import { describeTakenOver } from "../../support/taken-over/spawned.ts";

describeTakenOver(() => SpawnedServer.start([runtimes.bun()], join(import.meta.dirname, "taken-over-program.ts")));
