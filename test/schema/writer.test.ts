import { describe, expect, test } from "vitest";
import * as v from "valibot";
import * as Shape from "../../src/schema/index.ts";
import { compileWriter } from "../../src/schema/write.ts";

const text = v.string();
const whole = v.pipe(v.number(), v.integer());

function write(shape: Shape.Shape, value: unknown): string {
  const written = compileWriter(shape).write(value);
  return written.ok ? written.value : `refused: ${written.error}`;
}

class Person {
  readonly #name: string;
  constructor(name: string) {
    this.#name = name;
  }
  get name(): string {
    return this.#name;
  }
  toJSON(): unknown {
    return { name: "another", secret: true };
  }
}
const cycle: { next?: unknown } = {};
cycle.next = cycle;
const linked: v.GenericSchema = v.object({ next: v.optional(v.lazy(() => linked)) });

const short = v.object({ a: text });
const long = v.object({ a: text, b: text });

const changing = v.variant("t", [
  v.pipe(
    v.object({ t: v.literal("a"), n: v.number() }),
    v.transform(({ n }) => ({ kind: "A", n })),
  ),
  v.object({ t: v.literal("b"), b: text }),
  v.variant("t", [
    v.pipe(
      v.object({ t: v.literal("c") }),
      v.transform(({ t }) => ({ was: t })),
    ),
  ]),
]);

