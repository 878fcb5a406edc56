/** PGlite as the database of a test, by the page on testing: what works with our pool, and what does not. */
import type * as Database from "usher-http/postgres";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openGuide } from "./project.ts";

const guide = openGuide("testing");
guide.write("database.ts", 'export * from "usher-http/postgres";');
const { Pool, Statement, Type, migrate } = await guide.load<typeof Database>("database.ts");
interface Shown {
  readonly testDatabase: () => Promise<{
    readonly url: string;
    readonly pool: Database.Pool;
    readonly close: () => Promise<void>;
  }>;
}
const { testDatabase } = await guide.load<Shown>("test-database.ts");

let database: Awaited<ReturnType<Shown["testDatabase"]>>;
let pool: Database.Pool;
/** Of two connections. */
let two: Database.Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = database.pool;
  two = await Pool.create(database.url, { size: 2, statementTimeoutMs: 1234 });
  await pool.query(
    "create table seat (id int primary key, place int constraint one_place unique deferrable initially deferred)",
  );
});
afterAll(async () => {
  await two.close();
  await database.close();
});

/** The rows of a text's first column. */
async function column(text: string, db: Database.Queryable = pool): Promise<readonly unknown[]> {
  return (await db.query(text, [], { rows: "lists" })).rows.map(([value]) => value);
}

describe("on PGlite works", () => {
  it("query, with each type, prepared too", async () => {
    for (let runs = 0; runs < 3; runs++) {
      const text =
        "select 9007199254740993::int8 as a, $1::jsonb as b, $2::timestamptz as c, $3::bytea as d, $4::int8[] as e";
      const values = [{ a: [1] }, new Date(0), Uint8Array.of(0, 255), [1n, null]];
      expect((await pool.query(text, values)).rows).toEqual([
        { a: 9007199254740993n, b: values[0], c: values[1], d: values[2], e: values[3] },
      ]);
    }
  });

  it("a transaction: commit, rollback, a violated constraint and a deferred one", async () => {
    await pool.transaction((tx) => tx.query("insert into seat values (1, 1)"));
    const failing = pool.transaction(async (tx) => {
      await tx.query("insert into seat values (2, 2)");
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await expect(pool.query("insert into seat values (1, 3)")).rejects.toMatchObject({
      failure: { kind: "conflict", constraint: "seat_pkey" },
    });
    await expect(pool.transaction((tx) => tx.query("insert into seat values (3, 1)"))).rejects.toMatchObject({
      failure: { kind: "conflict", constraint: "one_place" },
    });
    expect(await column("select id from seat")).toEqual([1]);
  });

  it("batches, on a pool and on a borrowed connection", async () => {
    const lengths = async (db: Database.Queryable): Promise<readonly number[]> => {
      const found: number[] = [];
      for await (const rows of db.batches("select n from generate_series(1, 25) as n", [], { size: 10 }))
        found.push(rows.length);
      return found;
    };
    expect([await lengths(pool), await pool.use(lengths)]).toEqual([[10, 10, 5], [10, 10, 5]]); // prettier-ignore
  });

  it("migrate and Statement.verify", async () => {
    const directory = mkdtempSync(join(tmpdir(), "usher-pglite-"));
    writeFileSync(join(directory, "0001_note.sql"), "create table note (id int); insert into note values (1);");
    expect(await migrate(database.url, { directory })).toMatchObject({ applied: ["0001_note.sql"] });
    expect(await migrate(database.url, { directory })).toMatchObject({ applied: [] });
    rmSync(directory, { recursive: true });
    const find = Statement.list("select id from note where id = $1", { params: [Type.int], row: { id: Type.int } });
    await Statement.verify(pool, [find]);
    expect(await pool.exec(find, 1)).toEqual([{ id: 1 }]);
  });

  it("many statements at a time on two connections", async () => {
    const asked = Array.from({ length: 50 }, (_, at) => two.query("select $1::int4 as a", [at]));
    expect((await Promise.all(asked)).map(({ rows }) => rows[0]?.["a"])).toEqual(
      Array.from({ length: 50 }, (_, at) => at),
    );
  });
});

describe("on PGlite does not work", () => {
  it("sessions apart: all connections have one", async () => {
    await two.use(async (one) => {
      await one.query("set work_mem = '123kB'");
      await one.query("select pg_advisory_lock(7)");
      await two.use(async (other) => {
        expect(await column("show work_mem", other)).toEqual(["123kB"]);
        expect(await column("select pg_try_advisory_lock(7)", other)).toEqual([true]);
      });
    });
  });

  it("a time limit of the start", async () => {
    expect(await column("show statement_timeout", two)).not.toEqual(["1234ms"]);
  });

  it("a signal: the statement runs to its end", async () => {
    const controller = new AbortController();
    const asked = two.query("select pg_sleep(0.2)", [], { signal: controller.signal });
    controller.abort();
    expect((await asked).count).toBe(1);
  });

  it("two transactions at a time: the second waits", async () => {
    const events: string[] = [];
    let second: Promise<unknown> = Promise.resolve();
    await two.transaction(async (tx) => {
      second = two.query("select 1").then(() => events.push("second"));
      for (let asked = 0; asked < 20; asked++) await tx.query("select 1");
      events.push("first");
    });
    await second;
    expect(events).toEqual(["first", "second"]);
  });
});
