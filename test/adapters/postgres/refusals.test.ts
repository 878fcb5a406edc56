/** What the database refuses, and transactions that conflict (contract 7.5); after each the pool is whole again. */
import { describe, expect, it } from "vitest";
import { refuse, Refusal } from "usher-http";
import { DatabaseError, Statement, Type } from "usher-http/postgres";
import type { Pool } from "usher-http/postgres";
import { gate } from "../../support/node-server.ts";
import { addPlace, countPlaces, failingServer, failure, pid } from "./failing-server.ts";

const { watch, pool, expectWhole } = await failingServer();

describe("a constraint", () => {
  const violations = [
    ["unique", "insert into stock values ('pen', 1), ('pen', 2)", "stock_pkey"],
    ["foreign key", "insert into shelf (item) values ('no such item')", "shelf_item_fkey"],
    ["exclusion", "insert into shelf (span) values ('[1,3)'), ('[2,4)')", "shelf_span_excl"],
  ] as const;
  it.each(violations)("%s is a conflict with the constraint's name", async (_, sql, constraint) => {
    const some = await pool();
    const thrown = await some.exec(Statement.exec(sql)).catch((error: unknown) => error);
    expect(DatabaseError.conflict(thrown)).toBe(constraint);
    expect(DatabaseError.conflict(thrown, constraint)).toBe(true);
    expect(DatabaseError.conflict(thrown, "another")).toBe(false);
    await expectWhole(some);
  });

  it("of a check has a name too, and is a bug of the program unless the program maps it", async () => {
    const some = await pool();
    const thrown = await some
      .exec(Statement.exec("insert into stock values ('pen', -1)"))
      .catch((error: unknown) => error);
    expect(DatabaseError.conflict(thrown)).toBe("stock_left_over_check");
    expect(DatabaseError.conflict(thrown, "stock_left_over_check")).toBe(true);
    expect(DatabaseError.conflict(thrown, "another")).toBe(false);
    expect((thrown as DatabaseError).failure).toMatchObject({ kind: "db", code: "23514" });
    expect((thrown as DatabaseError).refusal.code).toBe(Refusal.internal);
    await expectWhole(some);
  });

  it("that is deferred is a conflict at the commit", async () => {
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
  it.each(mistakes)("%s is a bug of the program", async (_, sql, code) => {
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

  it("with too many parameters is a bug of the program, and its connection is kept", async () => {
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

  it("whose text cannot be encoded is a bug of the program, and its connection is replaced", async () => {
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
    // What the driver has written of it is unknown.
    expect(some.stats()).toMatchObject({ replaced: 1 });
  });

  it("whose text contains NUL is a bug of the program, and its connection is kept", async () => {
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
  it("that deadlock: one of them fails", async () => {
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

  it("are not run again without the option: 503 (DB-04)", async () => {
    const some = await pool();
    const { told, runs } = await addTwice(some, 0);
    expect(runs).toBe(2);
    expect(told).toContainEqual(expect.objectContaining({ kind: "not_serializable" }));
    await expectWhole(some);
  });

  it("see the other's writes when they run again (DB-07), on the same connection (DB-27)", async () => {
    const some = await pool();
    const { told, runs, pids } = await addTwice(some, 1);
    expect(told).toEqual(["nothing was thrown", "nothing was thrown"]);
    expect(runs).toBe(3);
    expect(await some.exec(read, "pen")).toEqual({ left_over: 2 });
    for (const seen of pids) expect(new Set(seen).size).toBe(1);
    await expectWhole(some);
  });

  it("are thrown unchanged after the last retry", async () => {
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

it("a function that returns after one of its statements failed is not committed", async () => {
  const some = await pool();
  const done = some.transaction(async (db) => {
    await db.exec(addPlace, 5);
    await failure(db.exec(Statement.exec("select 1/0")));
    return "fine";
  });
  expect(await failure(done)).toMatchObject({ kind: "not_committed" });
  await expectWhole(some);
});

it("a statement that is not awaited ends before the commit, and prevents it when it fails", async () => {
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

it("a refusal commits nothing, unless `keep` names it", async () => {
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
