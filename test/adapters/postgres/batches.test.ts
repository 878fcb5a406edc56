/** `batches(text, values)`: a result that does not fit in memory, by a cursor that is closed on every path. */
import fc from "fast-check";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { Deadline, Dep, Meta, Path, Returns, Test, get } from "usher-http";
import { DatabaseError } from "usher-http/postgres";
import type { Pool, Queryable } from "usher-http/postgres";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { gate } from "../../support/gate.ts";
import { rounds } from "../../support/wide.ts";
import { eventually, pools } from "./pools.ts";

const server = await startPostgres();
const open = pools(server);
const watch = observer(server);
let pool: Pool;

beforeAll(async () => {
  await watch`create table number as select n::int8 from generate_series(1, 2500) as n`;
  await watch`create table written (n int)`;
});
const numbers = "select n from number where n > $1 order by n";

/** A pool of one connection: what is not returned is missed at once. */
async function one(): Promise<Pool> {
  pool = await open({ size: 1, maxResultBytes: 100_000, waitMs: 20_000 });
  return pool;
}

/** No cursor is left, no transaction is open, and the connection is free. */
async function isClean(): Promise<void> {
  await eventually(async () => pool.stats().idle).toBe(1);
  expect((await pool.query("select name from pg_cursors where name like 'usher%'")).rows).toEqual([]);
  expect(await states()).not.toContain("idle in transaction");
}
afterEach(isClean);

async function states(): Promise<readonly string[]> {
  const found = await watch`select state from pg_stat_activity where application_name = 'usher'`;
  return found.map(({ state }) => state as string);
}

const ways: readonly (readonly [string, <A>(pool: Pool, work: (db: Queryable) => Promise<A>) => Promise<A>])[] = [
  ["a pool", (pool, work) => work(pool)],
  ["a borrowed connection", (pool, work) => pool.use(work)],
  ["a transaction", (pool, work) => pool.transaction(work)],
];

type Started = AsyncIterableIterator<unknown>;

async function breaks(batches: Started): Promise<void> {
  for await (const rows of batches) {
    expect(rows).toHaveLength(10);
    break;
  }
}

async function throws(batches: Started): Promise<void> {
  const loop = async (): Promise<void> => {
    for await (const rows of batches) throw new Error(`of the loop, ${String(rows).length > 0}`);
  };
  await expect(loop()).rejects.toThrow("of the loop");
}

async function returns(batches: Started): Promise<void> {
  await batches.return?.();
  expect(await batches.next()).toEqual({ done: true, value: undefined });
}

async function callsTwice(batches: Started): Promise<void> {
  const asked = [batches.next(), batches.next(), Promise.resolve(batches.return?.()), batches.next()];
  expect((await Promise.all(asked)).map((step) => step?.done)).toEqual([false, false, true, true]);
}

describe.each(ways)("batches on %s", (way, using) => {
  it("give each row once, in batches of at most their size", async () => {
    await using(await one(), (db) =>
      fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 0, max: 2500 }), async (size, from) => {
          const lengths: number[] = [];
          const seen: bigint[] = [];
          for await (const rows of db.batches<{ n: bigint }>(numbers, [2500 - from], { size })) {
            lengths.push(rows.length);
            for (const { n } of rows) seen.push(n);
          }
          expect(seen).toEqual(Array.from({ length: from }, (_, at) => BigInt(2500 - from + at + 1)));
          expect(lengths.slice(0, -1).every((length) => length === size)).toBe(true);
          expect(lengths.at(-1) ?? 1).toBeGreaterThan(0);
        }),
        {
          numRuns: rounds(20),
          examples: [
            [1, 5],
            [500, 2500],
            [1000, 0],
          ],
        },
      ),
    );
  });

  it("read a result that is larger than any one may be", async () => {
    await using(await one(), async (db) => {
      const wide = "select n, repeat('x', 1000) as x from generate_series(1, $1) as n";
      let bytes = 0;
      for await (const rows of db.batches<{ x: string }>(wide, [3000], { size: 50 }))
        for (const { x } of rows) bytes += x.length;
      expect(bytes).toBe(3_000_000);
    });
  });

  it("read lists", async () => {
    await using(await one(), async (db) => {
      for await (const rows of db.batches("select 1, 2::int8", [], { rows: "lists" })) expect(rows).toEqual([[1, 2n]]);
    });
  });

  it.each([
    ["break", breaks],
    ["throw", throws],
    ["return before the first batch", returns],
    ["several calls at a time", callsTwice],
  ] as const)("end early: %s", async (_how, end) => {
    await using(await one(), async (db) => {
      await end(db.batches(numbers, [0], { size: 10 }));
      expect((await db.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    });
  });

  it("fail as a query does, in the middle too, with no value", async () => {
    const failing = async (text: string, values: readonly unknown[]): Promise<DatabaseError> => {
      const db = await one();
      const thrown = await using(db, async (db) => {
        for await (const _ of db.batches(text, values, { size: 10 })) void 0;
      }).then(() => undefined, (thrown: unknown) => thrown); // prettier-ignore
      expect(thrown).toBeInstanceOf(DatabaseError);
      expect((thrown as DatabaseError).message).not.toContain("s3cret");
      return thrown as DatabaseError;
    };
    expect((await failing("select 1 / (100 - n) from number order by n", [])).failure).toMatchObject({ code: "22012" });
    expect((await failing("select $1::text::int4", ["s3cret"])).failure).toMatchObject({ code: "22P02" });
    expect((await failing("select missing from number where $1 = ''", ["s3cret"])).failure).toMatchObject({
      code: "42703",
    });
    expect((await failing("select $1", [undefined])).message).toContain("value $1 is undefined");
    expect((await failing("select 1; select 2", [])).message).toContain("several statements");
    expect((await failing("insert into written values (1) returning n", [])).message).toContain(
      "batches are of a select",
    );
    const writes = "with w as (insert into written values (1) returning n) select * from w";
    expect((await failing(writes, [])).failure.kind).toBe("db");
  });

  it.runIf(way !== "a pool")("run between other statements and other batches", async () => {
    await using(await one(), async (db) => {
      const seen: unknown[] = [];
      for await (const outer of db.batches<{ n: bigint }>(numbers, [2495], { size: 2 }))
        for await (const inner of db.batches<{ n: bigint }>(numbers, [2498], { size: 1 }))
          seen.push([outer.length, inner[0]?.n, (await db.query("select 1")).count]);
      expect(seen).toEqual([2, 2, 1].flatMap((length) => [[length, 2499n, 1], [length, 2500n, 1]])); // prettier-ignore
    });
  });
});

