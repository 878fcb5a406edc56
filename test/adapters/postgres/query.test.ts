/** `query(text, values)`: values by their JavaScript types, rows by the types of their columns. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Deadline, Dep, Meta, Path, Returns, Test, get } from "usher-http";
import { DatabaseError, Pool, Type } from "usher-http/postgres";
import type { Queryable } from "usher-http/postgres";
import type { PostgresServer } from "../../../examples/orders/postgres-server.ts";
import { movesOf } from "../../support/list-moves.ts";
import { startServer } from "../../support/postgres/database.ts";
import { eventually } from "./pools.ts";
import { columns, kinds, lists, refused, refusedByServer } from "./query-tables.ts";
import { messages } from "../../support/logs.ts";
import { rounds } from "../../support/wide.ts";

let server: PostgresServer;
let pool: Pool;

beforeAll(async () => {
  server = await startServer();
  pool = await Pool.create(server.url(), { size: 2, parameters: { TimeZone: "Asia/Kathmandu" } });
  await pool.query("create table person (id int8 primary key, name text not null constraint person_name unique)");
  await pool.query("create type mood as enum ('fine', 'bad')");
  await pool.query("create domain short as int4 check (value < 100)");
});
afterAll(async () => {
  await pool.close();
  await server.stop();
});

/** The three that have `query`: each way, and what it gives. */
const ways: readonly (readonly [string, <A>(work: (db: Queryable) => Promise<A>) => Promise<A>])[] = [
  ["a pool", (work) => work(pool)],
  ["a borrowed connection", (work) => pool.use(work)],
  ["a transaction", (work) => pool.transaction(work)],
];

/** The failure of a promise that rejects by the database. */
async function failureOf(failing: Promise<unknown>): Promise<DatabaseError> {
  const thrown = await failing.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(thrown).toBeInstanceOf(DatabaseError);
  return thrown as DatabaseError;
}

/** What a value comes back as, where the parameter has a type. */
async function back(type: string, value: unknown): Promise<unknown> {
  const { rows } = await pool.query(`select $1::${type} as it`, [value]);
  return rows[0]?.["it"];
}

