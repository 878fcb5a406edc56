/** What several shapes make of one value: intersections, tagged unions and shapes that forbid null or absence again. */
import { describe, expect, test } from "vitest";
import * as v from "valibot";
import { Shape } from "usher-http";
import type { Shape as AnyShape } from "../../src/schema/valibot.ts";
import { compileWriter } from "../../src/schema/write.ts";
import { problemsOf, valueOf } from "./reading.ts";

const text = v.string();
const unreadable = ["body", "malformed", "This could not be read."] as const;
const instant = Shape.instant as unknown as v.GenericSchema<string, Date>;
const length = v.pipe(
  text,
  v.transform((sent) => sent.length),
);
const loose = v.looseObject({ a: text });
const kinds = (shape: AnyShape): AnyShape => v.object({ a: shape });

describe("an intersection", () => {
  test.each<[string, v.GenericSchema, string, unknown]>([
    ["of an instant", v.intersect([instant, instant]), '"2026-09-30T12:00:00Z"', new Date("2026-09-30T12:00:00Z")],
    [
      "of lists",
      v.intersect([v.array(v.object({ a: text })), v.array(v.object({ b: text }))]),
      '[{"a":"x","b":"y"}]',
      [{ a: "x", b: "y" }],
    ],
    [
      "of members",
      v.intersect([v.object({ in: v.object({ a: text }) }), v.object({ in: v.object({ b: text }) })]),
      '{"in":{"a":"x","b":"y"}}',
      { in: { a: "x", b: "y" } },
    ],
    ["that may be left out", v.object({ a: v.optional(v.intersect([text, text])) }), "{}", {}],
    [
      "of a loose object and one that reads null for no member",
      v.intersect([
        loose,
        v.object({ b: v.optional(text), c: v.optional(text, "c"), in: v.object({ d: v.optional(text) }) }),
      ]),
      '{"a":"x","b":null,"c":null,"in":{"d":null},"e":null}',
      { a: "x", c: "c", in: {}, e: null },
    ],
    [
      "of a loose object and one that reads another value",
      v.intersect([loose, v.object({ at: instant })]),
      '{"a":"x","at":"2026-09-30T12:00:00Z"}',
      { a: "x", at: new Date("2026-09-30T12:00:00Z") },
    ],
  ])("%s is one value", (_what, shape, sent, value) => {
    expect(valueOf(shape, sent)).toEqual(value);
  });

  test.each<[string, v.GenericSchema, string]>([
    ["a text and its length", v.intersect([text, length]), '"a"'],
    [
      "two instants",
      v.intersect([
        instant,
        v.pipe(
          instant,
          v.transform(() => new Date(0)),
        ),
      ]),
      '"2026-09-30T12:00:00Z"',
    ],
    [
      "lists of two lengths",
      v.intersect([
        v.array(text),
        v.pipe(
          v.array(text),
          v.transform(() => []),
        ),
      ]),
      '["a"]',
    ],
    ["lists of other items", v.intersect([v.array(text), v.array(length)]), '["a"]'],
    ["objects of other members", v.intersect([v.object({ a: text }), v.object({ a: length })]), '{"a":"x"}'],
  ])("that reads %s is refused", (_what, shape, sent) => {
    expect(problemsOf(shape, sent)).toEqual([unreadable]);
  });
});

describe("an intersection of other shapes", () => {
  test("that both of its shapes refer to is read and written once, however deep", () => {
    let reads = 0;
    const counted = v.pipe(
      text,
      v.check(() => ++reads > 0),
    );
    const next = v.optional(v.lazy((): v.GenericSchema => tree));
    const tree: v.GenericSchema = v.intersect([v.object({ a: counted, next }), v.object({ next })]);
    const sent = `${'{"a":"x","next":'.repeat(100)}{"a":"x"}${"}".repeat(100)}`;
    const value = valueOf(tree, sent);
    expect(reads).toBe(101);
    expect(compileWriter(tree).write(value)).toEqual({ ok: true, value: sent });
    expect(problemsOf(tree, sent.replace('x"}', 'x","next":7}'))).toHaveLength(1);
  });

  test("of no shapes is invalid", () => {
    expect(() => valueOf(v.intersect([]) as unknown as AnyShape, "{}")).toThrow("v.intersect of no shapes");
  });
});

