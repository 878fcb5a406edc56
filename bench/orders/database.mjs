import { fileURLToPath } from "node:url";
import postgres from "postgres";

const migrations = fileURLToPath(new URL("../../examples/orders/migrations", import.meta.url));

/** The ordered items, with enough stock. With only one item, every order would wait for the previous one's row lock. */
export const items = Array.from({ length: 64 }, (_, at) => `a fountain pen, black, with nib ${at + 10}`);
const enough = 1_000_000_000;

/** Creates a database for a candidate, with the example's migrations. */
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
  // All ids have the same number of digits, so the answers have one length.
  await sql`alter table orders alter id restart with 1000000`;
  return {
    url: url.href,
    /** Counts the orders, the pieces taken from stock, and the changes. */
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
