import { describe, expect, test } from "vitest";
import * as v from "valibot";
import { compileReader } from "../../src/schema/read.ts";
import { compileWriter } from "../../src/schema/write.ts";
import type { Shape } from "../../src/schema/valibot.ts";
import { problemsOf, valueOf } from "./reading.ts";
import type { Told } from "./reading.ts";

const text = v.string();
const notText = (at: string, found: string): Told => [at, "unexpected_type", `This must be text, not ${found}.`];

describe("members and names", () => {
  test("only declared members are read; a strict object refuses others, and a loose one keeps them", () => {
    const sent = '{"b":2,"a":"x","c":[3]}';
    expect(valueOf(v.object({ a: text }), sent)).toEqual({ a: "x" });
    expect(valueOf(v.looseObject({ a: text }), sent)).toEqual({ a: "x", b: 2, c: [3] });
    expect(valueOf(v.objectWithRest({ a: text }, v.any()), sent)).toEqual({ a: "x", b: 2, c: [3] });
    expect(problemsOf(v.strictObject({ a: text }), sent)).toEqual([
      ["body.b", "unknown_member", "This is not a member this object has."],
      ["body.c", "unknown_member", "This is not a member this object has."],
    ]);
  });

  test("a name of Object.prototype is a member only when it was sent", () => {
    const shape = v.object({ toString: v.optional(text), constructor: text, valueOf: v.optional(text, "x") });
    expect(problemsOf(shape, "{}")).toEqual([["body.constructor", "required", "This is required."]]);
    const value = valueOf(shape, '{"constructor":"c","toString":"t"}');
    expect(Object.entries(value)).toEqual([
      ["constructor", "c"],
      ["toString", "t"],
      ["valueOf", "x"],
    ]);
  });

  test.each([
    ["any JSON", v.any()],
    ["a record", v.record(text, v.any())],
    ["a loose object", v.looseObject({})],
    ["an object with a rest", v.objectWithRest({}, v.unknown())],
    ["a custom shape", v.custom<object>(() => true)],
  ] as readonly [string, Shape][])("%s keeps no name that reaches a prototype", (_name, shape) => {
    const sent = '{"__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}},"a":{"b":[{"__proto__":1}]}}';
    const value = valueOf(shape, sent) as { [name: string]: unknown };
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(["a"]);
    expect(JSON.stringify(value)).toBe('{"a":{"b":[{}]}}');
    expect((Object.assign({}, value) as { admin?: boolean }).admin).toBeUndefined();
  });

  test("a member given twice takes the last value", () => {
    expect(valueOf(v.object({ a: v.number() }), '{"a":"x","a":2}')).toEqual({ a: 2 });
  });

  test("a record may have invalid names and invalid values", () => {
    const shape = v.record(v.picklist(["a", "b"]), v.number());
    expect(problemsOf(shape, '{"c d":"x"}')).toEqual([
      ['body["c d"][name]', "unknown_word", 'This must be one of "a" or "b".'],
      ['body["c d"]', "unexpected_type", "This must be a number, not text."],
    ]);
  });
});

