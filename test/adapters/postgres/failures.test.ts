/** Every row of the table of failures (contract 7.5), made for real; after each the pool is whole again. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Pool, Statement } from "usher-http/postgres";
import type { Database, PoolOptions } from "usher-http/postgres";
import { gate } from "../../support/node-server.ts";
import { CuttingProxy } from "./cutting-proxy.ts";
import { eventually } from "./pools.ts";
import { addPlace, countPlaces, endSelf, failingServer, failure, one, pid, sleep } from "./failing-server.ts";

const { server, watch, pool, waits, expectWhole, sessions } = await failingServer();

describe("the server: ends connections", () => {
  it("stops: nothing is done, and the pool reconnects (DB-03)", async () => {
    const some = await pool();
    await server.stop();
    // The end of a connection may reach this process later than the server's: a statement sent before it is lost.
    await eventually(() => failure(some.exec(one))).toMatchObject({ kind: "unsent" });
    expect(await failure(some.transaction((db) => db.exec(one)))).toMatchObject({ kind: "unsent" });
    expect(await failure(some.use((db) => db.exec(one)))).toMatchObject({ kind: "unsent" });
    await server.start();
    await eventually(() => failure(some.exec(one))).toBe("nothing was thrown");
    await expectWhole(some);
  });

  it("ends an idle connection: it is replaced, and no caller notices", async () => {
    const some = await pool();
    await watch`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'usher'`;
    await eventually(() => some.stats().replaced).toBe(2);
    expect(await some.exec(one)).toEqual({ one: 1 });
    await expectWhole(some);
  });

  it.each(["first", "second"])(
    "ends a connection during a statement's %s run: the outcome is unknown (DB-06)",
    async (run) => {
      const some = await pool();
      if (run === "second") await some.exec(sleep, 0);
      const lost = failure(some.exec(sleep, 60));
      const at = await waits("wait_event = 'PgSleep'");
      await watch`select pg_terminate_backend(${at})`;
      expect(await lost).toMatchObject({ kind: "lost" });
      await expectWhole(some);
    },
  );

  it("ends a connection in a transaction: the next statement is not sent, and nothing is committed", async () => {
    const some = await pool();
    const seen: unknown[] = [];
    const done = some.transaction(async (db) => {
      await db.exec(addPlace, 1);
      seen.push(await failure(db.exec(endSelf)));
      await db.exec(addPlace, 1);
    });
    expect(await failure(done)).toEqual({ kind: "connection_closed" });
    expect(seen).toMatchObject([{ kind: "lost" }]);
    expect(await some.exec(countPlaces, 1)).toEqual({ places: 0n });
    await expectWhole(some);
  });

  it("ends a connection before its commit: it is not committed", async () => {
    const some = await pool();
    const done = some.transaction(async (db) => {
      await db.exec(addPlace, 2);
      await failure(db.exec(endSelf));
    });
    expect(await failure(done)).toMatchObject({ kind: "not_committed" });
    expect(await some.exec(countPlaces, 2)).toEqual({ places: 0n });
    await expectWhole(some);
  });

  it("ends a connection at its commit: the outcome is unknown", async () => {
    const some = await pool();
    const done = failure(some.transaction((db) => db.exec(Statement.exec("insert into slow values (1)"))));
    const at = await waits("wait_event = 'PgSleep' and query = 'commit'");
    await watch`select pg_terminate_backend(${at})`;
    expect(await done).toMatchObject({ kind: "lost" });
    await expectWhole(some);
  });

  it("crashes: running statements are lost, and the pool reconnects", async () => {
    const some = await pool();
    const lost = failure(some.exec(sleep, 60));
    await waits("wait_event = 'PgSleep'");
    await server.stop("immediate");
    expect(await lost).toMatchObject({ kind: "lost" });
    await server.start();
    await eventually(() => failure(some.exec(one))).toBe("nothing was thrown");
    await expectWhole(some);
  });
});

describe("the server: crashes and time limits", () => {
  it("limits the time of a statement, whose connection is kept", async () => {
    // A brief statement is over by then, also where its backend waits for a processor.
    const some = await pool({ size: 1, statementTimeoutMs: 2000 });
    const { pid: before } = await some.exec(pid);
    expect(await failure(some.exec(sleep, 60))).toMatchObject({ kind: "db", code: "57014" });
    expect(await some.exec(pid)).toEqual({ pid: before });
    await expectWhole(some);
  });

  it("limits the time of an idle transaction", async () => {
    const some = await pool({ size: 1, idleInTransactionTimeoutMs: 50 });
    const done = some.transaction(async (db) => {
      await db.exec(addPlace, 3);
      await eventually(sessions).toBe(0);
      return db.exec(one);
    });
    expect(["connection_closed", "lost"]).toContain(((await failure(done)) as { kind: string }).kind);
    expect(await some.exec(countPlaces, 3)).toEqual({ places: 0n });
    await expectWhole(some);
  });
});

/** The server measures it by its own clock, which continues on a busy machine: only the pool's clock reaches it. */
const boundMs = 600_000;
const bounds = { size: 1, statementTimeoutMs: boundMs };
/** Under the minute that the pool waits for the end of a transaction: it waits longer where the bound is longer. */
const underMinute = { size: 1, statementTimeoutMs: 50_000 };
/** A pool whose housekeeping goes by a clock that the test holds. */
async function behind(options: PoolOptions): Promise<{ proxy: CuttingProxy; some: Pool }> {
  const proxy = await CuttingProxy.to(server.port);
  onTestFinished(() => {
    proxy.close();
    vi.useRealTimers();
  });
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const some = await Pool.create(`postgres://postgres@127.0.0.1:${proxy.port}/postgres`, options);
  return { proxy, some };
}
const bug = new TypeError("a bug");

