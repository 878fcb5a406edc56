import { describe, expect, test } from "vitest";
import * as v from "valibot";
import * as Shape from "../../src/schema/index.ts";
import { problemsOf, valueOf } from "./reading.ts";
import type { Told } from "./reading.ts";

const whole = v.pipe(v.number(), v.integer());
const greeting = v.object({ name: v.optional(v.string(), "nobody"), times: v.optional(whole, 1) });
const order = v.object({ item: v.string(), quantity: v.pipe(v.number(), v.integer(), v.minValue(1)) });
const member = (shape: Shape.Shape): Shape.Shape => v.object({ x: shape });
const uuidSample = "01890a5d-ac96-7a3b-9e5a-5f1c2a7b8c9d";
const tagged = v.variant("pass", [
  v.object({ pass: v.literal(true), by: v.string() }),
  v.object({ pass: v.literal(false), why: v.string() }),
]);
const scores = v.pipe(v.record(v.string(), v.boolean()), v.minEntries(1), v.maxEntries(2));

const read: readonly [string, Shape.Shape, string, unknown][] = [
  ["JB-01", greeting, "", { name: "nobody", times: 1 }],
  ["JB-02", greeting, '{"name":"lee","times":3}', { name: "lee", times: 3 }],
  ["JB-19", v.object({ note: v.optional(v.string()) }), '{"note":null}', {}],
  ["JB-19 with a default", greeting, '{"name":null}', { name: "nobody", times: 1 }],
  ["JB-19 of a nullable one", v.object({ note: v.optional(v.nullable(v.string())) }), '{"note":null}', { note: null }],
  ["PM-10", member(whole), '{"x":2.0}', { x: 2 }],
  ["PM-10", member(whole), '{"x":1e3}', { x: 1000 }],
  ["PM-13", member(Shape.int64), '{"x":9223372036854775807}', { x: 9223372036854775807n }],
  ["PM-19", member(v.pipe(v.number(), v.multipleOf(0.01))), '{"x":19.99}', { x: 19.99 }],
  ["PM-19", member(v.pipe(v.number(), v.multipleOf(0.01))), '{"x":-19.99}', { x: -19.99 }],
  ["PM-19", member(v.pipe(v.number(), v.multipleOf(0.01))), '{"x":123456789.12}', { x: 123456789.12 }],
  ["PM-35 with the tag behind", tagged, '{"by":"b","pass":true}', { by: "b", pass: true }],
];

