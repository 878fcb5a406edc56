import { fileURLToPath } from "node:url";
import postgres from "postgres";

const migrations = fileURLToPath(new URL("../../examples/orders/migrations", import.meta.url));

/** What is ordered: there is enough of it, and it is counted. */
export const item = "a fountain pen, black, with a fine nib";
const enough = 10n ** 15n;

/** A database of its own for a candidate, as the example migrates it. */
export async function ordersDatabase(serverUrl, name) {
  const { migrate } = await import("usher-http/postgres");
  const server = postgres(serverUrl, { max: 1, onnotice: () => {} });
  await server.unsafe(`drop database if exists ${name} with (force)`);
  await server.unsafe(`create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  await migrate(url.href, { directory: migrations });
  const sql = postgres(url.href, { max: 1 });
  await sql`insert into stock values (${item}, ${enough.toString()})`;
  // Every number has as many digits: the answers have one length.
  await sql`alter table orders alter id restart with 1000000`;
  return {
    url: url.href,
    /** How many orders were placed, how many things they took, and how many changes are noted. */
    async counts() {
      const [row] = await sql`
        select (select count(*) from orders)::int as orders, (select sum(quantity) from orders)::int as ordered,
          ${enough.toString()}::bigint - (select left_over from stock where item = ${item}) as taken,
          (select number - beginning from last_change)::int as changes`;
      return { orders: row.orders, ordered: row.ordered, taken: Number(row.taken), changes: row.changes };
    },
    async drop() {
      await sql.end();
      await server.unsafe(`drop database ${name} with (force)`);
      await server.end();
    },
  };
}
