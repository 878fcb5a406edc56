/** What a transaction changes of its session is over when it ends: the next request has the same connection. */
import { describe, expect, it } from "vitest";
import { Refusal, refuse } from "usher-http";
import { Statement, Type } from "usher-http/postgres";
import "../../support/logs.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { pools } from "./pools.ts";

const server = await startPostgres();
const watch = observer(server);
const pool = pools(server);
await watch`create role tenant`;

const session = Statement.find(
  `select current_setting('search_path') as path, current_user::text as role,
    coalesce(current_setting('app.tenant', true), '') as tenant,
    (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks,
    pg_my_temp_schema() <> 0 and to_regclass('pg_temp.draft') is not null as has_draft`,
  { row: { path: Type.text, role: Type.text, tenant: Type.text, locks: Type.int64, has_draft: Type.bool } },
);
const changes = [
  "set search_path to pg_catalog",
  "-- of this tenant\n/* and no other */ SET ROLE tenant",
  "select set_config('app.tenant', 'a', false)",
  "select pg_advisory_lock(7)",
  "select pg_try_advisory_lock_shared(7)",
  "create temp table draft (id int)",
  "create table pg_temp.draft (id int)",
  "create or replace temporary view draft as select 1 as id",
  "select 1 as id into temp draft",
];

describe("the next borrower has a clean session", () => {
  it.each(changes)("after %j", async (sql) => {
    const some = await pool({ size: 1 });
    const before = await some.exec(session);
    await some.transaction((db) => db.exec(Statement.exec(sql)));
    expect(await some.exec(session)).toEqual(before);
    expect(some.stats()).toMatchObject({ idle: 1, replaced: 0 });
  });

  it("after a refusal that is rolled back, whose locks stay", async () => {
    const some = await pool({ size: 1 });
    const before = await some.exec(session);
    const taken = Refusal.code("taken", { status: 409, doc: "Somebody has it." });
    await some.transaction(async (db) => {
      await db.exec(Statement.exec("select pg_advisory_lock(7)"));
      return refuse(taken);
    });
    expect(await some.exec(session)).toEqual(before);
  });
});

describe("a session is not reset", () => {
  // `discard sequences` of a reset forgets it.
  const next = Statement.exec("select nextval('numbers')");
  const last = Statement.find("select lastval() as last", { row: { last: Type.int64 } });

  it.each(["set local search_path to pg_catalog", "select pg_advisory_xact_lock(7)", "select 1"])(
    "after %j",
    async (sql) => {
      const some = await pool({ size: 1 });
      await watch`create sequence if not exists numbers`;
      await some.exec(next);
      await some.transaction((db) => db.exec(Statement.exec(sql)));
      expect(await some.exec(last)).toEqual({ last: expect.any(BigInt) });
    },
  );

  it("a second time, where the next borrower changes nothing", async () => {
    const some = await pool({ size: 1 });
    await watch`create sequence if not exists numbers`;
    await some.transaction((db) => db.exec(Statement.exec("set app.tenant = 'a'")));
    await some.exec(next);
    await some.transaction((db) => db.exec(Statement.exec("select 1")));
    expect(await some.exec(last)).toEqual({ last: expect.any(BigInt) });
  });

  it("if the pool never resets one", async () => {
    const some = await pool({ size: 1, reset: "never" });
    await some.transaction((db) => db.exec(Statement.exec("set app.tenant = 'a'")));
    expect(await some.exec(session)).toMatchObject({ tenant: "a" });
  });
});

it("no reset is a warning in the server's log", async () => {
  const one = Statement.exec("select 1");
  const change = Statement.exec("set application_name = 'other'");
  for (const reset of ["use", "always", "never"] as const) {
    const some = await pool({ size: 1, reset });
    await some.use((db) => db.exec(one));
    await some.transaction((db) => db.exec(change));
    await some.exec(one);
  }
  expect(server.log()).not.toContain("WARNING");
});