const written: readonly [string, Shape.Shape, unknown, string][] = [
  [
    "members in declared order, and no others",
    v.object({ a: text, b: v.object({ c: text }) }),
    { x: 1, b: { y: 2, c: "c" }, a: "a" },
    '{"a":"a","b":{"c":"c"}}',
  ],
  [
    "no other in lists, records, tuples and unions",
    v.array(v.union([v.record(text, v.object({ a: text })), v.tuple([v.object({ a: text })])])),
    [{ k: { a: "1", x: 1 } }, [{ a: "2", x: 1 }]],
    '[{"k":{"a":"1"}},[{"a":"2"}]]',
  ],
  [
    "no other in a tagged union",
    v.variant("t", [v.object({ t: v.literal(1), a: text }), v.object({ t: v.literal(2), b: text })]),
    { t: 2, a: "1", b: "2" },
    '{"t":2,"b":"2"}',
  ],
  ["all of a loose object", v.looseObject({ a: text }), { x: { y: 1 }, a: "a" }, '{"a":"a","x":{"y":1}}'],
  ["an instance by its getters", v.object({ name: text }), new Person("Ada"), '{"name":"Ada"}'],
  [
    "JB-21: nothing for what may be absent",
    v.object({ a: v.optional(text), b: v.nullish(text), c: v.optional(text) }),
    { b: null, c: undefined },
    '{"b":null}',
  ],
  [
    "JB-21: a default",
    v.object({ a: v.optional(text, "x"), b: v.nullish(whole, 3), c: v.nullable(text, "y") }),
    { b: null },
    '{"a":"x","b":3,"c":"y"}',
  ],
  [
    "a default in its written form",
    v.object({ a: v.optional(v.pipe(text, v.trim()), " x "), b: v.optional(Shape.date, "2026-01-02") }),
    {},
    '{"a":"x","b":"2026-01-02"}',
  ],
  ["null for an absent item", v.array(v.optional(text)), ["a", undefined], '["a",null]'],
  [
    "values out of bounds",
    v.object({ a: v.pipe(text, v.minLength(5)), b: v.pipe(v.number(), v.maxValue(1)) }),
    { a: "", b: 2 },
    '{"a":"","b":2}',
  ],
  ["transformed text as text", v.pipe(text, v.trim(), v.toUpperCase()), "A", '"A"'],
  [
    "what a transformation made, as it is",
    v.pipe(
      text,
      v.transform((sent) => ({ length: sent.length })),
    ),
    { length: 2 },
    '{"length":2}',
  ],
  [
    "by the schema behind a transformation",
    v.pipe(text, v.parseJson(), v.object({ a: text })),
    { a: "1", x: 2 },
    '{"a":"1"}',
  ],
  [
    "any JSON, without what is undefined in it",
    v.any(),
    { a: [1, "b", null, true], c: undefined, d: Object.create(null) },
    '{"a":[1,"b",null,true],"d":{}}',
  ],
  [
    "a member named as a prototype is",
    v.record(text, v.number()),
    JSON.parse('{"__proto__":1,"constructor":2}'),
    '{"__proto__":1,"constructor":2}',
  ],
  [
    "the first shape that names all there is",
    v.union([v.object({ a: text }), v.object({ a: text, b: text })]),
    { a: "1", b: "2" },
    '{"a":"1","b":"2"}',
  ],
  [
    "no member that every object answers to",
    v.object({ toString: v.optional(text), constructor: v.optional(text) }),
    { constructor: "c" },
    '{"constructor":"c"}',
  ],
  [
    "both sides of an intersection",
    v.intersect([v.object({ a: text }), v.object({ b: text })]),
    { a: "1", b: "2", c: 3 },
    '{"a":"1","b":"2"}',
  ],
  [
    "both sides of an intersection, within it too",
    v.intersect([
      v.object({ in: v.object({ a: text, n: Shape.int64 }) }),
      v.object({ in: v.object({ b: text, n: Shape.int64 }) }),
    ]),
    { in: { a: "1", b: "2", n: 2n ** 60n, c: 3 } },
    '{"in":{"a":"1","n":1152921504606846976,"b":"2"}}',
  ],
  [
    "both sides of an intersection of lists",
    v.intersect([v.array(v.object({ a: text })), v.array(v.object({ b: text }))]),
    [{ a: "1", b: "2" }],
    '[{"a":"1","b":"2"}]',
  ],
  ["an object that a tagged union has changed", changing, { kind: "A", n: 1 }, '{"kind":"A","n":1}'],
  [
    "an object that has lost its tag, beside one that may lack it",
    v.variant("t", [
      v.pipe(
        v.object({ t: v.literal("a") }),
        v.transform(({ t }) => ({ was: t })),
      ),
      v.object({ t: v.optional(v.literal("b")), b: text }),
    ]),
    { was: "a" },
    '{"was":"a"}',
  ],
  ["one within another that has changed it", changing, { was: "c" }, '{"was":"c"}'],
  ["no other, in a tagged union that changes another object", changing, { t: "b", b: "1", x: 1 }, '{"t":"b","b":"1"}'],
  [
    "names that are read as numbers",
    v.record(v.pipe(text, v.toNumber()), text),
    { 1: "a", 2.5: "b" },
    '{"1":"a","2.5":"b"}',
  ],
  [
    "names that are read as whole numbers",
    v.record(v.pipe(text, v.transform(Number), v.number(), v.integer()), text),
    { 7: "a" },
    '{"7":"a"}',
  ],
  [
    "nothing for what may be absent, and is changed if it is not",
    v.object({
      a: v.pipe(
        v.optional(text),
        v.transform((value) => value?.length),
      ),
      b: v.pipe(
        v.nullish(text),
        v.transform((value) => value?.length),
        v.number(),
      ),
    }),
    {},
    "{}",
  ],
  [
    "an instant in a union with an object of optional members",
    v.union([v.object({ a: v.optional(text) }), Shape.instant]),
    new Date(0),
    '"1970-01-01T00:00:00.000Z"',
  ],
  [
    "all members of a list's items, which another list of a union declares",
    v.union([v.array(short), v.array(long)]),
    [{ a: "1", b: "2" }],
    '[{"a":"1","b":"2"}]',
  ],
  [
    "all members at any depth",
    v.union([v.object({ in: v.record(text, short) }), v.object({ in: v.record(text, long) })]),
    { in: { x: { a: "1", b: "2" } } },
    '{"in":{"x":{"a":"1","b":"2"}}}',
  ],
  [
    "by the one that leaves something out within, and not by the one that leaves out the whole",
    v.union([short, v.object({ a: text, in: v.array(long) })]),
    { a: "1", in: [{ a: "1", b: "2", c: "3" }] },
    '{"a":"1","in":[{"a":"1","b":"2"}]}',
  ],
  [
    "no other beside a loose object, and what that does not know of by its own shape",
    v.intersect([v.looseObject({ a: text }), v.object({ at: Shape.instant, in: v.object({ b: text }) })]),
    { a: "1", at: new Date(0), in: { b: "2", x: 1 }, c: 3 },
    '{"a":"1","c":3,"at":"1970-01-01T00:00:00.000Z","in":{"b":"2"}}',
  ],
  ["a shape that refers to itself", linked, { next: { next: {}, x: 1 } }, '{"next":{"next":{}}}'],
  [
    "64-bit numbers as numbers",
    v.array(Shape.int64),
    [1n, -(2n ** 63n), 2n ** 53n],
    "[1,-9223372036854775808,9007199254740992]",
  ],
  [
    "texts that look like escapes",
    v.array(text),
    ["\\udc001", '"\\ud800"', "\u{1f600}"],
    '["\\\\udc001","\\"\\\\ud800\\"","\u{1f600}"]',
  ],
  ["null for an absent answer", v.optional(text), undefined, "null"],
];

