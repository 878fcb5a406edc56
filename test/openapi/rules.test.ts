/** Rules of shapes that JSON Schema has a keyword for, shapes that forbid null again, and those without one. */
import { describe, expect, it } from "vitest";
import { Openapi, Path, Returns, Shape, json, post } from "usher-http";
import type { Route } from "usher-http";
import * as v from "valibot";
import { described, jsonSchema, onlyOperation } from "./described.ts";

function routeOf(shape: Shape): Route {
  return post(Path.of("a"), { inputs: { a: json(shape) }, returns: Returns.json(shape) }, ({ a }) => a);
}

const text = v.string();
const texts = v.array(text);
const map = v.record(text, text);

describe("a rule is a keyword, for both directions", () => {
  it.each<[string, v.GenericSchema, object]>([
    ["an end", v.pipe(text, v.endsWith("a.b")), { type: "string", pattern: "a\\.b$" }],
    ["a part", v.pipe(text, v.includes("a.b")), { type: "string", pattern: "a\\.b" }],
    ["a value", v.pipe(text, v.value("a")), { type: "string", const: "a" }],
    ["another value", v.pipe(text, v.notValue("a")), { type: "string", not: { const: "a" } }],
    ["values", v.pipe(text, v.values(["a", "b"])), { type: "string", enum: ["a", "b"] }],
    ["other values", v.pipe(text, v.notValues(["a"])), { type: "string", not: { enum: ["a"] } }],
    ["an item", v.pipe(texts, v.includes("a")), { type: "array", items: { type: "string" }, contains: { const: "a" } }],
    [
      "no such item",
      v.pipe(texts, v.excludes("a")),
      { type: "array", items: { type: "string" }, not: { contains: { const: "a" } } },
    ],
    ["code points", v.pipe(text, v.codePoints(2)), { type: "string", minLength: 2, maxLength: 2 }],
    ["none", v.pipe(texts, v.empty()), { type: "array", items: { type: "string" }, maxItems: 0 }],
    [
      "at most so many entries",
      v.pipe(map, v.maxEntries(2)),
      { type: "object", additionalProperties: { type: "string" }, maxProperties: 2 },
    ],
    [
      "so many entries",
      v.pipe(map, v.entries(2)),
      { type: "object", additionalProperties: { type: "string" }, minProperties: 2, maxProperties: 2 },
    ],
    ["nothing but a rest", v.tupleWithRest([], text), { type: "array", items: { type: "string" }, minItems: 0 }],
    ["null twice", v.nullable(v.nullable(text)), { anyOf: [{ type: "string" }, { type: "null" }] }],
    ["never null", v.nonNullable(v.nullable(text)), { type: "string" }],
    ["never absent", v.nonOptional(v.optional(text)), { type: "string" }],
    [
      "null that a union has, excluded",
      v.nonNullable(v.union([text, v.null()])),
      { allOf: [{ anyOf: [{ type: "string" }, { type: "null" }] }, { not: { type: "null" } }] },
    ],
    ["members of nothing", v.record(text, v.union([v.never()])), { type: "object", additionalProperties: { not: {} } }],
  ])("%s", (_what, shape, schema) => {
    const { requestBody, responses } = onlyOperation(described([routeOf(shape)]));
    expect([jsonSchema(requestBody), jsonSchema(responses["200"])]).toEqual([schema, schema]);
  });

  it("a 64-bit value is a number, in the form that is written", () => {
    const shape = v.pipe(Shape.int64, v.notValue(0n), v.values([1n, 2n]));
    const { responses } = onlyOperation(described([routeOf(shape)]));
    expect(jsonSchema(responses["200"])).toEqual({
      type: "integer",
      format: "int64",
      not: { const: 0 },
      enum: [1, 2],
    });
  });

  it("a member that is never null may still be absent", () => {
    const shape = v.object({ a: v.nonNullable(v.optional(text)) }) as unknown as Shape;
    const { responses } = onlyOperation(described([routeOf(shape)]));
    expect(jsonSchema(responses["200"])).toEqual({ type: "object", properties: { a: { type: "string" } } });
  });

  it("a tag that is not a string has no mapping", () => {
    const named = (name: string, t: number) => Shape.named(name, v.object({ t: v.literal(t) }));
    const shape = v.variant("t", [named("One", 1), named("Two", 2)] as never) as unknown as Shape;
    const { requestBody } = onlyOperation(described([routeOf(shape)]));
    expect(jsonSchema(requestBody)).toEqual({
      oneOf: [{ $ref: "#/components/schemas/One" }, { $ref: "#/components/schemas/Two" }],
    });
  });
});