describe("absent and null", () => {
  const shape = v.object({
    a: v.optional(text),
    b: v.nullable(text),
    c: v.nullish(text),
    d: v.nullish(text, "d"),
    e: v.exactOptional(text),
  });

  test("an optional member may be null; a nullable one may not be absent", () => {
    expect(valueOf(shape, '{"a":null,"b":null,"c":null,"d":null,"e":null}')).toEqual({ b: null, c: null, d: "d" });
    expect(valueOf(shape, '{"b":"x"}')).toEqual({ b: "x", d: "d" });
    expect(problemsOf(shape, "{}")).toEqual([["body.b", "required", "This is required."]]);
  });

  test("a wrong type is reported with null if null is allowed", () => {
    expect(problemsOf(shape, '{"a":1,"b":2}')).toEqual([
      notText("body.a", "a number"),
      ["body.b", "unexpected_type", "This must be text or null, not a number."],
    ]);
  });

  test("wrappers that exclude null or absence again", () => {
    expect(problemsOf(v.object({ a: v.nonNullable(v.nullable(text)) }), '{"a":null}')).toEqual([
      notText("body.a", "null"),
    ]);
    expect(problemsOf(v.required(v.object({ a: v.optional(text) })), "{}")).toEqual([
      ["body.a", "required", "This is required."],
    ]);
    const changed = v.transform((sent: string | undefined) => sent ?? "none");
    for (const a of [v.optional(text), v.optional(text, "x"), v.pipe(v.optional(text), changed)]) {
      const problem = ["body.a", "required", "This is required."];
      expect(problemsOf(v.required(v.object({ a })), '{"a":null}')).toEqual([problem]);
    }
    expect(valueOf(v.object({ a: v.nullable(v.nonOptional(v.optional(text))) }), '{"a":null}')).toEqual({ a: null });
    expect(valueOf(v.partial(v.object({ a: text })), "{}")).toEqual({});
  });

  test("null for a member that v.partial made optional again is an absent member, and not its default", () => {
    const state = v.optional(v.picklist(["new", "sent"]), "new");
    const change = v.partial(v.object({ state, note: v.nullable(text), size: v.nullish(v.number(), 1) }));
    expect(valueOf(change, "{}")).toEqual({});
    expect(valueOf(change, '{"state":null,"note":null,"size":null}')).toEqual({ note: null, size: 1 });
    expect(valueOf(v.optional(v.optional(text, "inner"), "outer"), "null")).toBe("outer");
  });

  test("a default is read like JSON, and created again for each body", () => {
    let calls = 0;
    const given = v.object({
      list: v.optional(v.array(text), ["a"]),
      upper: v.optional(v.pipe(text, v.toUpperCase()), "x"),
      n: v.optional(v.number(), () => ++calls),
    });
    const reader = compileReader(given);
    const [one, two] = [reader.readText("{}"), reader.readText("")];
    expect(one).toEqual({ ok: true, value: { list: ["a"], upper: "X", n: 1 } });
    expect(two).toEqual({ ok: true, value: { list: ["a"], upper: "X", n: 2 } });
    expect(one.ok && two.ok && one.value.list !== two.value.list).toBe(true);
  });

  test("a fallback replaces an invalid value, and a missing one", () => {
    const lenient = v.object({ a: v.fallback(v.pipe(v.number(), v.minValue(1)), 7) });
    expect(valueOf(lenient, '{"a":"x"}')).toEqual({ a: 7 });
    expect(valueOf(lenient, '{"a":0}')).toEqual({ a: 7 });
    expect(valueOf(lenient, "{}")).toEqual({ a: 7 });
    expect(valueOf(lenient, '{"a":2}')).toEqual({ a: 2 });
  });
});

describe("lists", () => {
  test("a tuple has its items, and may omit the optional ones", () => {
    const pair = v.tuple([text, v.optional(v.number())]);
    expect(valueOf(pair, '["a"]')).toEqual(["a", undefined]);
    expect(problemsOf(pair, "[]")).toEqual([["body", "too_few", "This must have at least 1 item."]]);
    expect(problemsOf(pair, '["a",1,2]')).toEqual([["body", "too_many", "This must have at most 2 items."]]);
    expect(valueOf(v.tuple([text, v.fallback(v.number(), 7)]), '["a"]')).toEqual(["a", 7]);
    expect(valueOf(v.tuple([text, v.undefinedable(v.number())]), '["a"]')).toEqual(["a", undefined]);
    expect(valueOf(v.tuple([text, v.undefinedable(v.number(), 7)]), '["a"]')).toEqual(["a", 7]);
    expect(valueOf(v.looseTuple([text]), '["a",{"b":1}]')).toEqual(["a", { b: 1 }]);
    expect(problemsOf(v.tupleWithRest([text], v.number()), '["a",1,"2"]')).toEqual([
      ["body[2]", "unexpected_type", "This must be a number, not text."],
    ]);
  });

  test("an invalid item hides neither the next one nor the limit", () => {
    expect(problemsOf(v.pipe(v.array(text), v.minLength(3)), "[1,2]")).toEqual([
      notText("body[0]", "a number"),
      notText("body[1]", "a number"),
      ["body", "too_few", "This must have at least 3 items."],
    ]);
  });

  test("a transformed item is transformed in a new list", () => {
    expect(valueOf(v.array(v.pipe(text, v.trim())), '["a"," b ","c"]')).toEqual(["a", "b", "c"]);
  });
});

const object = (name: string, shape: v.GenericSchema): v.GenericSchema => v.object({ [name]: shape });