describe("the tag of a union", () => {
  const b = v.object({ t: v.literal("b"), b: text });
  test.each<[string, v.GenericSchema]>([
    ["several words", v.union([v.literal("a"), v.picklist(["c", "d"])])],
    ["a word or null", v.nullable(v.literal("a"))],
    ["a word, null or nothing", v.nullish(v.literal("a"))],
    ["a word or nothing", v.exactOptional(v.literal("a"))],
    ["null or a word", v.union([v.null(), v.literal("a")])],
    [
      "changed by its shape",
      v.pipe(
        v.literal("a"),
        v.transform(() => "a"),
      ),
    ],
    ["replaced where it is wrong", v.fallback(v.literal("a"), "a")],
    ["one of a text", v.union([v.literal("a"), text])],
  ])("may be %s", (_what, tag) => {
    const shape = v.variant("t", [v.object({ t: tag as v.GenericSchema<"a">, a: text }), b]) as unknown as AnyShape;
    expect(valueOf(shape, '{"t":"a","a":"x"}')).toEqual({ t: "a", a: "x" });
    expect(valueOf(shape, '{"t":"b","b":"x"}')).toEqual({ t: "b", b: "x" });
  });

  test("that several objects have is tried with each", () => {
    const shape = v.variant("t", [
      v.object({ t: v.literal(1), a: text }),
      v.object({ t: v.literal(1), b: text }),
    ]) as unknown as AnyShape;
    expect(valueOf(shape, '{"t":1,"b":"x"}')).toEqual({ t: 1, b: "x" });
    expect(problemsOf(shape, '{"t":1}')).toEqual([["body.a", "required", "This is required."]]);
    expect(problemsOf(shape, '{"t":9007199254740993}')).toEqual([["body.t", "unknown_word", "This must be 1."]]);
  });

  test("that is wrong does not change the places of later problems", () => {
    const tagged = v.variant("t", [v.object({ t: v.literal("a"), a: text }), b]) as unknown as AnyShape;
    const wrong = (at: string) => [at, "unknown_word", `This must be one of "a" or "b".`] as const;
    const missing = (at: string) => [at, "required", "This is required."] as const;
    expect(problemsOf(v.array(tagged), '[{"t":"x"},{},{"t":"y"},{"t":"a"}]')).toEqual([
      wrong("body[0].t"),
      missing("body[1].t"),
      wrong("body[2].t"),
      missing("body[3].a"),
    ]);
    const both = v.intersect([tagged, v.object({ in: v.object({ c: text }) })]);
    expect(problemsOf(both, '{"t":"x","in":{}}')).toEqual([wrong("body.t"), missing("body.in.c")]);
  });
});

describe("a shape that excludes null or absence again", () => {
  const required = ["body.a", "required", "This is required."] as const;
  const notNull = ["body.a", "unexpected_type", "This must be text, not null."] as const;
  test.each<[string, v.GenericSchema, string, readonly unknown[]]>([
    ["an optional one", v.nonOptional(v.optional(text)), "{}", [required]],
    [
      "an optional number",
      v.nonOptional(v.optional(v.number())),
      '{"a":true}',
      [["body.a", "unexpected_type", "This must be a number, not true or false."]],
    ],
    ["a nullable one", v.nonNullable(v.nullable(text)), '{"a":null}', [notNull]],
    ["a nullish one, sent null", v.nonNullish(v.nullish(text)), '{"a":null}', [notNull]],
    [
      "one of a union",
      v.union([v.nonNullable(v.nullable(text)), v.number()]),
      '{"a":null}',
      [["body.a", "unexpected_type", "This must be text or a number, not null."]],
    ],
    ["one that may be undefined", v.nonOptional(v.undefinedable(text)), "{}", [required]],
  ])("%s", (_what, shape, sent, problems) => {
    expect(problemsOf(kinds(shape), sent)).toEqual(problems);
  });
});
