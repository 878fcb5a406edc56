/** Every type, there and back through a real server. */
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Shape } from "usher-http";
import { DatabaseError, Statement, Type } from "usher-http/postgres";
import { observer, startPostgres } from "../../support/postgres/database.ts";
import { pools } from "./pools.ts";
import { rounds } from "../../support/wide.ts";
import { codePoint } from "../../support/code-point.ts";

const server = await startPostgres();
const pool = pools(server);
await observer(server)`create type mood as enum ('fine', 'so so', 'a "bad", one')`;

const runs = { numRuns: rounds(200) };
const instants = fc.date({
  min: new Date("0001-01-02T00:00:00Z"),
  max: new Date("9999-12-30T23:59:59.999Z"),
  noInvalidDate: true,
});
// What PostgreSQL can hold of text: everything but NUL.
const texts = fc.string({ unit: codePoint }).filter((text) => !text.includes("\0"));
const days = instants.map((day) => [day.getUTCFullYear(), day.getUTCMonth() + 1, day.getUTCDate()] as const);
const bytes = fc.uint8Array();
const order = v.object({ id: Shape.int64, lines: v.array(v.object({ item: v.string(), quantity: v.number() })) });
const orders = fc.record({
  id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  lines: fc.array(fc.record({ item: texts, quantity: fc.integer() })),
});
const words = ["fine", "so so", 'a "bad", one'] as const;
const point = Type.custom({
  name: "point",
  parse(text) {
    const [x, y] = text.slice(1, -1).split(",").map(Number) as [number, number];
    return { x, y };
  },
  print: ({ x, y }) => `(${x},${y})`,
});
const points = fc.record({ x: fc.integer(), y: fc.integer() });

interface Case<A = unknown> {
  readonly name: string;
  /** The database's own type. */
  readonly as: string;
  readonly type: Type<A>;
  readonly values: fc.Arbitrary<A>;
  /** What comes back, where it is not what was sent. */
  readonly back?: (value: A) => A;
  readonly edges?: readonly A[];
}

function kase<A>(one: Case<A>): Case {
  return one as unknown as Case;
}

