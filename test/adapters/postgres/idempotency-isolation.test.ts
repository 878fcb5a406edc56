/** An idempotency key in transactions of each isolation level: its handler runs once, whatever another input has read before. */
import { expect, it } from "vitest";
import { Dep, Idempotency, Path, Returns, Test, post } from "usher-http";
import { IdempotencyTable, Statement, Type } from "usher-http/postgres";
import type { Database, Pool, PoolOptions } from "usher-http/postgres";
import { gate } from "../../support/node-server.ts";
import "../../support/logs.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { pools } from "./pools.ts";
import { rounds } from "../../support/wide.ts";

const server = await startPostgres();
const outside = observer(server);
const opened = pools(server);
const options = { table: "answers" };
await outside.unsafe(IdempotencyTable.schema(options));
await outside.unsafe("create table entry (id int)");

const count = Statement.find("select count(*) as entries from entry", { row: { entries: Type.int64 } });
const add = Statement.exec("insert into entry values ($1)", { params: [Type.int] });

interface Given {
  readonly isolation?: "read committed" | "repeatable read" | "serializable";
  readonly pool?: PoolOptions;
  /** Runs in an input that has the transaction, before the key is claimed. */
  readonly before?: (db: Database) => Promise<void>;
}

/** A route with a key, and how often its handler ran. */
async function counted({ isolation, pool: poolOptions, before = async () => {} }: Given) {
  const pool = await opened({ size: 8, ...poolOptions });
  const store = Dep.ofResource<Pool>("pool");
  const tx = Dep.transaction(store, isolation === undefined ? {} : { isolation }) as Dep<Database>;
  const read = Dep.map(tx, async (db) => {
    await before(db);
    return "read";
  });
  const once = Idempotency.by(Dep.map(tx, IdempotencyTable.inTransaction(options)), {
    caller: Dep.return("everybody"),
  });
  const runs = new Map<string, number>();
  const route = post(Path.root, { inputs: { tx, read, once }, returns: Returns.text }, async ({ tx, once = "" }) => {
    runs.set(once, (runs.get(once) ?? 0) + 1);
    await tx.exec(add, 1);
    return `done ${once}`;
  });
  const app = Test.app([route], { resources: [Dep.resource(store, pool)] });
  const ask = async (key: string): Promise<string> => {
    const { status, body, headers } = await Test.call(app, "POST", "/", { headers: { "idempotency-key": `"${key}"` } });
    return `${status} ${status === 200 ? body : JSON.parse(body).error}${headers.has("idempotent-replayed") ? " again" : ""}`;
  };
  return { ask, runs };
}

const levels = [
  ["read committed", { isolation: "read committed" }, "200 done key again"],
  ["repeatable read", { isolation: "repeatable read" }, "503 busy"],
  ["serializable", { isolation: "serializable" }, "503 busy"],
  [
    "the server's default, repeatable read",
    { pool: { parameters: { default_transaction_isolation: "repeatable read" } } },
    "503 busy",
  ],
] as const satisfies readonly (readonly [name: string, given: Given, second: string])[];

/** The second request to read waits, once it has read, until `isCommitted` opens. */
async function waitingSecond(given: Given) {
  await outside`truncate entry, answers`;
  const [hasRead, isCommitted] = [gate(), gate()];
  let readers = 0;
  const { ask, runs } = await counted({
    ...given,
    before: async (db) => {
      if (++readers !== 2) return;
      await db.exec(count);
      hasRead.open();
      await isCommitted.passed;
    },
  });
  return { ask, runs, hasRead, isCommitted };
}

it.each(levels)("in %s a handler does not run again after an input that read before", async (_, given, second) => {
  const { ask, runs, hasRead, isCommitted } = await waitingSecond(given);
  // The first is a request of another key: the second one's snapshot is older than the answer of the third.
  expect(await ask("other")).toBe("200 done other");
  const late = ask("key");
  await hasRead.passed;
  expect(await ask("key")).toBe("200 done key");
  isCommitted.open();
  expect(await late).toBe(second);
  expect(await ask("key")).toBe("200 done key again");
  expect(runs.get("key")).toBe(1);
  expect(await outside`select count(*)::int as entries from entry`).toEqual([{ entries: 2 }]);
});

it.each(levels)(
  "in %s a handler does not run again where its key had expired and was claimed again",
  async (_, given, second) => {
    const { ask, runs, hasRead, isCommitted } = await waitingSecond(given);
    expect(await ask("key")).toBe("200 done key");
    await outside`update answers set kept_until = now() - interval '1 hour'`;
    const late = ask("key");
    await hasRead.passed;
    expect(await ask("key")).toBe("200 done key");
    isCommitted.open();
    expect(await late).toBe(second);
    expect(runs.get("key")).toBe(2);
  },
);

it.each(levels)(
  "in %s a handler runs once for any number of concurrent requests",
  { timeout: 120_000 },
  async (_, given) => {
    await outside`truncate entry, answers`;
    const { ask, runs } = await counted({ ...given, before: async (db) => void (await db.exec(count)) });
    for (let round = 0; round < rounds(60); round++) {
      const key = `key ${round}`;
      const told = new Set(await Promise.all(Array.from({ length: 8 }, () => ask(key))));
      // A conflict of serializable transactions may have ended each of them.
      while (!told.has(`200 done ${key}`) && !told.has(`200 done ${key} again`)) told.add(await ask(key));
      for (const one of told)
        expect([`200 done ${key}`, `200 done ${key} again`, "409 idempotency_key_in_use", "503 busy"]).toContain(one);
      // A handler of a serializable transaction may run, and fail at its commit by a conflict with another key's.
      if (given !== levels[2][1]) expect(runs.get(key)).toBe(1);
    }
    const [row] = await outside`select count(*)::int as entries from entry`;
    expect(row).toEqual({ entries: rounds(60) });
  },
);
