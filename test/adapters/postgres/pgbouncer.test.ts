/** A pool, a relay and migrations behind PgBouncer, in its mode of sessions and in that of transactions. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Pool, Statement, Type, migrate, relay } from "usher-http/postgres";
import type { PoolOptions } from "usher-http/postgres";
import "../../support/logs.ts";
import { PgBouncer, pgbouncer, preparesStatements } from "../../support/pgbouncer.ts";
import type { PoolMode } from "../../support/pgbouncer.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { eventually } from "./pools.ts";
import { failure } from "./failing-server.ts";

const setting = Statement.find(
  "select current_setting('statement_timeout') as statement, current_setting('idle_in_transaction_session_timeout') as idle",
  { row: { statement: Type.text, idle: Type.text } },
);
const limits = { statementTimeoutMs: 4321, idleInTransactionTimeoutMs: 8765 };
const set = { statement: "4321ms", idle: "8765ms" };
const none = { statement: "0", idle: "0" };
const sleep = Statement.exec("select pg_sleep($1)", { params: [Type.float] });
const one = Statement.find("select 1 as one", { row: { one: Type.int } });

describe.skipIf(pgbouncer.isSkipped)(`PgBouncer${pgbouncer.why}`, { timeout: 120_000 }, async () => {
  const server = pgbouncer.isSkipped ? undefined : await startPostgres();
  const watch = server && observer(server);
  const port = server?.port ?? 0;

  async function behind(mode: PoolMode, options: PoolOptions, settings: { readonly [name: string]: string } = {}) {
    const bouncer = await PgBouncer.start({ mode, port, settings });
    const pool = await Pool.create(bouncer.url(), { size: 2, ...limits, bounds: mode, ...options });
    onTestFinished(() => pool.close());
    return { bouncer, pool };
  }

  it("refuses the limits of a pool at its start, and the error says what to write", async () => {
    const bouncer = await PgBouncer.start({ mode: "session", port });
    const refused = "unsupported startup parameter: statement_timeout. Behind a pooler set the pool's option bounds to";
    expect(await failure(Pool.create(bouncer.url(), { size: 1 }))).toMatchObject({
      kind: "unsent",
      detail: expect.stringContaining(refused),
    });
    // Nothing of a limit is sent where there is none.
    const other = await PgBouncer.start({
      mode: "session",
      port,
      settings: { ignore_startup_parameters: "IntervalStyle" },
    });
    const pool = await Pool.create(other.url(), { size: 1, statementTimeoutMs: 0, idleInTransactionTimeoutMs: 0 });
    expect(await pool.exec(one)).toEqual({ one: 1 });
    await pool.close();
  });

  it("by session: the limits hold, also after a reset", async () => {
    const { pool } = await behind("session", {});
    for (let run = 0; run < 3; run++) {
      expect(await pool.exec(setting)).toEqual(set);
      expect(await pool.use((db) => db.exec(setting))).toEqual(set);
      await pool.use((db) => db.exec(Statement.exec("set statement_timeout = 0")));
      expect(await pool.transaction((db) => db.exec(setting))).toEqual(set);
      await pool.transaction((db) => db.exec(Statement.exec("set idle_in_transaction_session_timeout = 0")));
    }
    expect(await pool.exec(setting)).toEqual(set);
  });

  it("by session: the server ends a statement that takes longer", async () => {
    const { pool } = await behind("session", { size: 1, statementTimeoutMs: 200 });
    expect(await failure(pool.exec(sleep, 60))).toMatchObject({ kind: "db", code: "57014" });
    expect(pool.stats()).toMatchObject({ replaced: 0 });
  });

  it("by transaction: each has the limits, and leaves nothing in the session of the next", async () => {
    const { pool } = await behind("transaction", { size: 8 });
    const all = Array.from({ length: 100 }, () => pool.transaction((db) => db.exec(setting)));
    for (const one of await Promise.all(all)) expect(one).toEqual(set);
    for (const isolation of ["repeatable read", "serializable"] as const)
      expect(await pool.transaction((db) => db.exec(setting), { isolation })).toEqual(set);
    expect(await pool.exec(setting)).toEqual(none);
    expect(
      await watch?.unsafe("select count(*)::int as n from pg_stat_activity where application_name = 'usher'"),
    ).toEqual([{ n: 2 }]);
  });

  it("by transaction: a statement that takes longer is ended, in a transaction and outside of one", async () => {
    const { pool } = await behind("transaction", { size: 1, statementTimeoutMs: 500 });
    for (let run = 0; run < 2; run++) {
      expect(await failure(pool.transaction((db) => db.exec(sleep, 60)))).toMatchObject({ kind: "db", code: "57014" });
      expect(await failure(pool.exec(sleep, 60))).toMatchObject({ kind: "db", code: "57014" });
      expect(await failure(pool.use((db) => db.exec(sleep, 60)))).toMatchObject({ kind: "db", code: "57014" });
      expect(await pool.exec(one)).toEqual({ one: 1 });
    }
    // No connection was lost for it.
    expect(pool.stats()).toMatchObject({ replaced: 0, idle: 1 });
  });

  it("by transaction: a caller that goes away ends its statement, and no other", async () => {
    const { pool } = await behind("transaction", { size: 4 });
    for (let run = 0; run < 20; run++) {
      const leaving = new AbortController();
      const slept = failure(pool.transaction((db) => db.exec(sleep, 60), { signal: leaving.signal }));
      await eventually(async () => {
        const rows = await watch?.unsafe("select pid from pg_stat_activity where wait_event = 'PgSleep'");
        return rows?.length;
      }).toBe(1);
      const others = Array.from({ length: 3 }, () => pool.exec(one));
      leaving.abort();
      expect(await slept).toMatchObject({ kind: "db", code: "57014" });
      expect(await Promise.all(others)).toEqual([{ one: 1 }, { one: 1 }, { one: 1 }]);
    }
  });

  it.runIf(preparesStatements)("by transaction: statements may be prepared, from PgBouncer 1.21 on", async () => {
    const { pool } = await behind("transaction", { size: 8, statementCache: 16 }, { max_prepared_statements: "50" });
    const sum = Statement.find("select $1::int + $2::int as sum", {
      params: [Type.int, Type.int],
      row: { sum: Type.int },
    });
    for (let run = 0; run < 5; run++) {
      const all = Array.from({ length: 40 }, (_, at) =>
        at % 2 === 0 ? pool.exec(sum, at, 1) : pool.transaction((db) => db.exec(sum, at, 1)),
      );
      for (const [at, { sum }] of (await Promise.all(all)).entries()) expect(sum).toBe(at + 1);
    }
  });

  it("by session: a relay listens, and migrations have no limit", async () => {
    const bouncer = await PgBouncer.start({ mode: "session", port, sessions: 8 });
    const [here, there] = await Promise.all([
      relay(bouncer.url(), { channel: "orders" }),
      relay(bouncer.url(), { channel: "orders" }),
    ]);
    const told: string[] = [];
    await there.subscribe(
      (topic, wire) => told.push(`${topic} ${wire}`),
      () => told.push("missed"),
    );
    await here.publish("pens", "placed");
    await eventually(() => told).toEqual(["pens placed"]);
    await Promise.all([here.close(), there.close()]);

    const directory = mkdtempSync(join(tmpdir(), "usher-migrations-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const text = "create table limits as select current_setting('statement_timeout') as statement;";
    writeFileSync(join(directory, "0001_limits.sql"), text);
    await watch?.unsafe("alter role postgres set statement_timeout = '1h'");
    try {
      expect(await migrate(bouncer.url(), { directory })).toEqual({ applied: ["0001_limits.sql"] });
    } finally {
      await watch?.unsafe("alter role postgres reset statement_timeout");
    }
    expect(await watch?.unsafe("select statement from limits")).toEqual([{ statement: "0" }]);
  });
});
