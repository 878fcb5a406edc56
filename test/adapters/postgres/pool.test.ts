import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Health, Path, Refusal, Returns, Test, get, refuse } from "usher-http";
import type { Route } from "usher-http";
import { DatabaseError, Pool, Statement, Type } from "usher-http/postgres";
import type { DatabaseFailure } from "usher-http/postgres";
import { lines, messages } from "../../support/logs.ts";
import { gate } from "../../support/node-server.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { runtimes } from "../../support/runtimes.ts";
import { eventually, pools } from "./pools.ts";

const server = await startPostgres();
const watch = observer(server);
const pool = pools(server);
await watch`create table item (name text primary key, left_over int not null)`;

const next = Statement.find("select $1 + 1 as next", { params: [Type.int], row: { next: Type.int } });
const pid = Statement.find("select pg_backend_pid() as pid", { row: { pid: Type.int } });
const txid = Statement.find("select txid_current() as txid", { row: { txid: Type.int64 } });
const sleep = Statement.exec("select pg_sleep(60)");
const endSelf = Statement.exec("select pg_terminate_backend(pg_backend_pid())");
const add = Statement.exec("insert into item values ($1, 1)", { params: [Type.text] });
const countItems = Statement.find("select count(*) as items from item where name = $1", {
  params: [Type.text],
  row: { items: Type.int64 },
});
const setting = Statement.find("select current_setting($1) as value", {
  params: [Type.text],
  row: { value: Type.text },
});

function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "nothing was thrown",
    (error: unknown) => (error instanceof DatabaseError ? error.failure : error),
  );
}

function route(work: () => Promise<unknown>, codes: Refusal["code"][] = []): Route {
  return get(Path.of("work"), { summary: "Works", returns: Returns.text, refuses: codes }, async () => {
    const done = await work();
    return done instanceof Refusal ? done : "done";
  });
}

