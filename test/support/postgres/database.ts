/** A PostgreSQL server of the test file's own, as the example starts one, stopped when the file ends. */
import postgres from "postgres";
import { afterAll } from "vitest";
import { PostgresServer } from "../../../examples/orders/postgres-server.ts";
import type { ServerOptions } from "../../../examples/orders/postgres-server.ts";

/** Starts the server: awaited where a test file begins. */
export async function startPostgres(options: ServerOptions = {}): Promise<PostgresServer> {
  const server = await PostgresServer.start(options);
  afterAll(() => server.close());
  return server;
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
