/** Shapes as JSON Schema (contract 4.5; rows OA-24, OA-40 to OA-48). */
import { describe, expect, it } from "vitest";
import { Openapi, Path, Returns, Shape, json, post } from "usher-http";
import type { Route } from "usher-http";
import * as v from "valibot";
import { add } from "./add.ts";
import { described, jsonSchema, memberOf, onlyOperation } from "./described.ts";
import type { Schema } from "./described.ts";

/** A route that reads and answers a shape. */
function of(shape: Shape): Route {
  return post(Path.of("a"), { inputs: { a: json(shape) }, returns: Returns.json(shape) }, ({ a }) => a);
}

function both(shape: Shape): { read: Schema; written: Schema; schemas: object } {
  const document = described([of(shape)]);
  const { requestBody, responses } = onlyOperation(document);
  const { components } = document;
  const { Problem: _problem, Refusal: _refusal, ...schemas } = components.schemas;
  return { read: jsonSchema(requestBody), written: jsonSchema(responses["200"]), schemas };
}

const text = v.string();
const whole = v.pipe(v.number(), v.integer());
const nullable = (schema: object) => ({ anyOf: [schema, { type: "null" }] });

it("OA-24 an object has its name", () => {
  expect(described([add]).components.schemas["Item"]).toEqual({
    type: "object",
    properties: {
      name: { type: "string", description: "What it is called." },
      size: { type: "string", enum: ["small", "large"] },
      note: { anyOf: [{ type: "string" }, { type: "null" }] },
    },
    required: ["name", "size"],
  });
});