/** The pool's waits go by a clock that the test holds. */
function holdTheClock(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Settings as they are in every one of a pool's sessions. */
async function everywhere(some: Pool, name: string): Promise<Set<string>> {
  const all = Array.from({ length: some.stats().size }, () => some.use((db) => db.exec(setting, name)));
  return new Set((await Promise.all(all)).map(({ value }) => value));
}

describe("a borrow: waiting", () => {
  it("waits its time, is busy, and is served once one is free (DB-01)", async () => {
    const some = await pool({ size: 1, waitMs: 200 });
    const held = gate();
    const holder = some.use(() => held.passed);
    const answered = await Test.call(Test.app([route(() => some.exec(next, 1))]), "GET", "/work");
    expect([answered.status, answered.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(answered.body).toContain('"error":"busy"');
    expect(messages("warn").join()).toContain("no database connection came free within 200 ms");
    expect(messages("error")).toEqual([]);
    held.open();
    await holder;
    expect(await some.exec(next, 1)).toEqual({ next: 2 });
  });

  it("waits as long as it says itself", async () => {
    const some = await pool({ size: 1 });
    const held = gate();
    const holder = some.use(() => held.passed);
    expect(await failure(some.use((db) => db.exec(next, 1), { waitMs: 1 }))).toEqual({
      kind: "pool_busy",
      waitedMs: 1,
    });
    expect(await failure(some.transaction((db) => db.exec(next, 1), { waitMs: 2 }))).toMatchObject({ waitedMs: 2 });
    held.open();
    await holder;
  });

  it("waits no longer than it says for those who wait longer", async () => {
    const some = await pool({ size: 1 });
    holdTheClock();
    const held = gate();
    const holder = some.use(() => held.passed);
    const [long, short] = [undefined, 100].map((waitMs) =>
      failure(some.use((db) => db.exec(next, 1), waitMs === undefined ? {} : { waitMs })),
    );
    vi.advanceTimersByTime(99);
    expect(some.stats().waiting).toBe(2);
    vi.advanceTimersByTime(1);
    expect(await short).toEqual({ kind: "pool_busy", waitedMs: 100 });
    vi.advanceTimersByTime(4899);
    expect(some.stats().waiting).toBe(1);
    vi.advanceTimersByTime(1);
    expect(await long).toEqual({ kind: "pool_busy", waitedMs: 5000 });
    held.open();
    await holder;
  });

  const longest = 2 ** 31 - 1;
  it.each([
    [longest, [longest]],
    [2 ** 40, [longest]],
    [Number.POSITIVE_INFINITY, []],
  ])("may wait for %d ms, past what a timer can count", async (waitMs, timers) => {
    const some = await pool({ size: 1 });
    const held = gate();
    const holder = some.use(() => held.passed);
    // A time to which the longest a timer counts cannot be added without a rounding upwards.
    const clock = vi.spyOn(performance, "now").mockReturnValue(1.3);
    const timer = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => void vi.restoreAllMocks());
    const waiting = some.use((db) => db.exec(next, 1), { waitMs });
    expect(timer.mock.calls.map(([, ms]) => ms)).toEqual(timers);
    clock.mockRestore();
    held.open();
    await holder;
    expect(await waiting).toEqual({ next: 2 });
  });
});

describe("a borrow: the queue", () => {
  it("that took long is told of, once a second, for the request that waited", async () => {
    const some = await pool({ size: 1 });
    holdTheClock();
    const held = gate();
    const holder = some.use(() => held.passed);
    const app = Test.app([route(() => some.exec(next, 1))]);
    const both = [Test.call(app, "GET", "/work"), Test.call(app, "GET", "/work")];
    while (some.stats().waiting < 2) await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(101);
    held.open();
    const [first] = await Promise.all([...both, holder]);
    const told = lines().filter(({ message }) => message === "a wait for a connection took 101 ms");
    expect(told).toMatchObject([{ level: "warn", request_id: first?.headers.get("x-request-id") }]);
  });

  it("is served in the order of asking", async () => {
    const some = await pool({ size: 1 });
    const order: number[] = [];
    const ask = (who: number): Promise<unknown> => some.use(async () => order.push(who));
    await Promise.all([1, 2, 3, 4, 5].map(ask));
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });

  it("that is not waited for any more leaves nothing behind", async () => {
    const some = await pool({ size: 1 });
    const held = gate();
    const holder = some.use(() => held.passed);
    const leaving = new AbortController();
    const left = failure(some.use((db) => db.exec(next, 1), { signal: leaving.signal }));
    expect(some.stats().waiting).toBe(1);
    leaving.abort();
    expect(await left).toMatchObject({ kind: "unsent" });
    expect(some.stats().waiting).toBe(0);
    held.open();
    await holder;
    expect(await failure(some.use((db) => db.exec(next, 1), { signal: leaving.signal }))).toMatchObject({
      kind: "unsent",
    });
    expect(await some.exec(next, 1)).toEqual({ next: 2 });
  });
});

describe("a borrow: callers", () => {
  it("inside of another one that has to wait is warned of", async () => {
    const some = await pool({ size: 1, waitMs: 10 });
    const app = Test.app([route(() => some.use(() => failure(some.exec(next, 1))).then(() => 1))]);
    expect((await Test.call(app, "GET", "/work")).status).toBe(200);
    expect(messages("warn").join()).toContain("holds a connection");
  });

  it("whose caller goes away has its statement ended, and the next one gets its connection (DB-19)", async () => {
    const some = await pool({ size: 1 });
    const { pid: before } = await some.exec(pid);
    for (const way of ["use", "transaction"] as const) {
      const leaving = new AbortController();
      const left = failure(some[way]((db) => db.exec(sleep), { signal: leaving.signal }));
      await eventually(
        async () => (await watch`select 1 from pg_stat_activity where wait_event = 'PgSleep'`).length,
      ).toBe(1);
      leaving.abort();
      expect(await left).toMatchObject({ kind: "db", code: "57014" });
      expect(await some.exec(pid)).toEqual({ pid: before });
      expect(await watch`select 1 from pg_stat_activity where wait_event = 'PgSleep'`).toHaveLength(0);
    }
  });

  it("that is over takes no statement", async () => {
    const some = await pool();
    const kept = await some.use(async (db) => ({ db }));
    expect(await failure(kept.db.exec(next, 1))).toEqual({ kind: "connection_closed" });
  });
});

describe("use", () => {
  it("runs its statements one after another on one connection", async () => {
    const some = await pool();
    const pids = await some.use((db) => Promise.all([db.exec(pid), db.exec(pid), db.exec(pid)]));
    expect(new Set(pids.map(({ pid }) => pid)).size).toBe(1);
  });

  it("leaves nothing of its session to the next one", async () => {
    const some = await pool({ size: 1 });
    await some.use(async (db) => {
      await db.exec(Statement.exec("set search_path to nowhere"));
      await db.exec(Statement.exec("create temporary table mine (id int)"));
      await db.exec(Statement.exec("select pg_advisory_lock(1)"));
      await db.exec(Statement.exec("begin"));
      await db.exec(Statement.exec("insert into public.item values ('of an open transaction', 1)"));
    });
    expect(await everywhere(some, "search_path")).toEqual(new Set(['"$user", public']));
    expect(await failure(some.exec(Statement.exec("select * from mine")))).toMatchObject({ code: "42P01" });
    expect(await watch`select 1 from pg_locks where locktype = 'advisory'`).toHaveLength(0);
    expect(await some.exec(countItems, "of an open transaction")).toEqual({ items: 0n });
  });

  it("leaves its session where the pool is told to, but no transaction", async () => {
    const some = await pool({ size: 1, reset: "never" });
    await some.use(async (db) => {
      await db.exec(Statement.exec("set extra_float_digits to 2"));
      await db.exec(Statement.exec("begin"));
      await db.exec(add, "of another open transaction");
    });
    expect(await everywhere(some, "extra_float_digits")).toEqual(new Set(["2"]));
    expect(await some.exec(countItems, "of another open transaction")).toEqual({ items: 0n });
  });
});

describe("transaction: outcomes", () => {
  it("is one, committed, and what follows runs after it (DB-09)", async () => {
    const some = await pool();
    const order: string[] = [];
    const app = Test.app([
      route(async () => {
        const ids = await some.transaction(async (db) => {
          await db.exec(add, "committed");
          return [await db.exec(txid), await db.exec(txid)];
        });
        expect(ids[0]).toEqual(ids[1]);
        order.push(`${(await watch`select 1 from item where name = 'committed'`).length} row is there`);
      }),
    ]);
    expect((await Test.call(app, "GET", "/work")).status).toBe(200);
    expect(order).toEqual(["1 row is there"]);
  });

  it("that refuses rolls back, and nothing after it runs (DB-10)", async () => {
    const some = await pool();
    const soldOut = Refusal.code("sold_out", { status: 409, doc: "There is none left." });
    const order: string[] = [];
    const app = Test.app([
      route(async () => {
        const done = await some.transaction(async (db) => {
          await db.exec(add, "refused");
          return refuse(soldOut, "There is none left.");
        });
        if (done instanceof Refusal) return done;
        return order.push("after");
      }, [soldOut]),
    ]);
    expect((await Test.call(app, "GET", "/work")).status).toBe(409);
    expect(order).toEqual([]);
    expect(await some.exec(countItems, "refused")).toEqual({ items: 0n });
  });

  it("that throws rolls back, and what it threw is thrown", async () => {
    const some = await pool();
    const bug = new TypeError("a bug");
    const done = some.transaction(async (db) => {
      await db.exec(add, "thrown");
      throw bug;
    });
    expect(await failure(done)).toBe(bug);
    expect(await some.exec(countItems, "thrown")).toEqual({ items: 0n });
  });
});

describe("transaction: control statements", () => {
  const controls = ["begin", " START TRANSACTION", "commit", "rollback", "end", "abort"];
  const behind = ["/* why */ begin", "-- why\ncommit", "/* a /* b */ c */rollback", " ; begin", "--\n/**/;--\n begin"];
  it.each([...controls, ...behind])("neither begins nor ends inside: %s", async (sql) => {
    const some = await pool();
    const control = Statement.exec(sql);
    expect(await failure(some.transaction((db) => db.exec(control)))).toMatchObject({ kind: "not_committed" });
    expect(await failure(some.exec(control))).toMatchObject({ kind: "not_committed" });
  });

  it.each([
    ["/* begin */ select 1", undefined],
    ["-- commit\nselect 1", undefined],
    ["select 1 -- ; begin", undefined],
    ["/* begin", "42601"],
  ])("runs what only names a beginning: %s", async (sql, code) => {
    const some = await pool();
    const done = await failure(some.exec(Statement.exec(sql)));
    if (code === undefined) expect(done).toBe("nothing was thrown");
    else expect(done).toMatchObject({ kind: "db", code });
  });

  it("has savepoints", async () => {
    const some = await pool();
    await some.transaction(async (db) => {
      await db.exec(Statement.exec("savepoint before"));
      expect(await failure(db.exec(Statement.exec("select 1/0")))).toMatchObject({ code: "22012" });
      await db.exec(Statement.exec("rollback to savepoint before"));
      await db.exec(add, "after a savepoint");
    });
    expect(await some.exec(countItems, "after a savepoint")).toEqual({ items: 1n });
  });

  it.each(["read committed", "repeatable read", "serializable"] as const)(
    "is %s where it says so",
    async (isolation) => {
      const some = await pool();
      const level = await some.transaction((db) => db.exec(setting, "transaction_isolation"), { isolation });
      expect(level).toEqual({ value: isolation });
    },
  );

  it("keeps nothing of a refused work that one of its statements stopped, and says so", async () => {
    const some = await pool();
    const soldOut = refuse(Refusal.code("sold_out", { status: 409, doc: "There is none left." }));
    const done = await some.transaction(
      async (db) => {
        await db.exec(add, "stopped");
        await failure(db.exec(Statement.exec("select 1/0")));
        return soldOut;
      },
      { keep: () => true },
    );
    expect(done).toBe(soldOut);
    expect(messages("warn").join()).toContain("is not kept");
    expect(await some.exec(countItems, "stopped")).toEqual({ items: 0n });
  });
});

const holding = observer(server);

describe("a pool: options", () => {
  it("made with no options has eight connections, all open, and a borrow waits 5 s (DB-28)", async () => {
    const some = await Pool.create(server.url());
    expect(some.stats()).toEqual({ size: 8, idle: 8, waiting: 0, replaced: 0 });
    expect(await watch`select 1 from pg_stat_activity where application_name = 'usher'`).toHaveLength(8);
    const held = gate();
    const holders = Array.from({ length: 8 }, () => some.use(() => held.passed));
    holdTheClock();
    const busy = failure(some.exec(next, 1));
    vi.advanceTimersByTime(4999);
    expect(some.stats().waiting).toBe(1);
    vi.advanceTimersByTime(1);
    expect(await busy).toEqual({ kind: "pool_busy", waitedMs: 5000 });
    held.open();
    await Promise.all(holders);
    await some.close();
    await eventually(
      async () => (await watch`select 1 from pg_stat_activity where application_name = 'usher'`).length,
    ).toBe(0);
  });

  it("gives its sessions their bounds, which a revived one has too (DB-18)", async () => {
    const some = await pool({ statementTimeoutMs: 1234.5, idleInTransactionTimeoutMs: 0 });
    for (const killed of [false, true]) {
      if (killed) await failure(some.exec(endSelf));
      expect(await everywhere(some, "statement_timeout")).toEqual(new Set(["1235ms"]));
      expect(await everywhere(some, "idle_in_transaction_session_timeout")).toEqual(new Set(["0"]));
      expect(await everywhere(some, "DateStyle")).toEqual(new Set(["ISO, MDY"]));
    }
  });

  it("gives the application's parameters before its own (DB-16)", async () => {
    const parameters = { STATEMENT_TIMEOUT: "4321", search_path: "pg_catalog", application_name: "mine" };
    const some = await pool({ parameters });
    expect(await everywhere(some, "statement_timeout")).toEqual(new Set(["4321ms"]));
    expect(await everywhere(some, "search_path")).toEqual(new Set(["pg_catalog"]));
    expect(await everywhere(some, "application_name")).toEqual(new Set(["mine"]));
  });

  it("keeps statements prepared as many as it is told, and none where it is told so (DB-15)", async () => {
    const prepared = Statement.find("select count(*) as n from pg_prepared_statements", { row: { n: Type.int64 } });
    for (const [statementCache, n] of [
      [0, 0n],
      [2, 2n],
      [256, 6n],
    ] as const) {
      const some = await pool({ size: 1, statementCache });
      for (let i = 0; i < 5; i++) await some.exec(Statement.exec(`select ${i}`));
      expect(await some.exec(prepared)).toEqual({ n });
      expect(await some.exec(next, 1)).toEqual({ next: 2 });
    }
  });
});

describe("a pool: closing", () => {
  it("opened by run is open before the program runs, and closed after it (DB-12)", async () => {
    let seen: Pool | undefined;
    const answered = await Pool.run(server.url(), { size: 3 }, async (some) => {
      seen = some;
      expect(some.stats()).toMatchObject({ size: 3, idle: 3 });
      return (await some.exec(next, 1)).next;
    });
    expect(answered).toBe(2);
    expect(seen?.stats()).toMatchObject({ idle: 0 });
    expect(await failure((seen as Pool).exec(next, 1))).toEqual({ kind: "pool_closed" });
  });

  it("closes when what was lent came back, and refuses at once meanwhile", async () => {
    const some = await pool();
    const held = gate();
    const holder = some.use(async (db) => {
      await held.passed;
      return db.exec(next, 1);
    });
    let isClosed = false;
    const closing = some.close().then(() => (isClosed = true));
    expect(await failure(some.exec(next, 1))).toEqual({ kind: "pool_closed" });
    expect(await some.check().probe()).toEqual({ ok: false, error: "the database pool is closed" });
    expect(isClosed).toBe(false);
    held.open();
    expect(await holder).toEqual({ next: 2 });
    await closing;
    expect(isClosed).toBe(true);
  });

  it("refuses those that wait when it closes", async () => {
    const some = await pool({ size: 1 });
    const held = gate();
    const holder = some.use(() => held.passed);
    const waiting = failure(some.exec(next, 1));
    const closing = some.close();
    expect(await waiting).toEqual({ kind: "pool_closed" });
    held.open();
    await holder;
    await closing;
  });
});

describe("a pool: renewal", () => {
  it("renews a connection that is old", async () => {
    const some = await pool({ size: 2, maxLifetimeMs: 40 });
    const before = await some.use(async (db) => (await db.exec(pid)).pid);
    await eventually(() => some.stats().replaced).toBeGreaterThan(3);
    const after = await some.exec(pid);
    expect(after.pid).not.toBe(before);
    const count = async (): Promise<number> =>
      (await watch`select 1 from pg_stat_activity where application_name = 'usher'`).length;
    await some.close();
    expect(await count()).toBe(0);
  });

  it("renews a connection that is never idle, as nobody loses it who has it", async () => {
    const some = await pool({ size: 1, maxLifetimeMs: 20 });
    const seen = new Set<number>();
    let isOver = false;
    const busy = Array.from({ length: 3 }, async () => {
      while (!isOver) seen.add((await some.exec(pid)).pid);
    });
    await eventually(() => some.stats().replaced).toBeGreaterThan(3);
    isOver = true;
    await Promise.all(busy);
    expect(seen.size).toBeGreaterThan(2);
    const [first, last] = await some.use(async (db) => {
      const first = (await db.exec(pid)).pid;
      const sessions = async (): Promise<number> =>
        (await watch`select 1 from pg_stat_activity where application_name = 'usher'`).length;
      await eventually(sessions).toBe(2);
      return [first, (await db.exec(pid)).pid];
    });
    expect(last).toBe(first);
    // What the server knows of the one in its place, the pool may not have heard yet.
    await eventually(async () => (await some.exec(pid)).pid).not.toBe(first);
    expect(some.stats()).toMatchObject({ size: 1, idle: 1 });
    await some.close();
    expect(await watch`select 1 from pg_stat_activity where application_name = 'usher'`).toEqual([]);
  });

  it("closes when those it renewed have gone as well", async () => {
    // A goodbye that the server takes its time for is waited for a second, of this machine's.
    const { setTimeout: real } = globalThis;
    vi.spyOn(globalThis, "setTimeout").mockImplementation(((act: () => void, ms?: number) =>
      real(act, ms === 1000 ? 50_000 : ms)) as typeof setTimeout);
    onTestFinished(() => void vi.restoreAllMocks());
    const some = await pool({ size: 2, maxLifetimeMs: 1000, reset: "never" });
    // Its end drops the table, for which it has to wait.
    const old = await some.use(async (db) => {
      await db.exec(Statement.exec("create temporary table mine (id int)"));
      return db.exec(pid);
    });
    await holding.unsafe("begin; lock table pg_class in share mode");
    const isEnding = async (): Promise<boolean> =>
      (await watch`select 1 from pg_stat_activity where pid = ${old.pid} and wait_event_type = 'Lock'`).length > 0;
    await eventually(isEnding).toBe(true);
    let isClosed = false;
    const closing = some.close().then(() => (isClosed = true));
    const left = async (): Promise<readonly unknown[]> =>
      (await watch`select pid from pg_stat_activity where application_name = 'usher'`).map(({ pid }) => pid);
    await eventually(left).toEqual([old.pid]);
    expect(isClosed).toBe(false);
    await holding.unsafe("commit");
    await closing;
    expect(await left()).toEqual([]);
  });
});

describe("a pool: opening", () => {
  it("does not open where one connection cannot, and leaves none (DB-03)", async () => {
    const refused = failure(Pool.create("postgres://postgres@127.0.0.1:1/postgres"));
    expect(await refused).toMatchObject({ kind: "unsent", detail: expect.stringContaining("ECONNREFUSED") });
    const nowhere = failure(Pool.create(server.url("no_such_database")));
    expect(await nowhere).toMatchObject({ kind: "unsent", detail: expect.stringContaining("3D000") });
    await watch.unsafe("create role few login connection limit 3");
    const few = failure(Pool.create(server.url().replace("postgres@", "few@")));
    expect(await few).toMatchObject({ kind: "unsent", detail: expect.stringContaining("53300") });
    await eventually(async () => (await watch`select 1 from pg_stat_activity where usename = 'few'`).length).toBe(0);
  });

  it("gives up on a server that says nothing (DB-21)", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const target = `host=127.0.0.1 port=${port} user=postgres sslmode=disable connect_timeout=1`;
    const given = failure(Pool.create(target, { size: 1 }));
    expect(await given).toEqual({ kind: "unsent", detail: "no connection within 1000 ms" });
    silent.close();
  });

  it("down at start: an error line, status 1, and nothing listens (DB-13)", async () => {
    const program = join(import.meta.dirname, "program.ts");
    const child = spawn(runtimes["node-newest"](), [program, "postgres://postgres@127.0.0.1:1/postgres"]);
    const [told, said] = [text(child.stderr), text(child.stdout)];
    const [status] = (await once(child, "exit")) as [number];
    expect([status, await said]).toEqual([1, ""]);
    const line = JSON.parse((await told).split("\n").find((line) => line.startsWith("{")) ?? "{}") as object;
    expect(line).toMatchObject({ level: "error", "logger.name": "framework.postgres" });
    expect(line).toMatchObject({ message: expect.stringContaining("the pool could not be opened: ") });
  });
});

describe("the readiness check", () => {
  it("is ready while it can be, busy or not, and not where it is down or closed", async () => {
    const some = await pool({ size: 1 });
    const app = Test.app(Health.routes([some.check()]));
    const ready = async (): Promise<number> => (await Test.call(app, "GET", "/readyz")).status;
    expect(await ready()).toBe(200);
    const held = gate();
    const holder = some.use(() => held.passed);
    expect(await ready()).toBe(200);
    held.open();
    await holder;
    await server.stop();
    expect(await ready()).toBe(503);
    expect(messages("warn").join()).toContain("not ready: postgres: ");
    await server.start();
    await eventually(ready).toBe(200);
    await some.close();
    expect(await ready()).toBe(503);
  });
});

describe("a statement that is prepared", () => {
  it("is prepared anew where its table has changed, and read by its new columns", async () => {
    const some = await pool({ size: 1 });
    await watch`create table changing (a int, b int)`;
    await watch`insert into changing values (1, 2)`;
    const all = Statement.find("select * from changing", { row: { b: Type.int } });
    expect(await some.exec(all)).toEqual({ b: 2 });
    await watch`alter table changing drop column a`;
    expect(await some.exec(all)).toEqual({ b: 2 });
    await watch`alter table changing alter b type bigint`;
    expect(await failure(some.transaction((db) => db.exec(all)))).toMatchObject({ kind: "db" });
    expect(await failure(some.exec(all))).toMatchObject({ detail: expect.stringContaining("a type that is no int") });
  });
});

describe("a failure that nobody handles", () => {
  const failures: readonly (readonly [DatabaseFailure, number, string])[] = [
    [{ kind: "pool_busy", waitedMs: 1 }, 503, "warn"],
    [{ kind: "pool_closed" }, 503, "warn"],
    [{ kind: "unsent", detail: "because" }, 503, "warn"],
    [{ kind: "not_serializable", detail: "because" }, 503, "warn"],
    [{ kind: "connection_closed" }, 500, "error"],
    [{ kind: "lost", detail: "because" }, 500, "error"],
    [{ kind: "conflict", constraint: "item_pkey" }, 500, "error"],
    [{ kind: "not_committed", detail: "because" }, 500, "error"],
    [{ kind: "db", code: "42P01", detail: "because" }, 500, "error"],
  ];
  it.each(failures)(
    "$kind is answered and logged as the contract has it (DB-04, DB-06)",
    async (failure, status, level) => {
      const error = new DatabaseError(failure);
      const answered = await Test.call(Test.app([route(() => Promise.reject(error))]), "GET", "/work");
      const name = status === 503 ? "busy" : "internal";
      expect([answered.status, answered.headers.get("retry-after")]).toEqual([status, status === 503 ? "1" : null]);
      expect(answered.body).toContain(`"error":"${name}"`);
      expect(answered.body).not.toContain("because");
      const told = lines().filter(({ message }) => String(message).includes(error.message));
      expect(told).toMatchObject([{ level, "framework.refusal.code": name }]);
    },
  );
});

describe("an error's text", () => {
  const secret = "secret-word";
  const leaks = [
    ["a bad number", "select $1::text::int"],
    ["a key", "insert into item select $1, 1 from generate_series(1, 2)"],
    ["a name", "select $1::regclass"],
    ["a search", "select to_tsquery('english', $1 || ' & & |')"],
    ["a path", "select '{}'::jsonb @? $1::jsonpath"],
    ["a piece of it", "select split_part($1, '-', 1)::regclass"],
    ["a raise", "select set_config('my.word', $1, false)::int"],
  ] as const;
  it.each(leaks)("holds no value: %s (DB-24)", async (_, sql) => {
    const some = await pool();
    const statement = Statement.exec(sql, { params: [Type.text] });
    const thrown = await some.exec(statement, secret).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(thrown).toBeInstanceOf(DatabaseError);
    const { message, stack, failure, refusal, cause } = thrown as DatabaseError;
    const told = JSON.stringify([message, stack, failure, refusal, cause, Object.entries(thrown as object)]);
    expect(told).not.toContain("secret");
  });
});
