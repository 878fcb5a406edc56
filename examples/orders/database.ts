import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Log } from "usher-http";
import { folder } from "./folder.ts";
import { DataInUseError, PostgresServer, canKeepDataIn } from "./postgres-server.ts";

/** A database, and a function that closes it. */
export interface RunningDatabase {
  readonly url: string;
  close(): Promise<void>;
}

export const migrations: string = fileURLToPath(new URL("migrations", folder));

/** Opens the database at a URL; without one, starts a server of its own, whose data stays in a folder. */
export async function openDatabase(url: string | undefined, directory: string | undefined): Promise<RunningDatabase> {
  if (url !== undefined) return { url, close: async () => {} };
  const log = Log.source("orders");
  const server = await PostgresServer.start({
    directory: directory ?? folderOfData(),
    settings: { fsync: "on", full_page_writes: "on" },
    onFirstStart: (folder) => log.info(`making a PostgreSQL database in ${folder}, which takes some seconds`),
  }).catch((error: unknown) => {
    if (!(error instanceof DataInUseError)) throw error;
    console.error(`${error.message}. Stop it, or start beside it: DATA_DIR=/tmp/orders PORT=8081 npm start`);
    process.exit(1);
  });
  log.info(`without DATABASE_URL: a PostgreSQL server of its own, with its data in ${server.directory}`);
  return { url: server.url(), close: () => server.close() };
}

function folderOfData(): string {
  const beside = fileURLToPath(new URL(".data", folder));
  // One folder per user of this machine.
  return canKeepDataIn(beside) ? beside : join(tmpdir(), `usher-orders-${process.getuid?.() ?? "data"}`);
}