const small = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const cases: readonly Case[] = [
  kase({ name: "int", as: "int4", type: Type.int, values: small, edges: [0, -(2 ** 31), 2 ** 31 - 1] }),
  kase({
    name: "int64",
    as: "int8",
    type: Type.int64,
    values: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    edges: [0n, -(2n ** 63n), 2n ** 63n - 1n],
  }),
  kase({
    name: "float",
    as: "float8",
    type: Type.float,
    values: fc.double(),
    edges: [-0, 0, 5e-324, Number.MAX_VALUE, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  }),
  kase({
    name: "numeric",
    as: "numeric",
    type: Type.numeric,
    values: fc.bigInt().map((digits) => `${digits}.${digits < 0n ? -digits : digits}`),
    edges: ["0", "NaN", "Infinity", "-Infinity", "0.00000000000000000000000000001"],
  }),
  kase({ name: "text", as: "text", type: Type.text, values: texts, edges: ["", "NULL", "'", "\\", "true", "𝒳"] }),
  kase({ name: "bool", as: "bool", type: Type.bool, values: fc.boolean() }),
  kase({ name: "uuid", as: "uuid", type: Type.uuid, values: fc.uuid(), back: (id) => id.toLowerCase() }),
  kase({ name: "bytes", as: "bytea", type: Type.bytes, values: bytes, edges: [new Uint8Array(0)] }),
  kase({
    name: "date",
    as: "date",
    type: Type.date,
    values: days,
    edges: [
      [1, 1, 1],
      [9999, 12, 31],
      [2024, 2, 29],
    ],
  }),
  kase({
    name: "instant (DB-22)",
    as: "timestamptz",
    type: Type.instant,
    values: instants,
    edges: [new Date(-1), new Date(0), new Date("0001-01-02T00:00:00.000Z"), new Date("9999-12-30T23:59:59.999Z")],
  }),
  kase({ name: "json", as: "jsonb", type: Type.json(order), values: orders }),
  kase({ name: "json as text", as: "json", type: Type.json(order), values: orders }),
  kase({
    name: "optional",
    as: "text",
    type: Type.optional(Type.text),
    values: fc.option(texts, { nil: undefined }),
    edges: [undefined, "NULL", ""],
  }),
  kase({
    name: "nullable",
    as: "text",
    type: Type.nullable(Type.text),
    values: fc.option(texts, { nil: null }),
    edges: [null, "NULL", ""],
  }),
  kase({
    name: "array of nullable",
    as: "text[]",
    type: Type.array(Type.nullable(Type.text)),
    values: fc.array(fc.option(texts, { nil: null })),
    edges: [[null, "NULL", ""]],
  }),
  kase({
    name: "array",
    as: "text[]",
    type: Type.array(Type.optional(Type.text)),
    values: fc.array(fc.option(texts, { nil: undefined })),
    edges: [[], ["", "NULL", undefined, "{", "}", ",", '"', "\\", " "]],
  }),
  kase({
    name: "array of instants",
    as: "timestamptz[]",
    type: Type.array(Type.instant),
    values: fc.array(instants),
  }),
  kase({
    name: "array of arrays",
    as: "text[]",
    type: Type.array(Type.array(Type.text)),
    values: fc
      .integer({ min: 1, max: 4 })
      .chain((width) => fc.array(fc.array(texts, { minLength: width, maxLength: width }), { maxLength: 4 })),
    edges: [
      [
        ["}", "{"],
        ['"', "\\"],
      ],
    ],
  }),
  kase({ name: "enumeration", as: "mood", type: Type.enum(words), values: fc.constantFrom(...words) }),
  kase({
    name: "array of an enumeration",
    as: "mood[]",
    type: Type.array(Type.enum(words)),
    values: fc.array(fc.constantFrom(...words)),
  }),
  kase({ name: "custom", as: "point", type: point, values: points }),
];

describe.each(["UTC", "America/New_York", "Asia/Kathmandu", "Africa/Monrovia"])("in a session of %s", (TimeZone) => {
  it.each(cases)("$name is read as it was sent", async ({ as, type, values, back, edges = [] }) => {
    const some = await pool({ size: 4, parameters: { TimeZone } });
    const echo = Statement.find(`select $1::${as} as value`, { params: [type], row: { value: type } });
    const check = async (value: unknown): Promise<void> => {
      expect(await some.exec(echo, value)).toEqual({ value: back === undefined ? value : back(value) });
    };
    for (const edge of edges) await check(edge);
    await fc.assert(fc.asyncProperty(values, check), runs);
  });
});

describe("a value that does not fit its type is not sent", () => {
  const bad: readonly (readonly [string, Type<never>, unknown])[] = [
    ["a fraction", Type.int as Type<never>, 1.5],
    ["too large", Type.int as Type<never>, 2 ** 31],
    ["no number", Type.int as Type<never>, Number.NaN],
    ["too large a bigint", Type.int64 as Type<never>, 2n ** 63n],
    ["no bigint", Type.int64 as Type<never>, 1],
    ["no digits", Type.numeric as Type<never>, "1; drop table"],
    ["a number for digits", Type.numeric as Type<never>, 5],
    ["a list of a uuid", Type.uuid as Type<never>, ["f81d4fae-7dec-11d0-a765-00a0c91e6bf6"]],
    ["NUL", Type.text as Type<never>, "a\0b"],
    ["half a surrogate pair", Type.text as Type<never>, "\ud800"],
    ["nothing", Type.text as Type<never>, undefined],
    ["no uuid", Type.uuid as Type<never>, "no uuid"],
    ["no day", Type.date as Type<never>, [2026, 2, 30]],
    ["a year before the first", Type.date as Type<never>, [0, 1, 1]],
    ["no instant", Type.instant as Type<never>, new Date(Number.NaN)],
    ["an instant past 9999", Type.instant as Type<never>, new Date(8.64e15)],
    ["no word", Type.enum(words) as Type<never>, "no word"],
    ["no bytes", Type.bytes as Type<never>, "abc"],
    ["no JSON of the shape", Type.json(v.object({ a: v.string() })) as Type<never>, { a: 1 }],
    ["a list with a bad one", Type.array(Type.int) as Type<never>, [1, 1.5]],
  ];
  it.each(bad)("%s", async (_, type, value) => {
    const some = await pool({ size: 1 });
    const send = Statement.exec("select $1", { params: [type] });
    const failure = { kind: "db", code: undefined, detail: expect.stringContaining("parameter $1 is no ") as string };
    await expect(some.exec(send, value as never)).rejects.toMatchObject({ failure });
  });
});

describe("a parameter past its bounds: the error says them, and not the value", () => {
  const whole = "a whole number from -2147483648 to 2147483647";
  const rows: readonly (readonly [name: string, type: Type<never>, value: unknown, takes: string])[] = [
    ["an int", Type.int as Type<never>, 3_000_000_000, `int: it takes ${whole}`],
    ["an optional int", Type.optional(Type.int) as Type<never>, 2 ** 31, `optional int: it takes ${whole}`],
    ["a list", Type.array(Type.int) as Type<never>, [2 ** 31], `array of int: it takes a list, each item ${whole}`],
    ["the year 0", Type.date as Type<never>, [0, 1, 1], "date: it takes a day in the years 1 to 9999"],
    [
      "an instant of the year 0",
      Type.instant as Type<never>,
      new Date("0000-12-31T23:59:59Z"),
      "instant: it takes a Date in the years 1 to 9999",
    ],
    ["NUL", Type.text as Type<never>, "a\0b", "text: it takes a text without NUL and without half a surrogate pair"],
  ];
  it.each(rows)("%s", async (_, type, value, takes) => {
    const some = await pool({ size: 1 });
    const send = Statement.exec("select $1", { params: [type] });
    const detail = `parameter $1 is no ${takes}, for select $1`;
    await expect(some.exec(send, value as never)).rejects.toMatchObject({ failure: { kind: "db", detail } });
  });
});

describe("a row that does not fit its declaration", () => {
  const rows: readonly (readonly [string, string, Type<unknown>, string])[] = [
    ["has no such column", "select 1 as another", Type.int, "there is no column value"],
    ["has it twice", "select 1 as value, 2 as value", Type.int, "there are several columns value"],
    ["has another type", "select 'secret' as value", Type.int, "column value is of a type that is no int"],
    ["has a wider type", "select 1::int8 as value", Type.int, "column value is of a type that is no int"],
    ["is NULL", "select null::int as value", Type.int, "column value is NULL, which is no int"],
    [
      "has NULL in a list",
      "select array[null]::int[] as value",
      Type.array(Type.int),
      "column value is no array of int",
    ],
    ["is before the first year", "select '0044-03-15 BC'::date as value", Type.date, "column value is no date"],
    ["is never", "select 'infinity'::timestamptz as value", Type.instant, "column value is no instant"],
    ["is no such word", "select 'secret' as value", Type.enum(words), "column value is no one of fine"],
    ["is of another shape", `select '{"a":"secret"}'::json as value`, Type.json(v.object({})), ""],
    [
      "is of no such shape",
      `select '{"a":"secret"}'::json as value`,
      Type.json(v.object({ a: v.number() })),
      "is no json",
    ],
  ];
  it.each(rows)("%s", async (_, sql, value, says) => {
    const some = await pool({ size: 1 });
    const thrown = await some.exec(Statement.find(sql, { row: { value } })).catch((error: unknown) => error);
    if (says === "") return expect(thrown).toEqual({ value: {} });
    expect(thrown).toBeInstanceOf(DatabaseError);
    expect((thrown as DatabaseError).failure).toMatchObject({ kind: "db", detail: expect.stringContaining(says) });
    expect((thrown as DatabaseError).failure).toMatchObject({ detail: expect.stringContaining(sql.slice(0, 12)) });
  });

  it("is an error if there are too many rows, or none", async () => {
    const some = await pool({ size: 1 });
    const sql = "select n from generate_series(1, $1) as n";
    const one = { params: [Type.int], row: { n: Type.int } } as const;
    expect(await some.exec(Statement.list(sql, one), 3)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(await some.exec(Statement.list(sql, one), 0)).toEqual([]);
    expect(await some.exec(Statement.find(sql, one), 1)).toEqual({ n: 1 });
    expect(await some.exec(Statement.findOptional(sql, one), 1)).toEqual({ n: 1 });
    expect(await some.exec(Statement.findOptional(sql, one), 0)).toBeUndefined();
    expect(await some.exec(Statement.count(sql, { params: [Type.int] }), 3)).toBe(3);
    await expect(some.exec(Statement.find(sql, one), 0)).rejects.toThrow("0 rows where there is one");
    await expect(some.exec(Statement.find(sql, one), 2)).rejects.toThrow("2 rows where there is one");
    await expect(some.exec(Statement.findOptional(sql, one), 2)).rejects.toThrow(
      "2 rows where there is one at the most",
    );
  });

  it("cannot set the prototype of an object", () => {
    const row = JSON.parse('{"__proto__": 1}') as { readonly [name: string]: Type<unknown> };
    expect(() => Statement.list("select 1", { row })).toThrow("__proto__");
  });
});

it("an array of a domain is read as one of its base type", async () => {
  const some = await pool({ size: 1 });
  await some.exec(Statement.exec("create domain positive as int check (value > 0)"));
  const params = [Type.array(Type.int)] as const;
  const read = Statement.find("select $1::positive[] as list", { params, row: { list: Type.array(Type.int) } });
  expect(await some.exec(read, [1, 2])).toEqual({ list: [1, 2] });
  await expect(Statement.verify(some, [read])).resolves.toBeUndefined();
});

it("bytes are read in either form of the server's", async () => {
  const some = await pool({ size: 1, parameters: { bytea_output: "escape" } });
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const params = [Type.bytes] as const;
  const row = { one: Type.bytes, list: Type.array(Type.bytes) };
  const read = Statement.find("select $1::bytea as one, array[$1::bytea, ''] as list", { params, row });
  expect(await some.exec(read, all)).toEqual({ one: all, list: [all, new Uint8Array()] });
});

it("an instant is cut off to milliseconds", async () => {
  const some = await pool({ size: 1 });
  const read = Statement.find("select '1969-12-31T23:59:59.999999Z'::timestamptz as at", { row: { at: Type.instant } });
  expect(await some.exec(read)).toEqual({ at: new Date(-1) });
});