describe("values that are written", () => {
  test.each(written)("%s", (_name, shape, value, expected) => {
    expect(write(shape, value)).toBe(expected);
  });
});

describe("values that cannot be written (JB-22): each", () => {
  test.each([
    [
      "a wrong sort",
      v.object({ items: v.array(v.object({ count: whole })) }),
      { items: [{ count: 1 }, { count: "S3" }] },
      "value.items[1].count must be a whole number, not text",
    ],
    ["a missing member", v.object({ a: text }), {}, "value.a is missing: it must be text"],
    [
      "a promise of a list",
      v.object({ items: v.array(text) }),
      { items: Promise.resolve([]) },
      "value.items is a promise: await it",
    ],
    [
      "a promise of an object",
      v.object({ deep: v.array(v.object({ a: v.object({ b: text }) })) }),
      { deep: [{ a: Promise.resolve({ b: "x" }) }] },
      "value.deep[0].a is a promise: await it",
    ],
    ["a promise of a text", v.object({ a: text }), { a: Promise.resolve("x") }, "value.a is a promise: await it"],
    ["a promise in any JSON", v.any(), [Promise.resolve(1)], "value[0] is a promise: await it"],
    ["null where none may be", v.object({ a: v.optional(text) }), { a: null }, "value.a must be text, not null"],
    ["NaN", v.number(), Number.NaN, "value must be a finite number"],
    ["infinity", v.any(), [Infinity], "value[0] must be a finite number"],
    ["a fraction", whole, 0.5, "value must be a whole number within 2^53"],
    ["a whole number past 2^53", whole, 2 ** 53, "value must be a whole number within 2^53"],
    ["an unknown word", v.picklist(["a", "b"]), "S3", 'value must be one of "a" or "b"'],
    ["an unknown tag", v.variant("t", [v.object({ t: v.literal("a") })]), { t: "S3" }, 'value.t must be "a"'],
    [
      "half of a surrogate pair",
      v.object({ a: v.array(text) }),
      { a: ["ok", "\ud800"] },
      "value.a[1] holds half of a surrogate pair, which is no text",
    ],
    ["half of one in a name", v.record(text, text), { "\udc00": "a" }, /holds half of a surrogate pair/],
    ["a text that would mark a number", v.any(), ["\udc0012"], /holds half of a surrogate pair/],
    ["a cycle", linked, cycle, /is nested more than 512 deep, or holds itself$/],
    ["a cycle of any JSON", v.any(), cycle, /is nested more than 512 deep, or holds itself$/],
    ["too many items", v.tuple([text]), ["a", "b"], "value must have 1 item, and has more"],
    ["a Date in any JSON", v.any(), { at: new Date(0) }, "value.at is a Date: give it the shape Shape.instant"],
    [
      "a bigint in any JSON",
      v.any(),
      { n: 1n },
      "value.n is a bigint, which JSON has no word for: give it the shape Shape.int64",
    ],
    ["an instance in any JSON", v.any(), new Map(), "value is an instance of a class: give its members as v.object"],
    ["a function in any JSON", v.any(), [() => 1], "value[0] must be JSON, not something else"],
    ["nothing in a list of any JSON", v.any(), [undefined], "value[0] is missing: it must be JSON"],
    [
      "a value of no option",
      v.object({ a: v.union([text, v.number()]) }),
      { a: true },
      "value.a is of none of the shapes it may have",
    ],
    ["a wrong name", v.record(Shape.uuid, text), { S3: "a" }, /must be a UUID$/],
    [
      "a name that is no number",
      v.record(v.pipe(text, v.toNumber()), text),
      { S3: "a" },
      "value.S3 must be a number, not text",
    ],
    ["a promise of a map", v.record(text, text), Promise.resolve({ a: "x" }), "value is a promise: await it"],
    [
      "a promise of optional members",
      v.object({ a: v.optional(text) }),
      Promise.resolve({}),
      "value is a promise: await it",
    ],
    ["a Date as a map", v.object({ a: v.record(text, text) }), { a: new Date(0) }, /^refused: value\.a is a Date/],
  ] as readonly [string, Shape.Shape, unknown, string | RegExp][])("%s", (_name, shape, value, expected) => {
    const written = write(shape, value);
    if (typeof expected === "string") expect(written).toBe(`refused: ${expected}`);
    else expect(written).toMatch(expected);
    expect(written).toMatch(/^refused: /);
  });
});

