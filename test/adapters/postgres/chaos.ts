/**
 * Writes to a database whose server is being killed, until its input ends; then prints for every write its result:
 * committed, nothing was done, or not known.
 */
import process from "node:process";
import { DatabaseError, Pool, Statement, Type } from "../../../adapters/postgres/index.ts";
import * as Log from "../../../src/logging/log.ts";
import { Refusal, refuse } from "../../../src/refusals.ts";

const size = 8;
const writers = 48;
/** The state after a failure: not done, in all of these. The state of a lost write is unknown. */
const nothing = new Set(["pool_busy", "unsent", "connection_closed", "not_committed", "not_serializable"]);

const write = Statement.exec("insert into written (id, part) values ($1, $2)", { params: [Type.int, Type.int] });
const pause = Statement.exec("select pg_sleep(0.001)");
const one = Statement.find("select 1 as one", { row: { one: Type.int } });
const refused = refuse(Refusal.code("refused", { status: 409, doc: "It is refused." }));

const told: { committed: number[]; nothing: number[]; unknown: number[]; wrong: string[] } = {
  committed: [],
  nothing: [],
  unknown: [],
  wrong: [],
};
let isOver = false;
let lastId = 0;

Log.setup({ level: undefined });
const pool = await Pool.create(process.argv[2] as string, {
  size,
  waitMs: 1000,
  parameters: { application_name: "chaos" },
});
process.stdin.resume().once("end", () => (isOver = true));
process.stdin.once("error", () => (isOver = true));
console.log("writing");
await Promise.all(Array.from({ length: writers }, (_, who) => writeOn(who)));
console.log(JSON.stringify({ ...told, isWhole: await isWhole(), stats: pool.stats() }));
await pool.close();
process.exit(0);

async function writeOn(who: number): Promise<void> {
  const ways = [alone, together, refusing];
  // However slow the machine is, something was written in the end.
  for (let turn = who; !isOver || told.committed.length === 0; turn++) {
    const id = ++lastId;
    await note(id, ways[turn % ways.length] as (id: number) => Promise<boolean>);
    // An unreachable server fails at once: a retry without a pause does nothing else.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

async function note(id: number, way: (id: number) => Promise<boolean>): Promise<void> {
  try {
    const isKept = await way(id);
    (isKept ? told.committed : told.nothing).push(id);
  } catch (error) {
    const kind = error instanceof DatabaseError ? error.failure.kind : "no failure of the database";
    if (nothing.has(kind)) told.nothing.push(id);
    else if (kind === "lost") told.unknown.push(id);
    else told.wrong.push(error instanceof Error ? `${kind}: ${error.message}` : kind);
  }
}

// Both parts in one statement, so that they exist or not: the oracle counts two for each that exists.
async function alone(id: number): Promise<boolean> {
  const both = Statement.exec("insert into written (id, part) select $1, part from generate_series(1, 2) as part", {
    params: [Type.int],
  });
  await pool.exec(both, id);
  return true;
}

async function together(id: number): Promise<boolean> {
  let isSafe = false;
  try {
    await pool.transaction(async (db) => {
      await db.exec(write, id, 1);
      await db.exec(pause);
      await db.exec(write, id, 2);
      isSafe = true;
    });
    return true;
  } catch (error) {
    // Lost before its commit, it is as if it had never run.
    if (!isSafe && error instanceof DatabaseError && error.failure.kind === "lost") return false;
    throw error;
  }
}

async function refusing(id: number): Promise<boolean> {
  const answered = await pool
    .transaction(async (db) => {
      await db.exec(write, id, 1);
      await db.exec(pause);
      return refused;
    })
    .catch((error: unknown) => {
      if (error instanceof DatabaseError && error.failure.kind === "lost") return refused;
      throw error;
    });
  return answered !== refused;
}

/** Whether every place has a connection that answers, after the server is back. */
async function isWhole(): Promise<boolean> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const all = Array.from({ length: size }, () => pool.use((db) => db.exec(one)));
    const answered = await Promise.allSettled(all);
    if (answered.every(({ status }) => status === "fulfilled")) return pool.stats().idle === size;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}