describe("the schemas for reading and writing differ", () => {
  const textOrNull = { anyOf: [{ type: "string" }, { type: "null" }] };
  const list = { type: "array", items: textOrNull };
  const either = { anyOf: [textOrNull, { type: "number" }] };
  const oneOfThree = { anyOf: [{ anyOf: [{ type: "string" }, { type: "number" }] }, { type: "null" }] };
  it.each<[string, v.GenericSchema, object, object]>([
    ["null that is a value, where nothing may be absent", v.nonOptional(v.nullable(text)), textOrNull, textOrNull],
    ["the same of a member that may be absent", v.nonOptional(v.optional(v.nullable(text))), textOrNull, textOrNull],
    ["the same of any JSON", v.nonOptional(v.unknown()), {}, {}],
    [
      "null for what may be absent, read by a pipe",
      v.nonOptional(
        v.pipe(
          v.optional(text),
          v.check(() => true),
        ),
      ),
      { allOf: [textOrNull, { not: { type: "null" } }] },
      { type: "string" },
    ],
    ["null of what may be absent too", v.nullable(v.optional(text)), textOrNull, textOrNull],
    ["a value by itself that may be absent", v.optional(text), textOrNull, textOrNull],
    ["any of two values, by itself", v.union([v.optional(text), v.undefined()]), textOrNull, textOrNull],
    ["items that may be null or absent", v.array(v.nullish(text)), list, list],
    ["null beside what may be absent", v.nullable(v.union([v.optional(text), v.number()])), either, oneOfThree],
    ["null around what must be there", v.nullable(v.nonOptional(v.optional(text))), textOrNull, textOrNull],
    ["null beside a default for it", v.nullable(v.nullable(text, "a")), textOrNull, textOrNull],
    ["null that a function makes", v.nullish(text, () => null), textOrNull, textOrNull],
    ["null of any JSON", v.nullable(v.unknown()), {}, {}],
    ["null once, of what may be absent", v.nullish(v.optional(v.nullable(text))), textOrNull, textOrNull],
    [
      "null of what a pipe makes no null of",
      v.nullish(
        v.pipe(
          v.nullable(text),
          v.transform((sent) => sent?.length),
          v.number(),
        ),
      ),
      textOrNull,
      { anyOf: [{ type: "number" }, { type: "null" }] },
    ],
    [
      "names that are numbers",
      v.record(v.pipe(text, v.toNumber()), text),
      { type: "object", additionalProperties: { type: "string" } },
      { type: "object", additionalProperties: { type: "string" } },
    ],
    [
      "a member that may be absent, and is changed if it is not",
      v.object({
        a: v.pipe(
          v.optional(text),
          v.transform((sent) => sent?.length),
          v.number(),
        ),
      }),
      { type: "object", properties: { a: textOrNull } },
      { type: "object", properties: { a: { type: "number" } } },
    ],
  ])("%s", (_what, shape, read, written) => {
    const { requestBody, responses } = onlyOperation(described([routeOf(shape)]));
    expect([jsonSchema(requestBody), jsonSchema(responses["200"])]).toEqual([read, written]);
  });

  it("a tagged union whose objects are transformed is a union of the results", () => {
    const changed = v.pipe(
      v.object({ t: v.literal("a") }),
      v.transform(({ t }) => ({ kind: t as string })),
      v.object({ kind: text }),
    );
    const shape = v.variant("t", [changed, v.object({ t: v.literal("b") })]);
    const { requestBody, responses } = onlyOperation(described([routeOf(shape)]));
    const tagged = (t: string) => ({ type: "object", properties: { t: { const: t } }, required: ["t"] });
    const made = { type: "object", properties: { kind: { type: "string" } }, required: ["kind"] };
    expect(jsonSchema(requestBody)).toEqual({ oneOf: [tagged("a"), tagged("b")] });
    expect(jsonSchema(responses["200"])).toEqual({ anyOf: [made, tagged("b")] });
  });
});

describe("rules that JSON Schema cannot express are reported", () => {
  it.each<[string, v.GenericSchema, string]>([
    ["a bound of text", v.pipe(text, v.minValue("a")), "has a bound that JSON Schema cannot write"],
    [
      "a bound past 2^53",
      v.pipe(v.number(), v.integer(), v.minValue(2 ** 60)),
      "has a bound that JSON Schema cannot write",
    ],
    [
      "a step past 2^53",
      v.pipe(v.number(), v.integer(), v.multipleOf(2 ** 60)),
      "has a bound that JSON Schema cannot write",
    ],
    ["a pattern without the flag u", v.pipe(text, v.regex(/]/)), "has a pattern that JSON Schema cannot write"],
    ["a value past 2^53", v.pipe(Shape.int64, v.notValue(2n ** 60n)), "has a value that JSON Schema cannot write"],
    [
      "an instant among others",
      v.pipe(Shape.instant, v.values([new Date(0)])),
      "has a value that JSON Schema cannot write",
    ],
    [
      "an item that is no JSON",
      v.pipe(v.array(Shape.int64), v.includes(2n ** 60n)),
      "has a value that JSON Schema cannot write",
    ],
    ["bytes", v.pipe(text, v.minBytes(3)), "has a rule that JSON Schema cannot write"],
    ["words", v.pipe(text, v.maxWords("en", 3)), "has a rule that JSON Schema cannot write"],
    ["a sum of digits", v.pipe(text, v.creditCard()), "has a rule that JSON Schema cannot write"],
    // TypeScript refuses them as literals.
    ...["^\\p{L}+$", "^a\\P{Lu}$", "^\\u{61}$"].map((source): [string, v.GenericSchema, string] => [
      `${source}, which means something else with the flag u`,
      v.pipe(text, v.regex(new RegExp(source))),
      "has a pattern that JSON Schema cannot write",
    ]),
  ])("%s", (_what, shape, why) => {
    expect(Openapi.report([routeOf(shape)]).join("\n")).toContain(why);
  });
});