describe("batches on a pool", () => {
  it("write nothing", async () => {
    const db = await one();
    await watch`create or replace function writes() returns int language sql volatile as 'insert into written values (1) returning n'`;
    const batches = db.batches("select writes()");
    await expect(batches.next()).rejects.toMatchObject({ failure: { kind: "db", code: "25006" } });
    expect(await watch`select * from written`).toEqual([]);
  });

  it("take no connection before the first batch is asked for", async () => {
    const db = await one();
    db.batches(numbers, [0]);
    expect(db.stats().idle).toBe(1);
    expect(() => db.batches(numbers, [0], { size: 0 })).toThrow("Pool.batches: size");
  });

  it("return the connection when the signal aborts, also while the loop does something else", async () => {
    const db = await one();
    const controller = new AbortController();
    const batches = db.batches(numbers, [0], { size: 10, signal: controller.signal });
    expect((await batches.next()).done).toBe(false);
    expect(db.stats().idle).toBe(0);
    controller.abort(new Error("left"));
    await eventually(async () => db.stats().idle).toBe(1);
    await expect(batches.next()).rejects.toMatchObject({ failure: { kind: "db", code: "57014" } });
    expect(await batches.next()).toEqual({ done: true, value: undefined });
  });

  it("cancel the fetch that runs when the signal aborts", async () => {
    const db = await one();
    const controller = new AbortController();
    const batches = db.batches("select pg_sleep(600)", [], { signal: controller.signal });
    const next = batches.next();
    await eventually(states).toContain("active");
    controller.abort();
    await expect(next).rejects.toMatchObject({ failure: { kind: "db", code: "57014" } });
  });

  it("are refused where the signal has aborted", async () => {
    const db = await one();
    const batches = db.batches(numbers, [0], { signal: AbortSignal.abort() });
    await expect(batches.next()).rejects.toMatchObject({ failure: { kind: "unsent" } });
  });

  it("end with the deadline of the request", async () => {
    const db = await one();
    const store = Dep.ofResource<Pool>("pool");
    const waits = gate();
    const route = get(
      Path.of("x"),
      { inputs: { store }, returns: Returns.text, meta: Meta.empty.add(Meta.deadline, Deadline.make(50)) },
      async ({ store }) => {
        for await (const _ of store.batches(numbers, [0], { size: 10 })) await waits.passed;
        return "";
      },
    );
    const answer = await Test.call(Test.app([route], { resources: [Dep.resource(store, db)] }), "GET", "/x");
    expect(answer.json()).toMatchObject({ error: "timed_out" });
    await eventually(async () => db.stats().idle).toBe(1);
    waits.open();
  });

  it("fail as lost where the server ends the session in between, and the pool recovers", async () => {
    const db = await one();
    const batches = db.batches(numbers, [0], { size: 10 });
    await batches.next();
    await watch`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'usher'`;
    await expect(batches.next()).rejects.toBeInstanceOf(DatabaseError);
    expect((await db.query("select 1")).count).toBe(1);
  });
});
