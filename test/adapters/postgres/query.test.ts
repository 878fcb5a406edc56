/** `query(text, values)`: values by their JavaScript types, rows by the types of their columns. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Deadline, Dep, Meta, Path, Returns, Test, get } from "usher-http";
import { DatabaseError, Pool, Type } from "usher-http/postgres";
import type { Queryable } from "usher-http/postgres";
import type { PostgresServer } from "../../../examples/orders/postgres-server.ts";
import { startServer } from "../../support/postgres/database.ts";
import { eventually } from "./pools.ts";
import { codePoint } from "../../support/code-point.ts";
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

  it.each([
    ["a second statement", "select 1; select 2", [], "several statements"],
    ["a second statement that writes", "select $1::int4;delete from person", [1], "several statements"],
    ["too few values", "select $1::int4, $2::int4", [1], "1 values where there are 2 parameters"],
    ["too many values", "select 1", [1], "1 values where there are 0 parameters"],
    ["undefined", "select $1::int4", [undefined], "value $1 is undefined"],
    // oxlint-disable-next-line no-sparse-arrays
    ["a hole", "select $1::int4", [,], "value $1 is undefined"],
    ["a function", "select $1::int4", [() => 1], "value $1 is a function"],
    ["a symbol", "select $1::text", [Symbol("s3cret")], "value $1 is a symbol"],
    ["a Map", "select $1::text", [new Map([["s3cret", 1]])], "value $1 is an object of a class"],
    ["an invalid Date", "select $1::timestamptz", [new Date(Number.NaN)], "value $1 is a Date that is invalid"],
    ["a Date after the year 9999", "select $1::timestamptz", [new Date(8.64e15)], "value $1 is a Date"],
    ["NUL in a text", "select $1::text", ["s3cret\0"], "value $1 is a text that PostgreSQL cannot hold"],
    ["half a surrogate pair", "select $1::text", ["s3cret\ud800"], "value $1 is a text"],
    ["a list with undefined", "select $1::int4[]", [[1, undefined]], "value $1 is undefined"],
    ["a list with a function", "select $1::int4[]", [[() => 1]], "value $1 is a function"],
    ["a list that contains itself", "select $1::int4[]", [itself([])], "more than 6 dimensions"],
    ["an object that contains itself", "select $1::jsonb", [itself({})], "cannot be written as JSON"],
    ["a function in an object", "select $1::jsonb", [{ a: () => 1 }], "is an object with a function"],
    ["NaN in an object", "select $1::jsonb", [{ a: [Number.NaN] }], "a number that JSON does not have"],
    ["a bigint in an object", "select $1::jsonb", [{ a: 1n }], "a bigint"],
    ["a Map in an object", "select $1::jsonb", [{ a: new Map() }], "an object of a class"],
    ["undefined in a list of an object", "select $1::jsonb", [{ a: [undefined] }], "a list that has undefined"],
    ["a getter that throws", "select $1::jsonb", [{ get a() { throw new Error("s3cret"); } }], "cannot be written"], // prettier-ignore
  ] as const)("refuses %s before it is sent", async (_what, text, values, why) => {
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

function itself<A extends object>(value: A): A {
  if (Array.isArray(value)) value.push(value);
  else Object.assign(value, { a: value });
  return value;
}

describe("where only the server knows", () => {
  it.each([
    ["a second statement behind a string with a backslash", "select '\\'; select 1", [], "42601"],
    ["NaN for a type that has none", "select $1::int4", [Number.NaN], "22P02"],
    ["a fraction for a type that has none", "select $1::int4", [1.5], "22P02"],
    ["a parameter of no type", "select $1 is null", ["s3cret"], "42P08|42P18"],
    ["too few values", "select '\\', $1::int4, $2::int4", [1], "08P01"],
    ["too many values", "select '\\', $1::int4", [1, 2], "42P18"],
    ["a list with rows of different lengths", "select $1::int4[]", [[[1], [1, 2]]], "22P02"],
  ] as const)("the error for %s is clear", async (_what, text, values, code) => {
    const { failure, message } = await failureOf(pool.query(text, values));
    if (code.includes("|")) expect(message).toMatch(/could not determine data type|^the database/);
    else expect(failure).toMatchObject({ kind: "db", code });
    expect(message).not.toContain("s3cret");
  });
});

const runs = { numRuns: rounds(100) };
const texts = fc.string({ unit: codePoint }).filter((text) => !text.includes("\0"));
const instants = fc.date({
  min: new Date("0001-01-02T00:00:00Z"),
  max: new Date("9999-12-30T23:59:59.999Z"),
  noInvalidDate: true,
});
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const objects = fc.dictionary(texts, json).map((value) => JSON.parse(JSON.stringify(value)) as object);
/** A list of one or two dimensions, with NULL. */
const lists = <A>(item: fc.Arbitrary<A>): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.array(fc.option(item)),
    fc
      .tuple(fc.integer({ min: 1, max: 3 }), fc.array(fc.option(item), { minLength: 9, maxLength: 9 }))
      .map(([width, items]) => [items.slice(0, width), items.slice(width, 2 * width)]),
  );
const small = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const big = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

describe("a value comes back as it was sent", () => {
  const kinds: readonly (readonly [string, fc.Arbitrary<unknown>])[] = [
    ["int4", small],
    ["int8", big],
    ["float8", fc.double()],
    ["numeric", fc.bigInt().map(String)],
    ["text", texts],
    ["bool", fc.boolean()],
    ["bytea", fc.uint8Array()],
    ["timestamptz", instants],
    ["jsonb", objects.filter((value) => !JSON.stringify(value).includes("\\u0000"))],
    ["json", objects],
  ];
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
  it.each([
    ["9007199254740993::int8", 9007199254740993n],
    ["(-9223372036854775808)::int8", -(2n ** 63n)],
    ["9007199254740993.000000000000000001::numeric", "9007199254740993.000000000000000001"],
    ["'NaN'::numeric", "NaN"],
    ["'NaN'::float8", Number.NaN],
    ["'-Infinity'::float4", Number.NEGATIVE_INFINITY],
    ["7::int2", 7],
    ["4294967295::oid", 4294967295],
    ["date '2026-02-28'", [2026, 2, 28]],
    ["timestamptz '2026-02-28 12:00:00.123456Z'", new Date("2026-02-28T12:00:00.123Z")],
    ["timestamp '2026-02-28 12:00:00.123456'", "2026-02-28 12:00:00.123456"],
    ["time '12:00:00'", "12:00:00"],
    ["interval '1 day 2 hours'", "1 day 02:00:00"],
    ["'\\x00ff'::bytea", Uint8Array.of(0, 255)],
    [`'{"a": [1, null]}'::jsonb`, { a: [1, null] }],
    ["'null'::json", null],
    ["'fine'::mood", "fine"],
    ["7::short", 7],
    ["'a'::char(3)", "a  "],
    ["'6F9619FF-8B86-D011-B42D-00C04FC964FF'::uuid", "6f9619ff-8b86-d011-b42d-00c04fc964ff"],
    ["array[1, null]::int8[]", [1n, null]],
    ["'[0:1]={1,2}'::int4[]", [1, 2]],
    ["'{}'::int4[]", []],
    ["array[array[date '2026-02-28']]", [[[2026, 2, 28]]]],
    ["array['a,b', '\"', 'NULL', null, '{']", ["a,b", '"', "NULL", null, "{"]],
    ["array['fine']::mood[]", "{fine}"],
    ["(1, 'a')", "(1,a)"],
    ["true", true],
  ] as const)("%s", async (expression, value) => {
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
