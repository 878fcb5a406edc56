import postgres from "postgres";
import { postgresServer } from "../harness/postgres.mjs";

/** Starts a database with the rows of the benchmark. */
export async function database() {
  const { url, close } = await postgresServer();
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql`drop table if exists item`;
  await sql`create table item as select id::int8, 'item ' || id as name from generate_series(1, 10000) as id`;
  await sql`alter table item add primary key (id)`;
  await sql`analyze item`;
  return {
    url,
    async close() {
      await sql`drop table item`;
      await sql.end();
      close();
    },
  };
}