const id = "01890a5d-ac96-7a3b-9e5a-5f1c2a7b8c9d";
const alike: readonly [string, Shape, object][] = [
  [
    "OA-42 bounds",
    v.pipe(whole, v.minValue(5), v.maxValue(180), v.multipleOf(5)),
    { type: "integer", minimum: 5, maximum: 180, multipleOf: 5 },
  ],
  [
    "OA-42 lengths",
    v.pipe(v.array(v.pipe(text, v.maxLength(40))), v.maxLength(2)),
    { type: "array", items: { type: "string", maxLength: 40 }, maxItems: 2 },
  ],
  [
    "OA-43 open bounds",
    v.pipe(v.number(), v.gtValue(0), v.ltValue(1)),
    { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
  ],
  [
    "OA the tighter of two bounds",
    v.pipe(whole, v.minValue(1), v.minValue(5), v.minValue(3)),
    { type: "integer", minimum: 5 },
  ],
  [
    "OA-45 a pair",
    v.tuple([text, whole]),
    { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: false, minItems: 2, maxItems: 2 },
  ],
  [
    "OA-45 a pair and more",
    v.tupleWithRest([text], v.boolean()),
    { type: "array", prefixItems: [{ type: "string" }], items: { type: "boolean" }, minItems: 1 },
  ],
  ["OA-46 a map", v.record(text, whole), { type: "object", additionalProperties: { type: "integer" } }],
  [
    "OA-46 a map of names with a form",
    v.pipe(v.record(Shape.uuid as v.GenericSchema<string>, whole), v.minEntries(1)),
    {
      type: "object",
      additionalProperties: { type: "integer" },
      propertyNames: { type: "string", format: "uuid" },
      minProperties: 1,
    },
  ],
  [
    "OA-48 a strict object",
    v.strictObject({ a: text }),
    { type: "object", properties: { a: { type: "string" } }, required: ["a"], additionalProperties: false },
  ],
  ["OA a loose object", v.looseObject({}), { type: "object", additionalProperties: true }],
  [
    "OA an object with a rest",
    v.objectWithRest({}, whole),
    { type: "object", additionalProperties: { type: "integer" } },
  ],
  ["OA words", v.picklist(["a", 1]), { enum: ["a", 1] }],
  ["OA a word", v.literal("a"), { const: "a" }],
  ["OA words of a union", v.union([v.literal("a"), v.picklist(["b", "c"])]), { type: "string", enum: ["a", "b", "c"] }],
  [
    "OA a union",
    v.union([text, v.array(text)]),
    { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
  ],
  [
    "OA an intersection",
    v.intersect([v.object({ a: text }), v.object({ b: text })]),
    {
      allOf: [
        { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
        { type: "object", properties: { b: { type: "string" } }, required: ["b"] },
      ],
    },
  ],
  ["OA null", v.nullable(text), nullable({ type: "string" })],
  ["OA null once", v.nullable(v.nullish(text)), nullable({ type: "string" })],
  ["OA what takes null back", v.nonNullable(v.nullable(text)), { type: "string" }],
  ["OA yes or no", v.boolean(), { type: "boolean" }],
  ["OA nothing", v.null(), { type: "null" }],
  ["OA a day", Shape.date, { type: "string", format: "date" }],
  ["OA an instant", Shape.instant, { type: "string", format: "date-time" }],
  ["OA a UUID", Shape.uuid, { type: "string", format: "uuid" }],
  ["OA formats", v.pipe(text, v.email(), v.nonEmpty()), { type: "string", format: "email", minLength: 1 }],
  ["OA an address", v.pipe(text, v.ip()), { type: "string", anyOf: [{ format: "ipv4" }, { format: "ipv6" }] }],
  ["OA bytes in text", v.pipe(text, v.base64()), { type: "string", contentEncoding: "base64" }],
  [
    "OA patterns",
    v.pipe(text, v.regex(/^[a-z]+$/), v.startsWith("a.b"), v.excludes("/")),
    {
      type: "string",
      pattern: "^[a-z]+$",
      allOf: [{ pattern: "^a\\.b" }],
      not: { pattern: "\\/" },
    },
  ],
  [
    "OA what an author says",
    v.pipe(text, v.title("Id"), v.description("Which."), v.examples([id]), v.metadata({ deprecated: true })),
    {
      type: "string",
      title: "Id",
      description: "Which.",
      examples: [id],
      deprecated: true,
    },
  ],
  [
    "OA nested pipes as one",
    v.pipe(v.pipe(text, v.minLength(2)), v.maxLength(3), v.brand("x"), v.readonly()),
    { type: "string", minLength: 2, maxLength: 3 },
  ],
  [
    "OA rules of several types",
    v.pipe(v.union([text, v.array(text)]), v.minLength(2)),
    {
      anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
      minLength: 2,
      minItems: 2,
    },
  ],
  ["OA what fits nothing", v.record(text, v.never()), { type: "object", additionalProperties: { not: {} } }],
  ["OA anything", v.unknown(), {}],
  [
    "OA a check of the author's",
    v.pipe(
      text,
      v.check((it) => it !== "x"),
    ),
    { type: "string" },
  ],
];

describe("shapes with one schema for reading and writing", () => {
  it.each(alike)("%s", (_name, shape, schema) => {
    expect(both(shape)).toEqual({ read: schema, written: schema, schemas: {} });
  });

  it("OA a tagged union is one of the objects, with the tag if they have names", () => {
    const circle = v.object({ kind: v.literal("circle"), r: v.number() });
    const square = v.object({ kind: v.picklist(["square", "box"]), a: v.number() });
    const plain = both(v.variant("kind", [circle, square]));
    expect(plain.read).toEqual({
      oneOf: [
        {
          type: "object",
          properties: { kind: { const: "circle" }, r: { type: "number" } },
          required: ["kind", "r"],
        },
        {
          type: "object",
          properties: { kind: { type: "string", enum: ["square", "box"] }, a: { type: "number" } },
          required: ["kind", "a"],
        },
      ],
    });
    const named = both(v.variant("kind", [Shape.named("circle", circle), Shape.named("square", square)]));
    const [one, other] = ["#/components/schemas/Circle", "#/components/schemas/Square"];
    expect(named.read).toEqual({
      oneOf: [{ $ref: one }, { $ref: other }],
      discriminator: { propertyName: "kind", mapping: { circle: one, square: other, box: other } },
    });
    expect(both(v.variant("kind", [circle, v.object({ kind: text })])).read).toHaveProperty("anyOf");
  });
});

it("OA members may have any name", () => {
  const shape = v.object({ constructor: text, $ref: text, "a/b~c": text });
  const { read } = both(shape);
  expect(Object.keys(read["properties"] as object)).toEqual(["constructor", "$ref", "a/b~c"]);
  expect(read["required"]).toEqual(["constructor", "$ref", "a/b~c"]);
});

describe("shapes with two schemas, for reading and writing: each", () => {
  it.each<[string, Shape, object, object]>([
    ["an optional member may be null too", v.optional(text), nullable({ type: "string" }), { type: "string" }],
    ["a default", v.optional(whole, 1), { ...nullable({ type: "integer" }), default: 1 }, { type: "integer" }],
    ["a default made for each", v.optional(whole, () => 1), nullable({ type: "integer" }), { type: "integer" }],
    [
      "a default of a nullish",
      v.nullish(text, "a"),
      { ...nullable({ type: "string" }), default: "a" },
      { type: "string" },
    ],
    ["a default in the place of null", v.nullable(text, "a"), nullable({ type: "string" }), { type: "string" }],
    ["a fallback", v.fallback(whole, 1), { type: "integer", default: 1 }, { type: "integer" }],
    [
      "a 64-bit number, sent as text too",
      Shape.int64,
      { type: ["integer", "string"], format: "int64", pattern: "^-?[0-9]+$" },
      { type: "integer", format: "int64" },
    ],
    [
      "spelling: rules behind it stand",
      v.pipe(text, v.trim(), v.minLength(1)),
      { type: "string", minLength: 1 },
      { type: "string", minLength: 1 },
    ],
    [
      "spelling: rules before it",
      v.pipe(text, v.minLength(3), v.trim()),
      { type: "string", minLength: 3 },
      { type: "string" },
    ],
    [
      "a transformation",
      v.pipe(
        text,
        v.minLength(1),
        v.transform((it) => it.length),
        v.number(),
        v.minValue(1),
      ),
      { type: "string", minLength: 1 },
      { type: "number", minimum: 1 },
    ],
    ["a transformation of another type", v.pipe(text, v.transform(Number)), { type: "string" }, {}],
    [
      "text made a number",
      v.pipe(text, v.toNumber(), v.maxValue(3)),
      { type: "string" },
      { type: "number", maximum: 3 },
    ],
    [
      "a number held within",
      v.pipe(whole, v.toMinValue(3), v.maxValue(9)),
      { type: "integer" },
      { type: "integer", maximum: 9 },
    ],
    [
      "JSON in text",
      v.pipe(text, v.parseJson(), v.object({})),
      { type: "string", contentMediaType: "application/json" },
      { type: "object" },
    ],
    [
      "schemas one behind another",
      v.pipe(v.unknown(), v.string()),
      { allOf: [{}, { type: "string" }] },
      { type: "string" },
    ],
  ])("OA %s", (_name, shape, read, written) => {
    const object = both(v.object({ a: shape }));
    expect(memberOf(object.read, "a")).toEqual(read);
    expect(memberOf(object.written, "a")).toEqual(written);
  });
});

describe("shapes with two schemas: members", () => {
  it("OA the required members", () => {
    const shape = v.object({
      plain: text,
      optional: v.optional(text),
      nullish: v.nullish(text),
      nullable: v.nullable(text),
      default: v.optional(text, "a"),
      exact: v.exactOptional(text),
      fallback: v.fallback(text, "a"),
      undefinedable: v.undefinedable(text),
      piped: v.pipe(
        v.optional(text),
        v.check(() => true),
      ),
      either: v.union([text, v.undefined()]),
    });
    const { read, written } = both(shape);
    expect(read["required"]).toEqual(["plain", "nullable", "undefinedable", "either"]);
    expect(written["required"]).toEqual(["plain", "nullable", "default", "fallback"]);
    expect(memberOf(read, "either")).toEqual({ type: "string" });
  });

  it("OA a default of a member that may be absent itself, as by v.partial, is left out", () => {
    const { read } = both(v.object({ a: v.optional(v.optional(whole, 1)), b: v.optional(v.nullish(whole, 1), 2) }));
    expect(memberOf(read, "a")).toEqual(nullable({ type: "integer" }));
    expect(memberOf(read, "b")).toEqual({ ...nullable({ type: "integer" }), default: 2 });
  });

  it("OA an item of a list is null if it is absent", () => {
    const { read, written } = both(v.tuple([v.optional(text), text, v.optional(text)]));
    expect(read).toMatchObject({ minItems: 2, maxItems: 3 });
    expect(written).toMatchObject({
      prefixItems: [nullable({ type: "string" }), { type: "string" }, nullable({ type: "string" })],
      items: false,
      minItems: 2,
    });
    expect(both(v.array(v.optional(text))).written).toEqual({ type: "array", items: nullable({ type: "string" }) });
    expect(both(v.tuple([text, v.fallback(whole, 1), v.undefinedable(text)])).read).toMatchObject({ minItems: 1 });
  });
});

describe("shapes with two schemas: components", () => {
  it("OA-40 the name ends in Input exactly if it differs, at any depth", () => {
    const leaf = Shape.named("leaf", v.object({ at: v.optional(Shape.instant) }));
    const same = Shape.named("same thing", v.object({ a: text }));
    const tree = Shape.named("Tree", v.object({ leaf, same, kids: v.array(v.lazy((): v.GenericSchema => tree)) }));
    const { read, written, schemas } = both(tree);
    expect([read, written]).toEqual([
      { $ref: "#/components/schemas/TreeInput" },
      { $ref: "#/components/schemas/Tree" },
    ]);
    expect(Object.keys(schemas)).toEqual(["Tree", "TreeInput", "Leaf", "LeafInput", "SameThing"]);
    expect(schemas).toMatchObject({
      Tree: {
        properties: {
          kids: { items: { $ref: "#/components/schemas/Tree" } },
          leaf: { $ref: "#/components/schemas/Leaf" },
          same: { $ref: "#/components/schemas/SameThing" },
        },
      },
      TreeInput: {
        properties: {
          kids: { items: { $ref: "#/components/schemas/TreeInput" } },
          leaf: { $ref: "#/components/schemas/LeafInput" },
          same: { $ref: "#/components/schemas/SameThing" },
        },
      },
    });
  });

  it("OA only the used ones are listed", () => {
    const item = Shape.named("item", v.object({ a: v.optional(text) }));
    const reads = post(Path.of("a"), { inputs: { a: json(item) }, returns: Returns.text }, () => "");
    expect(Object.keys(described([reads]).components.schemas)).toEqual(["Problem", "Refusal", "ItemInput"]);
  });

  it("OA a name that another one's Input has is refused", () => {
    const item = Shape.named("item", v.object({ a: v.optional(text) }));
    const input = Shape.named("item input", v.object({ b: text }));
    expect(() => Openapi.document([of(v.tuple([item, input]))])).toThrow("the component ItemInput is two shapes");
  });

  it("OA metadata of a named shape is next to its reference", () => {
    const name = Shape.named("name", v.pipe(text, v.minLength(1)));
    const shape = v.pipe(name, v.description("Whose."), v.maxLength(9));
    expect(both(shape).read).toEqual({
      $ref: "#/components/schemas/Name",
      description: "Whose.",
      maxLength: 9,
    });
  });
});
