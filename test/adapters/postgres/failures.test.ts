/** Every row of the table of failures (contract 7.5), made for real; after each the pool is whole again. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { refuse, Refusal } from "usher-http";
import { DatabaseError, Pool, Statement, Type } from "usher-http/postgres";
import type { Database, PoolOptions } from "usher-http/postgres";
import { gate } from "../../support/node-server.ts";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { CuttingProxy } from "./cutting-proxy.ts";
import { eventually, pools } from "./pools.ts";

const server = await startPostgres();
const watch = observer(server);
const pool = pools(server);
await watch.unsafe(`
  create table stock (item text primary key, left_over int not null check (left_over >= 0));
  create table place (id int, constraint place_id unique (id) deferrable initially deferred);
  create table slow (id int);
  create function sleep_at_commit() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return null; end $$;
  create constraint trigger slow_commit after insert on slow deferrable initially deferred
    for each row execute function sleep_at_commit();
  create table shelf (item text references stock, span int4range, exclude using gist (span with &&));
`);

const one = Statement.find("select 1 as one", { row: { one: Type.int } });
const pid = Statement.find("select pg_backend_pid() as pid", { row: { pid: Type.int } });
const endSelf = Statement.exec("select pg_terminate_backend(pg_backend_pid())");
const sleep = Statement.exec("select pg_sleep($1)", { params: [Type.float] });
const addPlace = Statement.exec("insert into place values ($1)", { params: [Type.int] });
const countPlaces = Statement.find("select count(*) as places from place where id = $1", {
  params: [Type.int],
  row: { places: Type.int64 },
});

/** Waits until a backend waits for something of a kind, as the server says. */
async function waits(condition: string): Promise<number> {
  let found = 0;
  await eventually(async () => {
    const rows = await watch.unsafe(`select pid from pg_stat_activity where ${condition}`);
    found = (rows[0]?.["pid"] as number | undefined) ?? 0;
    return found > 0;
  }).toBe(true);
  return found;
}

async function failure(promise: Promise<unknown>): Promise<unknown> {
  const thrown = await promise.then(
    () => "nothing was thrown",
    (error: unknown) => error,
  );
  return thrown instanceof DatabaseError ? thrown.failure : thrown;
}

/** Every place of the pool has a connection that answers, and the server knows of no other. */
async function expectWhole(pool: Pool): Promise<void> {
  const { size } = pool.stats();
  const all = Array.from({ length: size }, () => pool.use((db) => db.exec(one)));
  expect(await Promise.all(all)).toHaveLength(size);
  await eventually(sessions).toBe(size);
  expect(pool.stats()).toMatchObject({ idle: size, waiting: 0 });
}

async function sessions(): Promise<unknown> {
  const rows = await watch`select count(*)::int as n from pg_stat_activity where application_name = 'usher'`;
  return rows[0]?.["n"];
}

