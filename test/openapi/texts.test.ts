/** What the API document says of texts: schemas, defaults, descriptions and examples. */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Codec, Cookie, Form, Header, Keys, Openapi, Path, Query, Returns, Shape, get, post } from "usher-http";
import type { Inputs } from "usher-http";
import "../support/logs.ts";
import { described, operation } from "./described.ts";
import { wrongWith } from "./official.ts";
import { root } from "./small-routes.ts";

const limit = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100));

/** The first parameter of a route with one input. */
function parameter(inputs: Inputs): unknown {
  return operation(root(inputs)).parameters?.[0];
}

describe("a parameter of a schema", () => {
  const rows: readonly (readonly [what: string, schema: v.GenericSchema, described: object])[] = [
    ["bounds", limit, { type: "integer", minimum: 1, maximum: 100 }],
    [
      "a fraction",
      v.pipe(v.number(), v.gtValue(0), v.multipleOf(0.5)),
      { type: "number", exclusiveMinimum: 0, multipleOf: 0.5 },
    ],
    [
      "a pattern",
      v.pipe(v.string(), v.regex(/^[a-z]+$/), v.minLength(2), v.maxLength(9)),
      { type: "string", pattern: "^[a-z]+$", minLength: 2, maxLength: 9 },
    ],
    [
      "a format",
      v.pipe(v.string(), v.email(), v.description("Of the account.")),
      { type: "string", format: "email", description: "Of the account." },
    ],
    ["words", v.picklist(["small", "large"]), { type: "string", enum: ["small", "large"] }],
    ["numbers", v.picklist([1, 2]), { type: "number", enum: [1, 2] }],
    ["a literal", v.literal("all"), { const: "all" }],
    ["true or false", v.boolean(), { type: "boolean" }],
    [
      "a union",
      v.union([v.literal("all"), limit]),
      { anyOf: [{ const: "all" }, { type: "integer", minimum: 1, maximum: 100 }] },
    ],
    ["a date", Shape.date, { type: "string", format: "date" }],
    ["64 bits", Shape.int64, { type: "integer", format: "int64" }],
    ["64 bits with bounds", v.pipe(Shape.int64, v.minValue(1n)), { type: "integer", format: "int64", minimum: 1 }],
    [
      "a transformation",
      v.pipe(
        v.string(),
        v.minLength(1),
        v.transform((text) => text.length),
      ),
      { type: "string", minLength: 1 },
    ],
  ];
  for (const [what, schema, expected] of rows) {
    it(`of ${what}`, () => {
      const codec = schema as unknown as Codec<unknown>;
      const x = { name: "x", required: true, schema: expected };
      expect(parameter({ x: Query.required("x", codec) })).toEqual({ ...x, in: "query" });
      expect(parameter({ x: Header.required("x", codec) })).toEqual({ ...x, in: "header" });
      expect(parameter({ x: Cookie.required(Cookie.named("x", codec)) })).toEqual({ ...x, in: "cookie" });
      const inPath = get(Path.of(Path.param("x", codec)), { returns: Returns.text }, () => "");
      expect(operation(inPath).parameters).toEqual([{ ...x, in: "path" }]);
      const list = { type: "array", items: expected, minItems: 1, maxItems: 5 };
      const bounds = { minItems: 1, maxItems: 5 };
      expect(parameter({ x: Query.list("x", codec, bounds) })).toEqual({ ...x, in: "query", schema: list });
      expect(parameter({ x: Header.list("x", codec, bounds) })).toEqual({ ...x, in: "header", schema: list });
    });
  }

  it("refers to a named schema, next to its default", () => {
    const Limit = Shape.named("Limit", v.pipe(limit, v.readonly()));
    const document = described([root({ x: Query.default("x", Limit, 20) })]);
    expect(Object.keys(document.components.schemas)).toContain("Limit");
    expect(operation(root({ x: Query.default("x", Limit, 20) })).parameters).toEqual([
      { name: "x", in: "query", required: false, schema: { $ref: "#/components/schemas/Limit", default: 20 } },
    ]);
  });
});

describe("a default of a schema", () => {
  it("is written as a client would send it", () => {
    const inputs = {
      a: Query.default("a", limit, 20),
      b: Query.default("b", v.boolean(), false),
      c: Header.default("c", Shape.instant, new Date(0)),
      d: Query.default("d", Shape.int64, 7n),
      e: Query.default("e", Shape.int64, 2n ** 62n),
      f: Query.default(
        "f",
        v.pipe(
          v.string(),
          v.transform((text) => text.length),
        ),
        3,
      ),
      g: Query.default("g", v.pipe(v.string(), v.toDate()), new Date(0)),
    };
    const defaults = operation(root(inputs)).parameters?.map(({ schema }) => schema["default"]);
    expect(defaults).toEqual([20, false, "1970-01-01T00:00:00.000Z", 7, undefined, undefined, undefined]);
  });
});

const about = { doc: "How many.", deprecated: true };

