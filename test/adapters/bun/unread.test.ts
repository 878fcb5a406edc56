/** Clients of `usher-http/bun` that read nothing, on a real bun. */
import { join } from "node:path";
import { runtimes } from "../../support/runtimes.ts";
import { describeUnread } from "../../support/spawned/unread.ts";
import { SpawnedServer } from "../../support/spawned/server.ts";

// Of a whole response Bun holds the rest, and does not tell how much.
describeUnread(
  (options) => SpawnedServer.start([runtimes.bun()], join(import.meta.dirname, "unread-program.ts"), options),
  ["stream", "socket"],
);