describe("unions: of any shapes", () => {
  test("types that no option accepts are reported together", () => {
    expect(problemsOf(v.union([text, v.number(), v.array(text)]), "true")).toEqual([
      ["body", "unexpected_type", "This must be text, a number or a list, not true or false."],
    ]);
    expect(problemsOf(v.union([]), "true")).toEqual([
      ["body", "unexpected_type", "This must be nothing at all, not true or false."],
    ]);
  });

  test("the only option that accepts the type reports the problems", () => {
    expect(problemsOf(v.union([text, object("a", v.number())]), '{"a":"x"}')).toEqual([
      ["body.a", "unexpected_type", "This must be a number, not text."],
    ]);
  });

  test("of several, the first that fits is used; else the one with the type reports; else the problem is general", () => {
    const shape = v.union([object("a", v.pipe(v.number(), v.minValue(1))), object("b", text), object("a", text)]);
    expect(valueOf(shape, '{"a":"x"}')).toEqual({ a: "x" });
    expect(problemsOf(shape, '{"a":0}')).toEqual([["body.a", "too_small", "This must be at least 1."]]);
    expect(problemsOf(shape, '{"a":[]}')).toEqual([["body", "malformed", "This could not be read."]]);
    expect(problemsOf(v.union([v.literal("a"), v.literal(1)]), "true")).toEqual([
      ["body", "unexpected_type", 'This must be one of "a" or 1, not true or false.'],
    ]);
    expect(problemsOf(v.union([v.literal("a"), v.picklist(["b", "c"])]), '"d"')).toEqual([
      ["body", "unknown_word", 'This must be one of "a", "b" or "c".'],
    ]);
  });

  test("an enum with a fallback inside of a union uses the fallback", () => {
    const word = v.fallback(v.picklist(["a", "b"]), "b");
    expect(valueOf(v.union([word, v.literal("c")]), '"x"')).toBe("b");
    expect(valueOf(v.union([v.literal("c"), word]), '"c"')).toBe("c");
  });

  test("a shape that sorts its list does not sort it for another shape", () => {
    const sorted = v.pipe(v.array(v.number()), v.sortItems(), v.maxLength(2));
    expect(valueOf(v.union([sorted, v.array(v.number())]), "[3,1,2]")).toEqual([3, 1, 2]);
    expect(valueOf(v.union([sorted, text]), "[3,1]")).toEqual([1, 3]);
  });

  test("nested unions read each value once, however deep", () => {
    let calls = 0;
    const counted = v.pipe(
      text,
      v.check(() => ++calls > 0),
    );
    const tree: v.GenericSchema = v.lazy(() =>
      v.union([
        v.object({ next: v.optional(tree), leaf: v.optional(counted), kind: v.literal("a") }),
        v.object({ next: v.optional(tree), leaf: v.optional(counted), kind: v.literal("b") }),
      ]),
    );
    const deep = `${'{"next":'.repeat(100)}{"leaf":"x","kind":"c"}${',"kind":"b"}'.repeat(100)}`;
    expect(problemsOf(tree, deep)).toEqual([["body", "malformed", "This could not be read."]]);
    expect(calls).toBeLessThan(5);
  });
});

describe("unions: a message of a function", () => {
  test("belongs to the union, and no shape reads the value again for it, however deep", () => {
    let calls = 0;
    const counted = v.pipe(
      text,
      v.check(() => ++calls > 0),
    );
    const filter: v.GenericSchema = v.lazy(() =>
      v.union(
        [
          v.object({ op: v.literal("and"), of: v.array(filter), by: v.optional(counted) }),
          v.object({ op: v.literal("or"), of: v.array(filter), by: v.optional(counted) }),
        ],
        ({ expected, received }) => `No ${expected}: ${received}.`,
      ),
    );
    const deep = `${'{"op":"and","of":['.repeat(100)}{"op":"not","of":[],"by":"x"}${"]}".repeat(100)}`;
    expect(problemsOf(filter, deep)).toEqual([["body", "malformed", "No Object: Object."]]);
    expect(calls).toBeLessThan(5);
    expect(problemsOf(filter, "7")).toEqual([["body", "unexpected_type", "No Object: 7."]]);
  });
});

describe("unions: tagged, and intersections", () => {
  test("a tagged union reports a missing or unknown tag, and reads the tag of a nested union", () => {
    const shape = v.variant("kind", [
      v.object({ kind: v.literal("a"), x: text }),
      v.variant("size", [
        v.object({ kind: v.picklist(["b", "c"]), size: v.literal(1), y: text }),
        v.object({ kind: v.literal("b"), size: v.literal(2), z: text }),
      ]),
    ]);
    expect(valueOf(shape, '{"z":"q","size":2,"kind":"b"}')).toEqual({ z: "q", size: 2, kind: "b" });
    expect(problemsOf(shape, '{"kind":"d"}')).toEqual([
      ["body.kind", "unknown_word", 'This must be one of "a", "b" or "c".'],
    ]);
    expect(problemsOf(shape, '{"kind":"c","size":3}')).toEqual([
      ["body.size", "unknown_word", "This must be one of 1 or 2."],
    ]);
    expect(problemsOf(shape, "[]")).toEqual([["body", "unexpected_type", "This must be an object, not a list."]]);
  });

  test("a tag with a default may be missing", () => {
    const shape = v.variant("kind", [
      v.object({ kind: v.optional(v.literal("a"), "a"), x: text }),
      v.object({ kind: v.literal("b") }),
    ]);
    expect(valueOf(shape, '{"x":"y"}')).toEqual({ kind: "a", x: "y" });
    expect(valueOf(shape, '{"x":"y","kind":null}')).toEqual({ kind: "a", x: "y" });
  });

  test("an intersection reads with each shape, and reports a problem once", () => {
    const shape = v.intersect([v.object({ a: text }), v.object({ b: v.number() })]);
    expect(valueOf(shape, '{"a":"x","b":1,"c":2}')).toEqual({ a: "x", b: 1 });
    expect(problemsOf(shape, "3")).toEqual([["body", "unexpected_type", "This must be an object, not a number."]]);
    expect(problemsOf(shape, "{}")).toEqual([
      ["body.a", "required", "This is required."],
      ["body.b", "required", "This is required."],
    ]);
  });
});