describe("the description of a text", () => {
  it("is in its parameter", () => {
    const inputs = {
      a: Query.optional("a", limit, { ...about, example: 20 }),
      b: Query.default("b", Codec.instant, new Date(0), { examples: [new Date(0), new Date(1000)] }),
      c: Query.list("c", Codec.int64, { example: [1n, 2n] }),
      d: Cookie.optional(Cookie.named("d", Codec.bool, { doc: "Whether.", example: true })),
      e: Cookie.optional(Cookie.signed(Keys.ring("k".repeat(43)), "e", limit, about)),
      f: Header.optional("f", v.picklist(["a", "b"]), { example: "a", examples: ["b"] }),
    };
    expect(operation(root(inputs)).parameters).toEqual([
      {
        name: "a",
        in: "query",
        description: "How many.",
        required: false,
        deprecated: true,
        schema: { type: "integer", minimum: 1, maximum: 100 },
        example: 20,
      },
      {
        name: "b",
        in: "query",
        required: false,
        schema: { type: "string", format: "date-time", default: "1970-01-01T00:00:00.000Z" },
        examples: { 0: { value: "1970-01-01T00:00:00.000Z" }, 1: { value: "1970-01-01T00:00:01.000Z" } },
      },
      {
        name: "c",
        in: "query",
        required: false,
        schema: { type: "array", items: { type: "integer" } },
        example: [1, 2],
      },
      { name: "d", in: "cookie", description: "Whether.", required: false, schema: { type: "boolean" }, example: true },
      {
        name: "e",
        in: "cookie",
        description: "How many.",
        required: false,
        deprecated: true,
        schema: { type: "string" },
      },
      {
        name: "f",
        in: "header",
        required: false,
        schema: { type: "string", enum: ["a", "b"] },
        examples: { 0: { value: "a" }, 1: { value: "b" } },
      },
    ]);
  });

  it("is in a parameter of the path, read or not", () => {
    const id = Path.int("id", { doc: "Of the order.", example: 7 });
    const year = Path.param("year", limit, about);
    const parameters = operation(get(Path.of(id, year), { returns: Returns.text }, () => "")).parameters;
    expect(parameters).toEqual([
      { name: "id", in: "path", description: "Of the order.", required: true, schema: { type: "integer" }, example: 7 },
      {
        name: "year",
        in: "path",
        description: "How many.",
        required: true,
        deprecated: true,
        schema: { type: "integer", minimum: 1, maximum: 100 },
      },
    ]);
  });
});

describe("the description of a field", () => {
  it("is in its schema", () => {
    const inputs = {
      a: Form.required("a", limit, { ...about, example: 20, examples: [30] }),
      b: Form.list("b", Codec.string, { doc: "Tags.", maxItems: 3 }),
      c: Form.default("c", v.boolean(), true),
      d: Form.checked("d", { doc: "News." }),
    };
    const form = operation(post(Path.root, { inputs, returns: Returns.text }, () => "")).requestBody;
    expect(form?.content["application/x-www-form-urlencoded"]?.schema).toMatchObject({
      properties: {
        a: {
          type: "integer",
          minimum: 1,
          maximum: 100,
          description: "How many.",
          deprecated: true,
          examples: [20, 30],
        },
        b: { type: "array", items: { type: "string" }, maxItems: 3, description: "Tags." },
        c: { type: "boolean", default: true },
        d: { type: "string", description: "News." },
      },
      required: ["a"],
    });
    const files = { a: Form.File.list("a", { doc: "Pictures.", minItems: 1 }) };
    const upload = operation(post(Path.root, { inputs: files, returns: Returns.text }, () => "")).requestBody;
    expect(upload?.content["multipart/form-data"]?.schema).toMatchObject({
      properties: { a: { type: "array", minItems: 1, description: "Pictures." } },
      required: ["a"],
    });
  });
});

describe("a document of texts", () => {
  const inputs = {
    a: Query.optional("a", limit, { doc: "How many.", deprecated: true, example: 20 }),
    b: Query.list("b", v.picklist(["small", "large"]), { minItems: 1, examples: [["small"], ["large", "small"]] }),
    c: Header.list("c", Shape.int64, { maxItems: 3, example: ["9223372036854775807"] }),
    d: Cookie.optional(Cookie.named("d", v.union([v.literal("all"), limit]), { example: "all" })),
    e: Form.default("e", limit, 20, { example: 20, examples: [30] }),
    f: Form.File.list("f", { doc: "Pictures.", minItems: 1 }),
  };
  const id = Path.param("id", limit, { doc: "Of the order.", examples: [1, 2] });

  it.each(["3.2", "3.1"] as const)("is valid by the schemas of OpenAPI %s", async (openapi) => {
    const routes = [post(Path.of(id), { inputs, returns: Returns.text }, () => "")];
    expect(await wrongWith(Openapi.document(routes, { openapi }))).toEqual([]);
  });
});

describe("an example that its input refuses", () => {
  it.each([
    ["query.x", { x: Query.optional("x", limit, { example: 101 }) }, "This must be at most 100."],
    ["query.x", { x: Query.list("x", limit, { examples: [[1], [2, 0]] }) }, "This must be at least 1."],
    ["header.x", { x: Header.required("x", Codec.int, { example: 1.5 }) }, "This is not a whole number."],
  ])("is reported with its place: %s", (place, inputs, why) => {
    const document = () => Openapi.document([root(inputs)]);
    expect(document).toThrow(`Openapi: GET / has an example of ${place} that is refused: ${why}`);
  });
});
