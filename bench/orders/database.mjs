import { fileURLToPath } from "node:url";
import postgres from "postgres";

const migrations = fileURLToPath(new URL("../../examples/orders/migrations", import.meta.url));

/** What is ordered: there is enough of each, and it is counted. One alone would have every order wait for the one before. */
export const items = Array.from({ length: 64 }, (_, at) => `a fountain pen, black, with nib ${at + 10}`);
const enough = 1_000_000_000;

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
  await sql`insert into stock select item, ${enough} from unnest(${items}::text[]) as item`;
  // Every number has as many digits: the answers have one length.
  await sql`alter table orders alter id restart with 1000000`;
  return {
    url: url.href,
    /** How many orders were placed, how many things they took, and how many changes are noted. */
    async counts() {
      const [row] = await sql`
        select (select count(*) from orders)::int as orders, (select sum(quantity) from orders)::int as ordered,
          (select sum(${enough} - left_over) from stock where item = any(${items})) as taken,
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
