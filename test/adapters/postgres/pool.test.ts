import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Refusal, Test, refuse } from "usher-http";
import { Statement } from "usher-http/postgres";
import type { Database } from "usher-http/postgres";
import { lines, messages } from "../../support/logs.ts";
import { gate } from "../../support/node-server.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { eventually, pools } from "./pools.ts";
import {
  next,
  pid,
  txid,
  sleep,
  add,
  countItems,
  setting,
  failure,
  route,
  holdTheClock,
  everywhere,
} from "./pool-statements.ts";

const server = await startPostgres();
const watch = observer(server);
const pool = pools(server);
await watch`create table item (name text primary key, left_over int not null)`;

describe("waiting for a connection", () => {
  it("waits for its time, is busy, and is served when a connection is free (DB-01)", async () => {
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

  it("may have a time limit of its own", async () => {
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

  it("with a shorter time limit does not wait as long as others", async () => {
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
  ])("may be limited to %d ms, more than a timer can count", async (waitMs, timers) => {
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

describe("the queue for a connection", () => {
  it("that is slow is logged, once a second, with the request that waited", async () => {
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

  it("is served in order", async () => {
    const some = await pool({ size: 1 });
    const order: number[] = [];
    const ask = (who: number): Promise<unknown> => some.use(async () => order.push(who));
    await Promise.all([1, 2, 3, 4, 5].map(ask));
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });

  it("has nothing of a caller that stopped waiting", async () => {
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

describe("callers of a connection", () => {
  it("in another borrow that has to wait cause a warning", async () => {
    const some = await pool({ size: 1, waitMs: 10 });
    const app = Test.app([route(() => some.use(() => failure(some.exec(next, 1))).then(() => 1))]);
    expect((await Test.call(app, "GET", "/work")).status).toBe(200);
    expect(messages("warn").join()).toContain("holds a connection");
  });

  it("that disconnect have their statement cancelled, and the next one gets the connection (DB-19)", async () => {
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

  it("that disconnect before the commit are rolled back, which is no failure of the server", async () => {
    const some = await pool({ size: 1 });
    const leaving = new AbortController();
    const work = async (db: Database): Promise<void> => {
      await db.exec(add, "of one who went away");
      leaving.abort();
    };
    const thrown = await some.transaction(work, { signal: leaving.signal }).catch((thrown: unknown) => thrown);
    expect(thrown).toMatchObject({ failure: { kind: "not_committed" }, refusal: { code: { name: "busy" } } });
    expect(await some.exec(countItems, "of one who went away")).toEqual({ items: 0n });
  });

  it("cannot use it after its end", async () => {
    const some = await pool();
    const kept = await some.use(async (db) => ({ db }));
    expect(await failure(kept.db.exec(next, 1))).toEqual({ kind: "connection_closed", ended: "use" });
    const left = await some.transaction(async (db) => ({ db }));
    expect(await failure(left.db.exec(next, 1))).toEqual({ kind: "connection_closed", ended: "transaction" });
    await expect(left.db.exec(next, 1)).rejects.toThrow("the transaction has ended, and nothing was sent");
  });
});

describe("use", () => {
  it("runs its statements one after another on one connection", async () => {
    const some = await pool();
    const pids = await some.use((db) => Promise.all([db.exec(pid), db.exec(pid), db.exec(pid)]));
    expect(new Set(pids.map(({ pid }) => pid)).size).toBe(1);
  });

  it("leaves nothing of its session to the next caller", async () => {
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

  it("keeps its session settings with the option, but no transaction", async () => {
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

describe("settings that a statement and a transaction make in their session", () => {
  const set = Statement.exec("set extra_float_digits to 2");
  it.each([
    ["use", "2", "1"],
    ["never", "2", "2"],
    ["always", "1", "1"],
  ] as const)("with reset %s is %s and %s afterwards", async (reset, afterOne, afterTransaction) => {
    for (const [way, after] of [
      ["exec", afterOne],
      ["transaction", afterTransaction],
    ] as const) {
      const some = await pool({ size: 1, reset });
      await (way === "exec" ? some.exec(set) : some.transaction((db) => db.exec(set)));
      expect([way, await everywhere(some, "extra_float_digits")]).toEqual([way, new Set([after])]);
    }
  });
});

describe("transaction: outcomes", () => {
  it("commits once, and later statements run after it (DB-09)", async () => {
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

  it("that throws rolls back, and throws the same error", async () => {
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
  it.each([...controls, ...behind])("cannot begin or end inside: %s", async (sql) => {
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
  ])("runs a statement that only contains such a word: %s", async (sql, code) => {
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
    "is %s with the option",
    async (isolation) => {
      const some = await pool();
      const level = await some.transaction((db) => db.exec(setting, "transaction_isolation"), { isolation });
      expect(level).toEqual({ value: isolation });
    },
  );

  it("commits nothing of a refused work in which a statement failed, and logs that", async () => {
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
