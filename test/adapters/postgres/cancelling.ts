/** Abandons statements at every moment of their run, and prints the results of the statements after them. */
import process from "node:process";
import { DatabaseError, Pool, Statement, Type } from "../../../adapters/postgres/index.ts";
import * as Log from "../../../src/logging/log.ts";

const rounds = 150;
const brief = Statement.exec("select pg_sleep(0.002)");
const pid = Statement.find("select pg_backend_pid() as pid", { row: { pid: Type.int } });

Log.setup({ level: undefined });
const pool = await Pool.create(process.argv[2] as string, { size: 1 });
const told = { left: 0, finished: 0, innocent: 0, others: [] as string[] };
const pids = new Set<number>();

for (let round = 0; round < rounds; round++) {
  const leaving = new AbortController();
  const timer = setTimeout(() => leaving.abort(), (round % 30) / 10);
  try {
    await pool[round % 2 === 0 ? "use" : "transaction"]((db) => db.exec(brief), { signal: leaving.signal });
    told.finished++;
  } catch (error) {
    const failure = error instanceof DatabaseError ? error.failure : undefined;
    const isLeft = (failure?.kind === "db" && failure.code === "57014") || failure?.kind === "unsent";
    if (isLeft || failure?.kind === "not_committed") told.left++;
    else told.others.push(String(error));
  }
  clearTimeout(timer);
  // The next statement was not abandoned.
  for (let next = 0; next < 3; next++) {
    try {
      pids.add((await pool.exec(pid)).pid);
    } catch {
      told.innocent++;
    }
  }
}
console.log(JSON.stringify({ ...told, connections: pids.size }));
await pool.close();
process.exit(0);
