/** A PostgreSQL server of the test file's own, as the example starts one, stopped when the file ends. */
import { existsSync, statfsSync } from "node:fs";
import postgres from "postgres";
import { afterAll } from "vitest";
import { PostgresServer, makeData } from "../../../examples/orders/postgres-server.ts";
import type { ServerOptions } from "../../../examples/orders/postgres-server.ts";
import { madeOnce } from "../run-folder.ts";

/** Starts the server: awaited where a test file begins. */
export async function startPostgres(options: ServerOptions = {}): Promise<PostgresServer> {
  const server = await startServer(options);
  afterAll(() => server.close());
  return server;
}

/** Starts a server that the test closes. `initdb` takes 1.2 s of processor time, so it runs once in a run. */
export async function startServer(options: ServerOptions = {}): Promise<PostgresServer> {
  return PostgresServer.start({ template: madeOnce("postgres", makeData), ...inMemory(), ...options });
}

/** Linux's file system in memory. */
const memory = "/dev/shm";
/** Of the servers that run at the same time: each has 40 MB, and 8 MB for each database. */
const needed = 2 ** 30;

/**
 * The data of a server that ends with its test file is in memory where there is room: on a disk a run writes and deletes 3 GB, in
 * 70,000 files.
 */
function inMemory(): Pick<ServerOptions, "parent"> {
  if (!existsSync(memory)) return {};
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= needed ? { parent: memory } : {};
}

/** A connection that watches the server from outside of what is tested, closed when the test file ends. */
export function observer(server: PostgresServer, database = "postgres"): postgres.Sql {
  const sql = postgres(server.url(database), {
    max: 1,
    onnotice: () => {},
    connection: { application_name: "observer" },
  });
  afterAll(() => sql.end());
  return sql;
}
