import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEntry } from "usher-http";
import { SessionTable, Statement, Type } from "usher-http/postgres";
import type { DatabaseError, PoolOptions } from "usher-http/postgres";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { logWith } from "../../support/logs.ts";
import { runs } from "../../support/runs.ts";
import { itHoldsInEveryOrder } from "../../support/session-orders.ts";
import { Play } from "../../support/sessions/play.ts";
import { script } from "../../support/sessions/script.ts";
import { eventually, pools } from "./pools.ts";

const server = await startPostgres();
const outside = observer(server);
const pool = pools(server);
let made = 0;

/** A table of its own for each test. */
async function table(options: PoolOptions = {}) {
  const name = `sessions_${++made}`;
  await outside.unsafe(SessionTable.schema({ table: name }));
  return { name, store: SessionTable.store(await pool(options), { table: name }) };
}

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
const entry: SessionEntry = { data: '{"clerk":"Kim"}', createdAt: at(0), seenAt: at(1), expiresAt: at(60) };

describe("schema", () => {
  it("SE-13 creates the table, its columns and its index", async () => {
    const { name } = await table();
    const columns = await outside`select column_name, data_type, is_nullable from information_schema.columns
      where table_name = ${name} order by ordinal_position`;
    const instant = { data_type: "timestamp with time zone", is_nullable: "NO" };
    expect([...columns]).toEqual([
      { column_name: "digest", data_type: "text", is_nullable: "NO" },
      { column_name: "data", data_type: "text", is_nullable: "NO" },
      { column_name: "created_at", ...instant },
      { column_name: "seen_at", ...instant },
      { column_name: "expires_at", ...instant },
    ]);
    const indexes = await outside`select indexname from pg_indexes where tablename = ${name} order by indexname`;
    expect(indexes.map(({ indexname }) => indexname)).toEqual([`${name}_expires_at`, `${name}_pkey`]);
  });

  it("accepts the longest possible name, and a keyword of SQL", async () => {
    for (const name of ["s".repeat(63), "order"]) {
      await outside.unsafe(SessionTable.schema({ table: name }));
      const store = SessionTable.store(await pool(), { table: name });
      await store.save("digest", entry, "started");
      expect(await store.find("digest")).toEqual(entry);
    }
  });

  it.each(["", "Sessions", "a-b", 'a"b', "a; drop table orders", "1st", "s".repeat(64)])("refuses %j", async (name) => {
    const says = `SessionTable: ${JSON.stringify(name)} is not a table's name`;
    expect(() => SessionTable.schema({ table: name })).toThrow(says);
    const one = await pool();
    expect(() => SessionTable.store(one, { table: name })).toThrow(says);
  });
});

it("lets a statement end every session of a user, also by an index", async () => {
  const { name, store } = await table();
  await outside.unsafe(`create index on ${name} ((data::jsonb->>'clerk'))`);
  for (const [digest, data] of Object.entries({ a: { clerk: "Kim" }, b: { clerk: "Lee" }, c: { clerk: "Kim", n: 1 } }))
    await store.save(digest, { ...entry, data: JSON.stringify(data) }, "started");
  const end = Statement.count(`delete from ${name} where data::jsonb->>'clerk' = $1`, { params: [Type.text] });
  expect(await (await pool()).exec(end, "Kim")).toBe(2);
  const left = await Promise.all(["a", "b", "c"].map((digest) => store.find(digest)));
  expect(left.map((found) => found !== undefined)).toEqual([false, true, false]);
});

describe("store: changes", () => {
  it("keeps a session with any data", async () => {
    const { store } = await table();
    const odd = { ...entry, data: JSON.stringify({ clerk: "O'Neil \\ \u{1f600} {}" }) };
    await store.save("a", odd, "started");
    expect(await store.find("a")).toEqual(odd);
    expect(await store.find("b")).toBeUndefined();
  });

  it("DB-25 changes the data and the times of a stored session, and never its start", async () => {
    const { store } = await table();
    await store.save("a", entry, "started");
    const later = { data: '{"clerk":"Lee"}', createdAt: at(9), seenAt: at(20), expiresAt: at(80) };
    await store.save("a", later, "seen");
    expect(await store.find("a")).toEqual({ ...entry, seenAt: at(20), expiresAt: at(80) });
    await store.save("a", later, "updated");
    expect(await store.find("a")).toEqual({ ...later, createdAt: at(0) });
  });

  it.each(["seen", "updated"] as const)("%s does not restore a closed session", async (change) => {
    const { store } = await table();
    await store.save("a", entry, "started");
    await store.delete("a");
    await store.save("a", entry, change);
    expect(await store.find("a")).toBeUndefined();
  });

  it("replaces a stored session, with new times and the same data, and returns true", async () => {
    const { store } = await table();
    await store.save("a", entry, "started");
    const renewed = { data: "another", createdAt: at(5), seenAt: at(6), expiresAt: at(90) };
    expect(await store.replace("a", "b", renewed)).toBe(true);
    expect(await store.find("a")).toBeUndefined();
    expect(await store.find("b")).toEqual({ ...renewed, data: entry.data });
    expect(await store.replace("a", "c", renewed)).toBe(false);
    await store.delete("b");
    expect(await store.replace("b", "c", renewed)).toBe(false);
    expect(await store.find("c")).toBeUndefined();
  });
});

