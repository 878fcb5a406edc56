/** What `query` sends, reads and refuses, as tables: played by each runtime that has a pool. */
import fc from "fast-check";
import { codePoint } from "../../support/code-point.ts";

function itself<A extends object>(value: A): A {
  if (Array.isArray(value)) value.push(value);
  else Object.assign(value, { a: value });
  return value;
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** Refused before it is sent: the error says why, and never the value. */
export const refused: readonly (readonly [what: string, text: string, values: readonly unknown[], why: string])[] = [
  ["a second statement", "select 1; select 2", [], "several statements"],
  ["a second statement that writes", "select $1::int4;delete from person", [1], "several statements"],
  ["too few values", "select $1::int4, $2::int4", [1], "1 value for 2 parameters"],
  ["too many values", "select 1", [1], "1 value for 0 parameters"],
  ["NUL in the text", "select 'a'\0", [], "the text has NUL"],
  ["half a surrogate pair in the text", "select '\ud800'", [], "or a lone surrogate"],
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
  ["a list with NUL in a text", "select $1::text[]", [["s3cret\0"]], "value $1 is a text"],
  ["a list with an invalid Date", "select $1::timestamptz[]", [[new Date(Number.NaN)]], "value $1 is a Date"],
  ["a list that contains itself", "select $1::int4[]", [itself([])], "more than 6 dimensions"],
  ["an object that contains itself", "select $1::jsonb", [itself({})], "cannot be written as JSON"],
  ["a function in an object", "select $1::jsonb", [{ a: () => 1 }], "is an object with a function"],
  ["a symbol in an object", "select $1::jsonb", [{ a: Symbol("s3cret") }], "is an object with a symbol"],
  ["NaN in an object", "select $1::jsonb", [{ a: [Number.NaN] }], "a number that JSON does not have"],
  ["a bigint in an object", "select $1::jsonb", [{ a: 1n }], "a bigint"],
  ["a Map in an object", "select $1::jsonb", [{ a: new Map() }], "an object of a class"],
  ["undefined in a list of an object", "select $1::jsonb", [{ a: [undefined] }], "a list that has undefined"],
  ["a revoked proxy", "select $1::text", [revoked()], "value $1 throws where it is read"],
  ["a revoked proxy in a list", "select $1::text[]", [[revoked()]], "value $1 throws where it is read"],
  ["a getter that throws", "select $1::jsonb", [{ get a() { throw new Error("s3cret"); } }], "cannot be written"], // prettier-ignore
];

/** What only the server can refuse: its SQLSTATE, or the SQLSTATEs of several versions. */
export const refusedByServer: readonly (readonly [
  what: string,
  text: string,
  values: readonly unknown[],
  code: RegExp,
])[] = [
  ["a second statement behind a string with a backslash", "select '\\'; select 1", [], /^42601$/],
  ["NaN for a type that has none", "select $1::int4", [Number.NaN], /^22P02$/],
  ["infinity for a type that has none", "select $1::int8", [Number.NEGATIVE_INFINITY], /^22P02$/],
  ["a fraction for a type that has none", "select $1::int4", [1.5], /^22P02$/],
  ["a bigint beyond its type", "select $1::int8", [2n ** 63n], /^22003$/],
  ["a bigint of 200,000 digits", "select $1::numeric", [10n ** 200_000n], /^22003$/],
  ["a parameter of no type", "select $1 is null", ["s3cret"], /^42P08$|^42P18$|^undefined$/],
  ["too few values", "select '\\', $1::int4, $2::int4", [1], /^08P01$/],
  ["too many values", "select '\\', $1::int4", [1, 2], /^42P18$/],
  ["a list with rows of different lengths", "select $1::int4[]", [[[1], [1, 2]]], /^22P02$/],
  ["a text that is no number", "select $1::text::int4", ["s3cret"], /^22P02$/],
];

/** Expressions, and how their columns are read; of a database that has the types `mood` and `short`. */
export const columns: readonly (readonly [expression: string, value: unknown])[] = [
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
];

const texts = fc.string({ unit: codePoint }).filter((text) => !text.includes("\0"));
const instants = fc.date({
  min: new Date("0001-01-02T00:00:00Z"),
  max: new Date("9999-12-30T23:59:59.999Z"),
  noInvalidDate: true,
});
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const objects = fc.dictionary(texts, json).map((value) => JSON.parse(JSON.stringify(value)) as object);
const small = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const big = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

/** A list of one or two dimensions, with NULL. */
export const lists = <A>(item: fc.Arbitrary<A>): fc.Arbitrary<unknown> =>
  fc.oneof(
    fc.array(fc.option(item)),
    fc
      .tuple(fc.integer({ min: 1, max: 3 }), fc.array(fc.option(item), { minLength: 9, maxLength: 9 }))
      .map(([width, items]) => [items.slice(0, width), items.slice(width, 2 * width)]),
  );

/** Values that come back as they were sent where a parameter has this type. */
export const kinds: readonly (readonly [type: string, values: fc.Arbitrary<unknown>])[] = [
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