test("the promises in a value that is not written are given up: a rejection does not end the process", async () => {
  const unhandled: unknown[] = [];
  const note = (thrown: unknown): void => void unhandled.push(thrown);
  process.on("unhandledRejection", note);
  try {
    const rejecting = (): unknown => Promise.reject(new Error("S3"));
    const row = v.object({ a: text });
    expect(write(row, rejecting())).toMatch(/is a promise/);
    expect(write(row, { a: rejecting() })).toMatch(/is a promise/);
    expect(write(v.array(row), [rejecting(), rejecting()])).toMatch(/is a promise/);
    expect(write(row, { a: 1, b: { c: [rejecting()] } })).toMatch(/must be text/);
    expect(write(v.any(), Object.assign([new Person("Ada")], { cycle }))).toMatch(/is an instance of a class/);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(unhandled).toEqual([]);
  } finally {
    process.off("unhandledRejection", note);
  }
});

describe("values that cannot be written (JB-22): unions and transformations", () => {
  test("nested unions write each value once, however deep", () => {
    let reads = 0;
    const tree: v.GenericSchema = v.lazy(() =>
      v.union([
        v.object({ next: v.optional(tree), leaf: v.optional(text), kind: v.literal("a") }),
        v.object({ next: v.optional(tree), leaf: v.optional(text), kind: v.literal("b") }),
      ]),
    );
    const leaf = {
      get leaf(): string {
        reads++;
        return "x";
      },
      kind: "c",
    };
    let value: object = leaf;
    for (let level = 0; level < 100; level++) value = { next: value, kind: "b" };
    expect(write(tree, value)).toMatch(/is of none of the shapes it may have$/);
    expect(reads).toBeLessThan(10);
  });

  test("nested unions look for an omitted member once, however deep", () => {
    let looks = 0;
    const tree: v.GenericSchema = v.lazy(() =>
      v.union([v.object({ next: v.optional(tree), last: v.optional(whole) }), whole]),
    );
    let value: object = {
      last: 1,
      get other(): string {
        looks++;
        return "no shape declares it";
      },
    };
    for (let level = 0; level < 100; level++) value = { next: value };
    expect(write(tree, value)).toMatch(/\{"last":1\}\}+$/);
    expect(looks).toBeLessThan(10);
  });

  test("a transformation to a value that JSON does not have is refused when the writer is made", () => {
    expect(() => compileWriter(v.pipe(text, v.toDate()))).toThrow(
      "v.toDate makes a Date, which has no JSON form: use Shape.instant.",
    );
    expect(() => compileWriter(v.pipe(text, v.toBigint()))).toThrow(/Shape\.int64/);
    expect(() => compileWriter(v.object({ a: v.date() }))).toThrow(
      "v.date is not a shape of JSON: use Shape.instant, or Shape.date for a day.",
    );
  });
});