describe("recursive shapes", () => {
  interface Tree {
    readonly name: string;
    readonly children?: readonly Tree[] | undefined;
  }
  const tree: v.GenericSchema<Tree> = v.object({
    name: text,
    children: v.optional(v.lazy(() => v.array(tree))),
  });

  test("are read as deep as JSON may be", () => {
    expect(problemsOf(tree, '{"name":"a","children":[{"name":"b","children":[{"name":3}]}]}')).toEqual([
      notText("body.children[0].children[0].name", "a number"),
    ]);
    const deep = '{"name":"a","children":['.repeat(255) + '{"name":"a"}' + "]}".repeat(255);
    expect(compileReader(tree).readText(deep).ok).toBe(true);
  });

  test("a lazy shape that depends on the value chooses for each value", () => {
    const shape = v.lazy((value) => (Array.isArray(value) ? v.array(v.number()) : text));
    expect(valueOf(shape, "[1]")).toEqual([1]);
    expect(valueOf(shape, '"a"')).toBe("a");
    expect(problemsOf(shape, "2")).toEqual([notText("body", "a number")]);
  });
});

test("a list of problems is limited to about a mebibyte, for any body", () => {
  const name = "n".repeat(100_000);
  const read = compileReader(v.record(text, v.array(text))).readText(`{"${name}":[${"1,".repeat(50_000)}1]}`);
  expect(read.ok).toBe(false);
  if (!read.ok) expect(JSON.stringify(read.error).length).toBeLessThan(1.3 * 1024 * 1024);
});

describe("shapes that no JSON value can have", () => {
  test.each([
    ["a member", v.object({ starts: v.date() }), "starts"],
    [
      "a member of items of a member",
      v.object({ days: v.array(v.object({ ends: v.optional(v.date()) })) }),
      "days.ends",
    ],
    ["a member of one of several", v.union([text, v.object({ at: v.date() })]), "at"],
  ] as readonly (readonly [string, Shape, string])[])("%s is named", (_, shape, at) => {
    const message = `v.date is not a shape of JSON: use Shape.instant, or Shape.date for a day. It is at ${at}.`;
    expect(() => compileReader(shape)).toThrow(message);
    expect(() => compileWriter(shape)).toThrow(message);
  });

  test.each([
    ["a date", v.date(), "v.date is not a shape of JSON: use Shape.instant, or Shape.date for a day."],
    ["a bigint", v.object({ a: v.optional(v.bigint()) }), "v.bigint is not a shape of JSON: use Shape.int64."],
    ["a map", v.array(v.map(text, text)), "v.map is not a shape of JSON: use v.record."],
    ["a set", v.set(text), "v.set is not a shape of JSON: use v.array."],
    ["an instance", v.instance(URL), /^v\.instance is not a shape of JSON/],
    ["a promise", v.promise(), /^v\.promise is not a shape of JSON/],
    ["a function", v.function(), /^v\.function is not a shape of JSON/],
    ["a symbol", v.symbol(), /^v\.symbol is not a shape of JSON/],
    ["NaN", v.nan(), /^v\.nan is not a shape of JSON/],
    ["a blob", v.pipe(v.blob(), v.maxSize(1)), /^v\.blob is not a shape of JSON: read it with Form\.File/],
    ["a bigint word", v.literal(1n), "v.literal holds a bigint, which is not a value of JSON: use Shape.int64."],
    [
      "waiting",
      v.pipeAsync(
        text,
        v.checkAsync(async () => true),
      ),
      /^v\.string is asynchronous, and a shape must be synchronous/,
    ],
    ["a member named __proto__", v.object({ ["__proto__"]: text }), /^v\.object declares a member named __proto__/],
  ] as readonly [string, Shape, string | RegExp][])(
    "%s is refused when the reader is made",
    (_name, shape, message) => {
      expect(() => compileReader(shape)).toThrow(message);
    },
  );

  test("no value fits v.never, and a member of v.optional(v.never()) may not be sent", () => {
    const shape = v.object({ a: v.optional(v.never()) });
    expect(valueOf(shape, "{}")).toEqual({});
    expect(problemsOf(shape, '{"a":1}')).toEqual([
      ["body.a", "unexpected_type", "This must be nothing at all, not a number."],
    ]);
  });
});