describe("a server that stops answering: its time limits", () => {
  let places = 100;

  it("is given up five seconds after the statement's time limit", async () => {
    const { proxy, some } = await behind(bounds);
    const hushed = proxy.hush();
    const lost = failure(some.exec(one));
    await hushed;
    proxy.speak();
    vi.advanceTimersByTime(boundMs + 5000);
    expect(some.stats().idle).toBe(0);
    vi.advanceTimersByTime(1000);
    expect(await lost).toMatchObject({ kind: "lost" });
    expect(await some.exec(one)).toEqual({ one: 1 });
    await some.close();
  });
  const fails = async (db: Database, proxy: CuttingProxy, sql: string): Promise<never> => {
    await db.exec(Statement.exec(sql));
    const hushed = proxy.hush();
    void hushed.then(() => {
      proxy.speak();
      vi.advanceTimersByTime(boundMs + 6000);
    });
    throw bug;
  };
  it.each([
    ["a rollback", (some: Pool, work: (db: Database) => Promise<never>) => some.transaction(work)],
    ["a session's renewal", (some: Pool, work: (db: Database) => Promise<never>) => some.use(work)],
  ])("is given up at %s, whatever time limit its borrower set", async (_, borrow) => {
    const { proxy, some } = await behind(bounds);
    expect(await failure(borrow(some, (db) => fails(db, proxy, "set statement_timeout = '1h'")))).toBe(bug);
    expect(await some.exec(one)).toEqual({ one: 1 });
    expect(some.stats()).toMatchObject({ idle: 1, replaced: 1 });
    await some.close();
  });

  it.each([
    ["lifted", underMinute, "set local statement_timeout = 0"],
    ["moved", underMinute, "set local statement_timeout = '1h'"],
    ["of a pool that has none", { ...bounds, statementTimeoutMs: 0 }, "select 1"],
  ])("is given up a minute into a commit, whose time limit is %s", async (_, options, sql) => {
    const { proxy, some } = await behind(options);
    const id = ++places;
    const hushed = gate();
    const lost = failure(
      some.transaction(async (db) => {
        await db.exec(Statement.exec(sql));
        await db.exec(addPlace, id);
        void proxy.hush().then(hushed.open);
      }),
    );
    await hushed.passed;
    proxy.speak();
    vi.advanceTimersByTime(60_000);
    expect(some.stats().idle).toBe(0);
    vi.advanceTimersByTime(1000);
    expect(await lost).toMatchObject({ kind: "lost" });
    expect(await some.exec(countPlaces, id)).toEqual({ places: 1n });
    expect(some.stats()).toMatchObject({ idle: 1, replaced: 1 });
    await some.close();
  });
});

describe("a server that stops answering: its borrowers", () => {
  it("is given up a minute into a rollback, if the pool has no time limit", async () => {
    const { proxy, some } = await behind({ ...bounds, statementTimeoutMs: 0 });
    const done = some.transaction(async (db) => {
      await db.exec(one);
      void proxy.hush().then(() => {
        proxy.speak();
        vi.advanceTimersByTime(61_000);
      });
      throw bug;
    });
    expect(await failure(done)).toBe(bug);
    expect(await some.exec(one)).toEqual({ one: 1 });
    expect(some.stats()).toMatchObject({ idle: 1, replaced: 1 });
    await some.close();
  });

  it("is given up in a transaction that runs again, whatever time limit its first run set", async () => {
    const { proxy, some } = await behind({ ...bounds, idleInTransactionTimeoutMs: 0 });
    let runs = 0;
    const done = some.transaction(
      async (db) => {
        if (++runs === 1) {
          await db.exec(Statement.exec("set local statement_timeout = 0"));
          await db.exec(Statement.exec("insert into contested values (1)"));
          return;
        }
        const hushed = proxy.hush();
        const lost = db.exec(one);
        await hushed;
        proxy.speak();
        vi.advanceTimersByTime(boundMs + 6000);
        await lost;
      },
      { retries: 1 },
    );
    expect([await failure(done), runs]).toMatchObject([{ kind: "lost" }, 2]);
    expect(await some.exec(one)).toEqual({ one: 1 });
    await some.close();
  });

  it.each<[string, (db: Database) => Promise<unknown>]>([
    ["ran once", (db) => db.exec(Statement.exec("select 2"))],
    ["ran again", (db) => db.exec(one).then(() => db.exec(one))],
    ["failed", (db) => failure(db.exec(Statement.exec("select 1/0")))],
  ])("is not destroyed for a caller whose statement %s", async (_when, run) => {
    const { some } = await behind(bounds);
    const { pid: before } = await some.exec(pid);
    const after = await some.use(async (db) => {
      await run(db);
      vi.advanceTimersByTime(2 * boundMs);
      return db.exec(pid);
    });
    expect(after).toEqual({ pid: before });
    await some.close();
  });

  it("is awaited if its borrower set a time limit of its own", async () => {
    const { some } = await behind(bounds);
    const waited = await some.transaction(async (db) => {
      await db.exec(Statement.exec("set local statement_timeout = '1h'"));
      const slept = db.exec(sleep, 0.05);
      vi.advanceTimersByTime(2 * boundMs);
      await slept;
      return "slept";
    });
    expect(waited).toBe("slept");
    await some.close();
  });
});
