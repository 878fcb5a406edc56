/** Connects to each of the given targets, and prints the results. */
import process from "node:process";
import { DatabaseError, Pool, Statement, Type } from "../../../adapters/postgres/index.ts";
import * as Log from "../../../src/logging/log.ts";

const who = Statement.find("select ssl, session_user::text as name from pg_stat_ssl where pid = pg_backend_pid()", {
  row: { ssl: Type.bool, name: Type.text },
});

Log.setup({ level: undefined });
const results: unknown[] = [];
for (const target of JSON.parse(process.argv[2] as string) as readonly string[])
  results.push(await connectAtSomeSpeed(target));
console.log(JSON.stringify(results));
process.exit(0);

/** Tries again with a longer limit if the machine was too slow for the first: only a silent server exceeds each of them. */
async function connectAtSomeSpeed(target: string): Promise<unknown> {
  for (const seconds of [1, 5]) {
    const result = await connect(target.replace("connect_timeout=1", `connect_timeout=${seconds}`));
    if (!String(result).includes("no connection within")) return result;
  }
  return connect(target.replace("connect_timeout=1", "connect_timeout=25"));
}

async function connect(target: string): Promise<unknown> {
  try {
    const pool = await Pool.create(target, { size: 1 });
    const first = await pool.exec(who);
    const { ssl, name } = await pool.exec(who);
    if (ssl !== first.ssl || name !== first.name) return "two answers to one question";
    await pool.close();
    return `${name}${ssl ? ", encrypted" : ""}`;
  } catch (error) {
    return error instanceof DatabaseError ? error.message : `no failure of the database: ${String(error)}`;
  }
}