describe.each(ways)("query on %s", (_way, using) => {
  it("gives rows, count, columns and the command", async () => {
    await using(async (db) => {
      const found = await db.query<{ a: number; b: string }>("select $1::int4 as a, $2::text as b", [7, "x"]);
      expect(found).toEqual({
        rows: [{ a: 7, b: "x" }],
        count: 1,
        columns: [
          { name: "a", type: 23 },
          { name: "b", type: 25 },
        ],
        command: "SELECT",
      });
      expect(await db.query("create table if not exists made (a int4)")).toEqual({
        rows: [],
        count: 0,
        columns: [],
        command: "CREATE TABLE",
      });
    });
  });

  it("gives the same on a statement's first run and its later ones", async () => {
    await using(async (db) => {
      const first = await db.query("select 9007199254740993::int8 as big, null::int4 as none");
      expect(first.rows).toEqual([{ big: 9007199254740993n, none: null }]);
      for (let again = 0; again < 3; again++)
        expect(await db.query("select 9007199254740993::int8 as big, null::int4 as none")).toEqual(first);
    });
  });

  it("counts what was changed", async () => {
    await using(async (db) => {
      expect(await db.query("insert into person values ($1, $2), ($3, $4)", [1n, "a", 2, "b"])).toMatchObject({
        count: 2,
        command: "INSERT",
      });
      expect(await db.query("update person set name = name || '!' returning id")).toMatchObject({
        rows: [{ id: 1n }, { id: 2n }],
        count: 2,
      });
      expect(await db.query("delete from person")).toMatchObject({ rows: [], count: 2, command: "DELETE" });
    });
  });

  it("names a violated constraint, and no value", async () => {
    const failing = using(async (db) => {
      try {
        await db.query("insert into person values (1, $1), (2, $1)", ["s3cret-name"]);
      } catch (error) {
        expect(DatabaseError.conflict(error, "person_name")).toBe(true);
        throw error;
      }
    });
    expect((await failureOf(failing)).message).not.toContain("s3cret");
  });

  it.each(refused)("refuses %s before it is sent", async (_what, text, values, why) => {
    await using(async (db) => {
      const { failure, message } = await failureOf(db.query(text, values));
      expect(failure).toMatchObject({ kind: "db", code: undefined });
      expect(message).toContain(why);
      expect(message).not.toContain("s3cret");
      // A transaction continues: the server has seen nothing of it.
      expect((await db.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    });
  });

  it("runs a text with semicolons that end no statement", async () => {
    await using(async (db) => {
      const rows = async (text: string, values: readonly unknown[] = []) => (await db.query(text, values)).rows;
      expect(await rows("select ';' as a /* ; /* ; */ ; */ -- ; $2\n;; ; -- end")).toEqual([{ a: ";" }]);
      expect(await rows(`select $1::int4 as "a;$9", $q$;$3$q$ as b, $$;$4$$ as c, E'\\';$5' as d`, [1])).toEqual([
        { "a;$9": 1, b: ";$3", c: ";$4", d: "';$5" },
      ]);
      expect(await rows("select 'it''s; $2' as a, x$1 as b from (values (2)) as t (x$1)")).toEqual([
        { a: "it's; $2", b: 2 },
      ]);
    });
  });

  it("refuses what begins or ends a transaction on what has one of its own", async () => {
    const failing = using(async (db) => {
      if (db === pool || _way === "a transaction") await db.query(" /* x */ commit");
      else throw new DatabaseError({ kind: "not_committed", detail: "it is allowed there" });
    });
    expect((await failureOf(failing)).failure.kind).toBe("not_committed");
  });
});

describe("where only the server knows", () => {
  it.each(refusedByServer)("the error for %s is clear", async (_what, text, values, code) => {
    const { failure, message } = await failureOf(pool.query(text, values));
    expect(failure.kind).toBe("db");
    expect(String((failure as { readonly code?: string }).code)).toMatch(code);
    expect(message).not.toContain("s3cret");
  });
});

const runs = { numRuns: rounds(100) };
describe("a value comes back as it was sent", () => {
  it.each(kinds)("%s", async (type, values) => {
    await fc.assert(
      fc.asyncProperty(fc.option(values), async (value) => {
        expect(await back(type, value)).toEqual(value);
      }),
      runs,
    );
  });
  it.each(kinds)("%s[]", async (type, values) => {
    await fc.assert(
      fc.asyncProperty(lists(values), async (value) => {
        expect(await back(`${type}[]`, value)).toEqual(value);
      }),
      runs,
    );
  });
});

describe("a column is read by its type", () => {
  it.each(columns)("%s", async (expression, value) => {
    expect((await pool.query(`select ${expression} as it`)).rows).toEqual([{ it: value }]);
  });

  it("by another type that `types` names, its arrays too", async () => {
    const types = { int8: Type.text, timestamptz: Type.text, "1082": Type.text, jsonb: Type.text };
    const text =
      "select 1::int8 as a, array[1::int8, null] as b, timestamptz 'infinity' as c, date '0044-03-15 BC' as d, '[1]'::jsonb as e";
    expect((await pool.query(text, [], { types })).rows).toEqual([
      { a: "1", b: ["1", null], c: "infinity", d: "0044-03-15 BC", e: "[1]" },
    ]);
  });

  it("or says which column its type cannot read", async () => {
    const { message } = await failureOf(pool.query("select timestamptz 'infinity' as till"));
    expect(message).toContain("column till has a value that its type cannot read: give another by types");
  });

  it("refuses two columns of one name, which lists have", async () => {
    const { message } = await failureOf(pool.query("select 1 as a, 2 as a"));
    expect(message).toContain("there are several columns a");
    expect((await pool.query("select 1 as a, 2::int8 as a", [], { rows: "lists" })).rows).toEqual([[1, 2n]]);
    expect((await failureOf(pool.query('select 1 as "__proto__"'))).message).toContain("__proto__");
  });
});

describe("a request's end", () => {
  it("cancels its query: by the deadline", async () => {
    const store = Dep.ofResource<Pool>("pool");
    const route = get(
      Path.of("x"),
      { inputs: { db: store }, returns: Returns.text, meta: Meta.empty.add(Meta.deadline, Deadline.make(50)) },
      async ({ db }) => String((await db.query("select pg_sleep($1) /* s3cret */", [600])).count),
    );
    const app = Test.app([route], { resources: [Dep.resource(store, pool)] });
    expect((await Test.call(app, "GET", "/x")).json()).toMatchObject({ error: "timed_out" });
    await eventually(() => running("s3cret")).toBe(0);
    expect(messages("error").join()).not.toContain("600");
  });

  it("by a signal, while it runs and before", async () => {
    const controller = new AbortController();
    const query = pool.query("select pg_sleep(600) /* leaves */", [], { signal: controller.signal });
    await eventually(() => running("leaves")).toBe(1);
    controller.abort();
    expect((await failureOf(query)).failure).toMatchObject({ kind: "db", code: "57014" });
    await eventually(() => running("leaves")).toBe(0);
    expect((await failureOf(pool.query("select 1", [], { signal: controller.signal }))).failure.kind).toBe("unsent");
  });
});

/** How many statements with this text run. */
async function running(text: string): Promise<number> {
  const asked = "select from pg_stat_activity where state = 'active' and query like $1 and pid <> pg_backend_pid()";
  return (await pool.query(asked, [`%${text}%`])).count;
}

it("runs many queries at a time on few connections, each with its own result", async () => {
  const found = await Promise.all(
    Array.from({ length: 300 }, (_, at) => pool.query<{ a: number }>("select $1::int4 as a", [at])),
  );
  expect(found.map(({ rows }) => rows[0]?.a)).toEqual(Array.from({ length: 300 }, (_, at) => at));
});

it("runs as many at a time in one transaction, and moves no long list for each", async () => {
  const count = 3000;
  const { moved } = await movesOf(async () => {
    const found = await pool.transaction((tx) =>
      Promise.all(Array.from({ length: count }, (_, at) => tx.query<{ a: number }>("select $1::int4 as a", [at]))),
    );
    expect(found.map(({ rows }) => rows[0]?.a)).toEqual(Array.from({ length: count }, (_, at) => at));
  });
  // A list of those that wait would move half of them for each.
  expect(moved).toBeLessThan((count * count) / 10);
});

it.each([
  ["a text that is none", () => pool.query(1 as never)],
  ["values that are no list", () => pool.query("select 1", "a" as never)],
  ["another option", () => pool.query("select 1", [], { row: "lists" } as never)],
  ["another way of rows", () => pool.query("select 1", [], { rows: "array" } as never)],
  ["a type of no name", () => pool.query("select 1", [], { types: { bigint: Type.text } })],
  ["a type that is none", () => pool.query("select 1", [], { types: { int8: String as never } })],
  ["a signal that is none", () => pool.query("select 1", [], { signal: 1 as never })],
])("says what is wrong with %s", async (_what, ask) => {
  await expect(ask()).rejects.toThrow(/^Pool\.query: /);
});