const told: readonly [string, Shape.Shape, string, ...Told[]][] = [
  ["JB-03", greeting, '{"times":"many"}', ["body.times", "unexpected_type", "This must be a whole number, not text."]],
  ["JB-04", greeting, "not json", ["body", "malformed", "This is not JSON."]],
  ["JB-06", order, '{"item":"tea","quantity":0}', ["body.quantity", "too_small", "This must be at least 1."]],
  [
    "JB-07",
    v.object({ items: v.array(v.object({ count: whole })) }),
    '{"items":[{"count":1},{"count":2},{"count":"3"}]}',
    ["body.items[2].count", "unexpected_type", "This must be a whole number, not text."],
  ],
  [
    "JB-18",
    v.strictObject({ a: v.string() }),
    '{"a":"","b":1}',
    ["body.b", "unknown_member", "This is not a member this object has."],
  ],
  ["PM: a plain name", v.object({ "a_-$é": v.string() }), "{}", ["body.a_-$é", "required", "This is required."]],
  ["PM: an odd name", v.object({ "a.b": v.string() }), "{}", ['body["a.b"]', "required", "This is required."]],
  ["PM: an empty name", v.object({ "": v.string() }), "{}", ['body[""]', "required", "This is required."]],
  ["PM-03", member(v.string()), '{"x": nope, "y": 2}', ["body", "malformed", "This is not JSON."]],
  ["PM-04", member(v.number()), '{"x": "a", "y": 2} x', ["body", "malformed", "This is not JSON."]],
  ["PM-09", member(whole), '{"x":1.5}', ["body.x", "unexpected_type", "This must be a whole number, not a fraction."]],
  [
    "PM-12",
    member(whole),
    '{"x":9007199254740993}',
    ["body.x", "too_large", "This is larger than a whole number here can hold."],
  ],
  [
    "PM-12",
    member(whole),
    '{"x":-1e300}',
    ["body.x", "too_small", "This is smaller than a whole number here can hold."],
  ],
  ["PM-15", member(v.pipe(v.number(), v.minValue(1))), '{"x":0}', ["body.x", "too_small", "This must be at least 1."]],
  [
    "PM-16",
    member(v.pipe(v.number(), v.maxValue(18))),
    '{"x":19}',
    ["body.x", "too_large", "This must be at most 18."],
  ],
  [
    "PM-18",
    member(v.pipe(v.number(), v.gtValue(0))),
    '{"x":0}',
    ["body.x", "too_small", "This must be greater than 0."],
  ],
  ["PM-18", member(v.pipe(v.number(), v.ltValue(1))), '{"x":1}', ["body.x", "too_large", "This must be less than 1."]],
  [
    "PM-19",
    member(v.pipe(v.number(), v.multipleOf(0.01))),
    '{"x":19.995}',
    ["body.x", "not_a_multiple", "This must be a multiple of 0.01."],
  ],
  [
    "PM-19",
    member(v.pipe(whole, v.multipleOf(3))),
    '{"x":9007199254740991}',
    ["body.x", "not_a_multiple", "This must be a multiple of 3."],
  ],
  ["PM-21", member(v.number()), '{"x":1e400}', ["body.x", "too_large", "This is larger than a number can hold."]],
  ["PM-21", member(v.number()), '{"x":-1e400}', ["body.x", "too_small", "This is smaller than a number can hold."]],
  ["PM-21", member(v.any()), '{"x":[1e400]}', ["body.x[0]", "too_large", "This number is too large to be read."]],
  ["PM-22", member(v.number()), '{"x":"1"}', ["body.x", "unexpected_type", "This must be a number, not text."]],
  ["PM-24", member(v.string()), '{"x":3}', ["body.x", "unexpected_type", "This must be text, not a number."]],
  [
    "PM-25",
    member(v.pipe(v.string(), v.minLength(2))),
    '{"x":"a"}',
    ["body.x", "too_short", "This must be at least 2 characters long."],
  ],
  [
    "PM-25",
    member(v.pipe(v.string(), v.minLength(2))),
    '{"x":"😀"}',
    ["body.x", "too_short", "This must be at least 2 characters long."],
  ],
  [
    // U+FFFD comes after the surrogates, and is a character of one unit.
    "PM-25",
    member(v.pipe(v.string(), v.maxLength(3))),
    '{"x":"\ufffd\ufffd😀\ufffd"}',
    ["body.x", "too_long", "This must be at most 3 characters long."],
  ],
  [
    "PM-25",
    member(v.pipe(v.string(), v.maxLength(5))),
    '{"x":"abcdef"}',
    ["body.x", "too_long", "This must be at most 5 characters long."],
  ],
  [
    "PM-25",
    member(v.pipe(v.string(), v.nonEmpty())),
    '{"x":""}',
    ["body.x", "too_short", "This must be at least 1 character long."],
  ],
  [
    "PM-25",
    member(v.pipe(v.string(), v.length(2))),
    '{"x":"a"}',
    ["body.x", "too_short", "This must be exactly 2 characters long."],
  ],
  [
    "PM-27",
    member(v.picklist(["black", "white"])),
    '{"x":3}',
    ["body.x", "unexpected_type", 'This must be one of "black" or "white", not a number.'],
  ],
  [
    "PM-27",
    member(v.picklist(["a", "b", "c"])),
    '{"x":"d"}',
    ["body.x", "unknown_word", 'This must be one of "a", "b" or "c".'],
  ],
  ["PM-27", member(v.literal("a")), '{"x":"d"}', ["body.x", "unknown_word", 'This must be "a".']],
  ["PM-27", member(v.literal("a")), '{"x":[]}', ["body.x", "unexpected_type", 'This must be "a", not a list.']],
  [
    "PM-27",
    member(v.picklist([])),
    '{"x":"d"}',
    ["body.x", "unexpected_type", "This must be one of no words at all, not text."],
  ],
  [
    "PM-28",
    member(v.array(v.string())),
    '{"x":{}}',
    ["body.x", "unexpected_type", "This must be a list, not an object."],
  ],
  [
    "PM-28",
    member(v.pipe(v.array(v.string()), v.minLength(1))),
    '{"x":[]}',
    ["body.x", "too_few", "This must have at least 1 item."],
  ],
  ["PM-30", v.tuple([v.number(), v.string()]), "[1]", ["body", "too_few", "This must have exactly 2 items."]],
  ["PM-30", v.tuple([v.number(), v.string()]), '[1,"a",3]', ["body", "too_many", "This must have exactly 2 items."]],
  [
    "PM-30",
    v.strictTuple([v.number(), v.string()]),
    '[1,"a",3]',
    ["body", "too_many", "This must have exactly 2 items."],
  ],
  ["PM-31", order, "[]", ["body", "unexpected_type", "This must be an object, not a list."]],
  [
    "PM-33",
    v.record(Shape.uuid, v.boolean()),
    '{"nope":true}',
    ["body.nope[name]", "malformed", `This must be a UUID, like ${uuidSample}.`],
  ],
  ["PM-34", scores, "{}", ["body", "too_few", "This must have at least 1 member."]],
  ["PM-34", scores, '{"a":true,"b":true,"c":true}', ["body", "too_many", "This must have at most 2 members."]],
  ["PM-35", tagged, '{"by":"b","pass":"yes"}', ["body.pass", "unknown_word", "This must be one of true or false."]],
  [
    "PM-35 of the same sort",
    v.variant("kind", [v.object({ kind: v.literal("a") }), v.object({ kind: v.literal("b") })]),
    '{"kind":"c"}',
    ["body.kind", "unknown_word", 'This must be one of "a" or "b".'],
  ],
  ["PM-36", tagged, '{"by":"b"}', ["body.pass", "required", "This is required."]],
  [
    "PM-37",
    member(Shape.date),
    '{"x":"2026-02-30"}',
    ["body.x", "malformed", "This must be a date written as YYYY-MM-DD, like 2026-09-30."],
  ],
  [
    "PM-39",
    member(Shape.instant),
    '{"x":"9999-12-31T23:59:59-00:01"}',
    ["body.x", "malformed", "This instant is outside the years 0000 to 9999 once in UTC."],
  ],
  ["PM-40", member(Shape.uuid), '{"x":"x"}', ["body.x", "malformed", `This must be a UUID, like ${uuidSample}.`]],
  [
    "PM-43",
    member(v.pipe(v.number(), v.minValue(10), v.multipleOf(5))),
    '{"x":3}',
    ["body.x", "too_small", "This must be at least 10."],
    ["body.x", "not_a_multiple", "This must be a multiple of 5."],
  ],
  [
    "a fraction breaks no bound beside",
    member(v.pipe(v.number(), v.minValue(10), v.integer())),
    '{"x":3.5}',
    ["body.x", "unexpected_type", "This must be a whole number, not a fraction."],
  ],
];

describe("valid bodies", () => {
  test.each(read)("%s", (_id, shape, text, value) => {
    expect(valueOf(shape, text)).toEqual(value);
  });
});

describe("the problems of a body", () => {
  test.each(told)("%s", (_id, shape, text, ...problems) => {
    expect(problemsOf(shape, text)).toEqual(problems);
  });
});

test("invalid values are reported in the order of sending, then missing ones in the order of declaration", () => {
  const shape = v.object({
    a: v.number(),
    b: v.object({ c: v.string(), d: v.string() }),
    e: v.string(),
    f: v.string(),
  });
  expect(problemsOf(shape, '{"e":1,"b":{"d":2},"a":"x"}')).toEqual([
    ["body.e", "unexpected_type", "This must be text, not a number."],
    ["body.b.d", "unexpected_type", "This must be text, not a number."],
    ["body.b.c", "required", "This is required."],
    ["body.a", "unexpected_type", "This must be a number, not text."],
    ["body.f", "required", "This is required."],
  ]);
});