describe("the server: ends connections", () => {
  it("stopped: nothing is done, and the pool finds it again (DB-03)", async () => {
    const some = await pool();
    await server.stop();
    expect(await failure(some.exec(one))).toMatchObject({ kind: "unsent" });
    expect(await failure(some.transaction((db) => db.exec(one)))).toMatchObject({ kind: "unsent" });
    expect(await failure(some.use((db) => db.exec(one)))).toMatchObject({ kind: "unsent" });
    await server.start();
    await eventually(() => failure(some.exec(one))).toBe("nothing was thrown");
    await expectWhole(some);
  });

  it("ends an idle connection: nobody notices, and it is replaced", async () => {
    const some = await pool();
    await watch`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'usher'`;
    await eventually(() => some.stats().replaced).toBe(2);
    expect(await some.exec(one)).toEqual({ one: 1 });
    await expectWhole(some);
  });

  it.each(["first", "second"])(
    "ends a connection under a statement's %s run: what was done is not known (DB-06)",
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

  it("ends a connection in a transaction: the next statement is not sent, and nothing is kept", async () => {
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

  it("ends a connection at its commit: what was done is not known", async () => {
    const some = await pool();
    const done = failure(some.transaction((db) => db.exec(Statement.exec("insert into slow values (1)"))));
    const at = await waits("wait_event = 'PgSleep' and query = 'commit'");
    await watch`select pg_terminate_backend(${at})`;
    expect(await done).toMatchObject({ kind: "lost" });
    await expectWhole(some);
  });

  it("crashes: what ran is lost, and the pool finds it again", async () => {
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

describe("the server: crashes and bounds", () => {
  it("bounds a statement, whose connection is kept", async () => {
    const some = await pool({ size: 1, statementTimeoutMs: 50 });
    const { pid: before } = await some.exec(pid);
    expect(await failure(some.exec(sleep, 60))).toMatchObject({ kind: "db", code: "57014" });
    expect(await some.exec(pid)).toEqual({ pid: before });
    await expectWhole(some);
  });

  it("bounds a transaction that stands idle", async () => {
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

const bounds = { size: 1, statementTimeoutMs: 1000 };
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

describe("the server out of reach without a word: its bounds", () => {
  let places = 100;

  it("is given up five seconds past the statement's bound", async () => {
    const { proxy, some } = await behind(bounds);
    const hushed = proxy.hush();
    const lost = failure(some.exec(one));
    await hushed;
    proxy.speak();
    vi.advanceTimersByTime(6000);
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
      vi.advanceTimersByTime(7000);
    });
    throw bug;
  };
  it.each([
    ["a rollback", (some: Pool, work: (db: Database) => Promise<never>) => some.transaction(work)],
    ["a session's renewal", (some: Pool, work: (db: Database) => Promise<never>) => some.use(work)],
  ])("is given up at %s, whatever bound its borrower set", async (_, borrow) => {
    const { proxy, some } = await behind(bounds);
    expect(await failure(borrow(some, (db) => fails(db, proxy, "set statement_timeout = '1min'")))).toBe(bug);
    expect(await some.exec(one)).toEqual({ one: 1 });
    expect(some.stats()).toMatchObject({ idle: 1, replaced: 1 });
    await some.close();
  });

  it.each([
    ["lifted", bounds, "set local statement_timeout = 0"],
    ["moved", bounds, "set local statement_timeout = '1h'"],
    ["of a pool that has none", { ...bounds, statementTimeoutMs: 0 }, "select 1"],
  ])("is given up a minute into a commit, whose bound is %s", async (_, options, sql) => {
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

describe("the server out of reach without a word: its borrowers", () => {
  it("is given up a minute into a rollback, where the pool has no bound", async () => {
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

  it("is waited for where its borrower set a bound of its own", async () => {
    const { some } = await behind(bounds);
    const waited = await some.transaction(async (db) => {
      await db.exec(Statement.exec("set local statement_timeout = '1min'"));
      const slept = db.exec(sleep, 0.05);
      vi.advanceTimersByTime(30_000);
      await slept;
      return "slept";
    });
    expect(waited).toBe("slept");
    await some.close();
  });
});

describe("a constraint", () => {
  const violations = [
    ["unique", "insert into stock values ('pen', 1), ('pen', 2)", "stock_pkey"],
    ["foreign key", "insert into shelf (item) values ('no such item')", "shelf_item_fkey"],
    ["exclusion", "insert into shelf (span) values ('[1,3)'), ('[2,4)')", "shelf_span_excl"],
  ] as const;
  it.each(violations)("%s is a conflict that names it", async (_, sql, constraint) => {
    const some = await pool();
    const thrown = await some.exec(Statement.exec(sql)).catch((error: unknown) => error);
    expect(DatabaseError.conflict(thrown)).toBe(constraint);
    expect(DatabaseError.conflict(thrown, constraint)).toBe(true);
    expect(DatabaseError.conflict(thrown, "another")).toBe(false);
    await expectWhole(some);
  });

  it("deferred is a conflict at the commit", async () => {
    const some = await pool();
    const done = some.transaction(async (db) => {
      await db.exec(addPlace, 4);
      await db.exec(addPlace, 4);
    });
    expect(await failure(done)).toEqual({ kind: "conflict", constraint: "place_id" });
    expect(await some.exec(countPlaces, 4)).toEqual({ places: 0n });
    await expectWhole(some);
  });

  const mistakes = [
    ["not null", "insert into stock values ('pen', null)", "23502"],
    ["check", "insert into stock values ('pen', -1)", "23514"],
    ["no such table", "select * from nowhere", "42P01"],
    ["no SQL", "selekt 1", "42601"],
    ["division by zero", "select 1/0", "22012"],
    ["to copy in", "copy stock from stdin", "0A000"],
    ["to copy out", "copy stock to stdout", "0A000"],
    ["two statements", "select 1; select 2", "42601"],
  ] as const;
  it.each(mistakes)("%s is the program's mistake", async (_, sql, code) => {
    const some = await pool();
    expect(await failure(some.exec(Statement.exec(sql)))).toMatchObject({ kind: "db", code });
    await expectWhole(some);
  });
});

describe("a statement that cannot be sent", () => {
  const sumOf = (n: number): Statement<readonly number[], { readonly sum: bigint }> =>
    Statement.find(
      `select sum(n) as sum from unnest(array[${Array.from({ length: n }, (_, at) => `$${at + 1}::int`)}]) n`,
      {
        params: Array.from({ length: n }, () => Type.int),
        row: { sum: Type.int64 },
      },
    );
  const most = 65_533;

  it("as it has more parameters than are counted is the program's mistake, and its connection is kept", async () => {
    const some = await pool({ size: 1 });
    const values = Array.from({ length: most + 1 }, () => 1);
    const thrown = {
      kind: "db",
      code: undefined,
      detail: expect.stringMatching(/^65534 parameters where 65533 are the most, for select sum\(n\) as sum /),
    };
    expect(await failure(some.exec(sumOf(most + 1), ...values))).toEqual(thrown);
    const done = some.transaction(async (db) => {
      expect(await failure(db.exec(sumOf(most + 1), ...values))).toEqual(thrown);
      return db.exec(sumOf(most), ...values.slice(1));
    });
    expect(await done).toEqual({ sum: BigInt(most) });
    expect(some.stats()).toMatchObject({ replaced: 0 });
    await expectWhole(some);
  });

  it("as its text cannot be written is the program's mistake, and the pool is whole", async () => {
    const some = await pool({ size: 1 });
    // What of a program without types, or a text of half a gigabyte, the driver throws for before anything is sent.
    const text = Object.assign(Object("select 1") as object, {
      [Symbol.toPrimitive](hint: string) {
        if (hint === "default") throw new RangeError("Invalid string length");
        return "select 1";
      },
    });
    const statement = { ...Statement.exec("select 1"), sql: text as unknown as string };
    expect(await failure(some.exec(statement))).toEqual({
      kind: "db",
      code: undefined,
      detail: expect.stringContaining("the driver could not write it: RangeError, for "),
    });
    await expectWhole(some);
  });

  it("as its text holds NUL is the program's mistake, and its connection is kept", async () => {
    const some = await pool({ size: 1 });
    expect(await failure(some.exec(Statement.exec("select 1\0; select 2")))).toMatchObject({ kind: "db" });
    expect(some.stats()).toMatchObject({ replaced: 0 });
    await expectWhole(some);
  });
});

const read = Statement.find("select left_over from stock where item = $1", {
  params: [Type.text],
  row: { left_over: Type.int },
});
const set = Statement.exec("update stock set left_over = $2 where item = $1", { params: [Type.text, Type.int] });

describe("concurrent transactions: deadlocks", () => {
  it("that deadlock: one of them is told", async () => {
    const some = await pool();
    await watch`delete from stock`;
    await watch`insert into stock values ('a', 1), ('b', 1)`;
    const [first, second] = [gate(), gate()];
    const both = [
      some.transaction(async (db) => {
        await db.exec(set, "a", 2);
        first.open();
        await second.passed;
        await db.exec(set, "b", 2);
      }),
      some.transaction(async (db) => {
        await db.exec(set, "b", 3);
        second.open();
        await first.passed;
        await db.exec(set, "a", 3);
      }),
    ];
    const told = await Promise.all(both.map(failure));
    expect(told.filter((one) => one === "nothing was thrown")).toHaveLength(1);
    expect(told.filter((one) => one !== "nothing was thrown")).toMatchObject([{ kind: "not_serializable" }]);
    await expectWhole(some);
  });
});

describe("concurrent transactions: conflicts", () => {
  /** Two transactions that read a number and add one to it, the first time at the same time. */
  async function addTwice(some: Pool, retries: number): Promise<{ told: unknown[]; runs: number; pids: number[][] }> {
    await watch`delete from stock`;
    await watch`insert into stock values ('pen', 0)`;
    let runs = 0;
    const bothRead = gate();
    const pids: number[][] = [[], []];
    const add = (who: number): Promise<unknown> =>
      some.transaction(
        async (db) => {
          pids[who]?.push((await db.exec(pid)).pid);
          const { left_over } = await db.exec(read, "pen");
          if (++runs === 2) bothRead.open();
          await bothRead.passed;
          await db.exec(set, "pen", left_over + 1);
        },
        { isolation: "serializable", retries },
      );
    const told = await Promise.all([failure(add(0)), failure(add(1))]);
    return { told, runs, pids };
  }

  it("are not run again unless it is asked for: 503 (DB-04)", async () => {
    const some = await pool();
    const { told, runs } = await addTwice(some, 0);
    expect(runs).toBe(2);
    expect(told).toContainEqual(expect.objectContaining({ kind: "not_serializable" }));
    await expectWhole(some);
  });

  it("run again see what the other wrote (DB-07), on the connection they borrowed (DB-27)", async () => {
    const some = await pool();
    const { told, runs, pids } = await addTwice(some, 1);
    expect(told).toEqual(["nothing was thrown", "nothing was thrown"]);
    expect(runs).toBe(3);
    expect(await some.exec(read, "pen")).toEqual({ left_over: 2 });
    for (const seen of pids) expect(new Set(seen).size).toBe(1);
    await expectWhole(some);
  });

  it("past their retries are told as they were", async () => {
    const some = await pool();
    let runs = 0;
    const fail = Statement.exec("do $$ begin raise exception 'again' using errcode = '40001'; end $$");
    const done = some.transaction(
      (db) => {
        runs++;
        return db.exec(fail);
      },
      { retries: 2 },
    );
    expect(await failure(done)).toMatchObject({ kind: "not_serializable" });
    expect(runs).toBe(3);
    await expectWhole(some);
  });
});

it("a work that answers after one of its statements failed is not committed", async () => {
  const some = await pool();
  const done = some.transaction(async (db) => {
    await db.exec(addPlace, 5);
    await failure(db.exec(Statement.exec("select 1/0")));
    return "fine";
  });
  expect(await failure(done)).toMatchObject({ kind: "not_committed" });
  await expectWhole(some);
});

it("a statement that nobody waits for ends before the commit, and stops it where it fails", async () => {
  const some = await pool();
  const add = Statement.exec("insert into place select 6 from pg_sleep(0.05)");
  await some.transaction(async (db) => {
    void db.exec(add);
  });
  expect(await some.exec(countPlaces, 6)).toEqual({ places: 1n });
  const done = some.transaction(async (db) => {
    void db.exec(Statement.exec("select 1/0"));
  });
  expect(await failure(done)).toMatchObject({ kind: "not_committed" });
  await expectWhole(some);
});

it("a refusal keeps nothing, unless it is one to keep for", async () => {
  const some = await pool();
  const soldOut = refuse(Refusal.code("sold_out", { status: 409, doc: "There is none." }));
  for (const [id, keep, places] of [
    [7, undefined, 0n],
    [8, () => true, 1n],
    [9, () => false, 0n],
  ] as const) {
    const done = some.transaction(
      async (db) => {
        await db.exec(addPlace, id);
        return soldOut;
      },
      keep === undefined ? {} : { keep },
    );
    expect(await done).toBe(soldOut);
    expect(await some.exec(countPlaces, id)).toEqual({ places });
  }
  await expectWhole(some);
});
