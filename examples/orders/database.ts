import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Log } from "usher-http";
import { folder } from "./folder.ts";
import { PostgresServer, canKeepDataIn } from "./postgres-server.ts";

/** A database, and a function that closes it. */
export interface RunningDatabase {
  readonly url: string;
  close(): Promise<void>;
}

export const migrations: string = fileURLToPath(new URL("migrations", folder));

/** Opens the database at a URL; without one, starts a server of its own, whose data stays in a folder. */
export async function openDatabase(url: string | undefined, directory: string | undefined): Promise<RunningDatabase> {
  if (url !== undefined) return { url, close: async () => {} };
  const server = await PostgresServer.start({
    directory: directory ?? folderOfData(),
    settings: { fsync: "on", full_page_writes: "on" },
  });
  Log.source("orders").info(
    `without DATABASE_URL: a PostgreSQL server of its own, with its data in ${server.directory}`,
  );
  return { url: server.url(), close: () => server.close() };
}

function folderOfData(): string {
  const beside = fileURLToPath(new URL(".data", folder));
  // One folder per user of this machine.
  return canKeepDataIn(beside) ? beside : join(tmpdir(), `usher-orders-${process.getuid?.() ?? "data"}`);
}
