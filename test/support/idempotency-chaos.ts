/** A server whose requests have idempotency keys, in a process that is killed: `database-url port (transaction | table | redis-url)`. */
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { IdempotencyTable, Pool, Statement, Type } from "../../adapters/postgres/index.ts";
import { serve } from "../../adapters/node/index.ts";
import { idempotencyStore } from "../../adapters/redis/index.ts";
import { Dep, Idempotency, Log, Path, Refusal, Returns, post, refuse } from "../../src/index.ts";
import type { Database } from "../../adapters/postgres/index.ts";
import type { IdempotencyStore } from "../../src/index.ts";

const [database = "", port = "", where = ""] = process.argv.slice(2);
const options = { table: "answers" };
const add = Statement.exec("insert into effect (key, value) values ($1, $2)", { params: [Type.text, Type.text] });
const taken = Refusal.code("taken", { status: 409, doc: "It is refused." });

Log.setup({ level: undefined });
const pool = await Pool.create(database, { size: 8, parameters: { application_name: "chaos" } });

/** Keys that end in `r` are refused, after their work. */
async function work(db: Database, key: string): Promise<string | Refusal<"taken">> {
  const value = crypto.randomUUID();
  await db.exec(add, key, value);
  await delay(Math.random() * 10);
  return key.endsWith("r") ? refuse(taken, value) : value;
}

const declared = { returns: Returns.text, refuses: [taken] };
const known = { caller: Dep.return("everybody"), required: true, leaseMs: 1000 } as const;

async function storeOf(): Promise<IdempotencyStore> {
  return where === "table" ? IdempotencyTable.store(pool, options) : idempotencyStore(where);
}

async function makeRoute() {
  if (where === "transaction") {
    const tx = Dep.transaction(Dep.return(pool));
    const key = Idempotency.by(Dep.map(tx, IdempotencyTable.inTransaction(options)), known);
    return post(Path.root, { inputs: { tx, key }, ...declared }, ({ tx, key }) => work(tx, key));
  }
  const key = Idempotency.by(await storeOf(), known);
  return post(Path.root, { inputs: { key }, ...declared }, ({ key }) => work(pool, key));
}

await serve([await makeRoute()], { port: Number(port) });
console.log("serving");