describe("store: races and faults", () => {
  it.each([
    ["a sign-out first", ["delete", "replace", "replace"]],
    ["a renewal first", ["replace", "delete", "replace"]],
  ])("lets one of several renewals of one row succeed, and none after a sign-out: %s", async (_, calls) => {
    const { name, store } = await table({ size: 3 });
    await store.save("a", entry, "started");
    const made: Promise<boolean | void>[] = [];
    await observer(server).begin(async (sql) => {
      await sql`select 1 from ${sql(name)} where digest = 'a' for update`;
      for (const [i, call] of calls.entries()) {
        made.push(call === "delete" ? store.delete("a") : store.replace("a", `renewed ${i}`, entry));
        // They wait in the order in which they arrived.
        await eventually(
          async () => (await outside`select 1 from pg_stat_activity where wait_event_type = 'Lock'`).length,
        ).toBe(i + 1);
      }
    });
    const won = (await Promise.all(made)).flatMap((answered, i) => (answered === true ? [`renewed ${i}`] : []));
    const kept = await outside`select digest from ${outside(name)}`;
    expect(kept.map(({ digest }) => String(digest))).toEqual(won);
    expect(won).toEqual(calls[0] === "replace" ? ["renewed 0"] : []);
  });

  it("throws what the database refuses, without data of the session", async () => {
    const store = SessionTable.store(await pool(), { table: "missing" });
    const digest = "d1gest0fCookie";
    for (const call of [
      () => store.find(digest),
      () => store.save(digest, entry, "started"),
      () => store.save(digest, entry, "updated"),
      () => store.replace(digest, `${digest} next`, entry),
      () => store.delete(digest),
    ]) {
      const thrown = await call().then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(thrown).toMatchObject({ failure: { kind: "db", code: "42P01" } });
      const { message, stack, failure, refusal } = thrown as DatabaseError;
      expect(JSON.stringify([message, stack, failure, refusal])).not.toMatch(/d1gest|Kim|2026-01-01/);
    }
  });
});

describe("store: sweeps", () => {
  it("SE-10, DB-25 deletes expired sessions, and returns their number", async () => {
    const { store } = await table();
    for (const second of [10, 20, 30]) await store.save(`a${second}`, { ...entry, expiresAt: at(second) }, "started");
    expect(await store.sweep(at(20))).toBe(2);
    expect(await store.sweep(at(20))).toBe(0);
    expect(await store.find("a30")).toBeDefined();
  });

  it("does not wait for rows that another sweep deletes, and keeps a session that is renewed meanwhile", async () => {
    const { name, store } = await table();
    await outside.unsafe(
      `insert into ${name} select 'd' || n, '', now(), now(), now() from generate_series(1, 15000) n`,
    );
    await observer(server).begin(async (sql) => {
      await sql`delete from ${sql(name)} where digest in (select digest from ${sql(name)} limit 100)`;
      await sql`update ${sql(name)} set expires_at = now() + interval '1 hour' where digest = 'd15000'`;
      expect(await store.sweep(new Date(Date.now() + 60_000))).toBe(14_899);
    });
    expect((await outside`select digest from ${outside(name)}`).map(({ digest }) => String(digest))).toEqual([
      "d15000",
    ]);
  });

  it("sweeps a long backlog with several statements: one would exceed its time limit", async () => {
    const { name, store } = await table();
    await outside.unsafe(`create table ${name}_swept (rows int);
      create function ${name}_count() returns trigger language plpgsql as
        $$ begin insert into ${name}_swept select count(*) from gone; return null; end $$;
      create trigger swept after delete on ${name} referencing old table as gone
        for each statement execute function ${name}_count();
      insert into ${name} select 'd' || n, '', now(), now(), now() from generate_series(1, 25000) n`);
    await store.save("kept", { ...entry, expiresAt: new Date(Date.now() + 3_600_000) }, "started");
    expect(await store.sweep(new Date(Date.now() + 60_000))).toBe(25_000);
    const statements = await outside.unsafe(`select rows from ${name}_swept`);
    expect(statements.map(({ rows }) => rows as number)).toEqual([10_000, 10_000, 5000]);
    expect(await store.find("kept")).toBeDefined();
  });
});

describe("concurrent requests with the cookie of one session", () => {
  itHoldsInEveryOrder(async () => (await table()).store);
});

it("SE sessions in a table behave like their model, for any concurrent requests", async () => {
  logWith({ level: undefined });
  const { name } = await table();
  const store = SessionTable.store(await pool({ size: 3 }), { table: name });
  await fc.assert(
    fc
      .asyncProperty(script, async (script) => {
        await new Play(store, Number.POSITIVE_INFINITY).play(script);
        expect(await outside`select 1 from ${outside(name)}`).toHaveLength(0);
      })
      // What a script that failed has left is not the next one's.
      .afterEach(async () => void (await outside`delete from ${outside(name)}`)),
    runs(40),
  );
});

it("lists its statements, each of which fits its table", async () => {
  const { name } = await table();
  const some = await pool();
  const statements = SessionTable.statements({ table: name });
  // One for each thing that a store is asked: find, start, update, see, replace, remove, sweep.
  expect(new Set(statements.map(({ sql }) => sql)).size).toBe(7);
  await Statement.verify(some, statements);
  await outside.unsafe(`alter table ${name} alter data type int using 0`);
  await expect(Statement.verify(some, statements)).rejects.toThrow("column data is integer, and not text");
});
