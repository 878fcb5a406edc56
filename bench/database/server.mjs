import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import postgres from "postgres";

/** A database with the rows that are asked for: `DATABASE_URL`'s, or a server of the benchmark's own. */
export async function database() {
  const own = process.env.DATABASE_URL === undefined ? await ownServer() : undefined;
  const url = own?.url ?? process.env.DATABASE_URL;
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
      own?.close();
    },
  };
}

// The tests' starter, which a Node that reads TypeScript runs.
async function ownServer() {
  const node = fileURLToPath(
    new URL(`../../node_modules/node-newest-${process.platform}-${process.arch}/bin/node`, import.meta.url),
  );
  const program = fileURLToPath(new URL("../../test/support/postgres/program.ts", import.meta.url));
  const child = spawn(node, [program], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(child.stdout, "data");
  const { port } = JSON.parse(line.toString());
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, close: () => child.kill() };
}
