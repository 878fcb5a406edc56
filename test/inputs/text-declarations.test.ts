/** Declarations of text inputs that `App.make` refuses: each message names the route and the input. */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { App, Codec, Cookie, Form, Header, Path, Query, Returns, Shape, post } from "usher-http";
import type { Inputs } from "usher-http";

/** As JavaScript calls it. */
type Declare = (schema: unknown, options?: unknown) => Inputs;
const as = (declare: (schema: never, options: never) => Inputs): Declare => declare as Declare;

const query = as((schema, options) => ({ x: Query.optional("x", schema, options) }));
const queries = as((schema, options) => ({ x: Query.list("x", schema, options) }));
const header = as((schema, options) => ({ x: Header.required("x", schema, options) }));
const headers = as((schema, options) => ({ x: Header.list("x", schema, options) }));
const cookie = as((schema, options) => ({ x: Cookie.optional(Cookie.named("x", schema as Codec<unknown>, options)) }));
const form = as((schema, options) => ({ x: Form.required("x", schema, options) }));
const file = as((_schema, options) => ({ x: Form.File.optional("x", options) }));
const files = as((_schema, options) => ({ x: Form.File.list("x", options) }));

function refusal(inputs: Inputs): string {
  try {
    App.make([post(Path.root, { inputs, returns: Returns.text }, () => "")]);
  } catch (thrown) {
    return (thrown as Error).message;
  }
  return "nothing";
}

const lazy: v.GenericSchema = v.lazy(() => lazy);

const rows: readonly (readonly [Declare, v.GenericSchema | undefined | object, string])[] = [
  [query, v.object({}), "reads query.x by v.object, which is not read from one text"],
  [
    query,
    v.array(v.string()),
    "reads query.x by v.array, which is not one text: give Query.list the schema of one item",
  ],
  [
    header,
    v.array(v.string()),
    "reads header.x by v.array, which is not one text: give Header.list the schema of one item",
  ],
  [form, v.array(v.string()), "reads form.x by v.array, which is not one text: give Form.list the schema of one item"],
  [cookie, v.array(v.string()), "reads cookie.x by v.array, which is not one text"],
  [
    queries,
    v.array(v.string()),
    "reads query.x by v.array, which is not one text: give Query.list the schema of one item",
  ],
  [query, v.record(v.string(), v.string()), "reads query.x by v.record, which is not read from one text"],
  [query, v.tuple([v.string()]), "reads query.x by v.tuple, which is not read from one text"],
  [query, lazy, "reads query.x by v.lazy, which is not read from one text"],
  [
    query,
    v.optional(v.string()),
    "reads query.x by v.optional, which is said in one way: use Query.optional, or Query.default for a default",
  ],
  [
    form,
    v.optional(v.string(), "a"),
    "reads form.x by v.optional, which is said in one way: use Form.optional, or Form.default for a default",
  ],
  [
    cookie,
    v.nullish(v.string()),
    "reads cookie.x by v.nullish, which is said in one way: use Cookie.optional, or Dep.map for a default",
  ],
  [
    query,
    v.pipe(v.optional(v.string(), "a"), v.minLength(1)),
    "reads query.x by v.optional, which is said in one way: use Query.optional, or Query.default for a default",
  ],
  [
    query,
    v.union([v.number(), v.optional(v.string())]),
    "reads query.x by v.optional, which is said in one way: use Query.optional, or Query.default for a default",
  ],
  [query, v.nullable(v.string()), "reads query.x by v.nullable, and a text is never null"],
  [query, v.null(), "reads query.x by v.null, and a text is never null"],
  [query, v.any(), "reads query.x by v.any, which says nothing of a text: use v.string"],
  [query, v.unknown(), "reads query.x by v.unknown, which says nothing of a text: use v.string"],
  [query, v.never(), "reads query.x by v.never, which is not read from one text"],
  [query, v.picklist(["1", 1]), 'reads query.x by a schema with two words that are the text "1"'],
  [query, v.bigint(), "reads query.x by a schema that no text has: v.bigint is not a shape of JSON: use Shape.int64."],
  [
    query,
    v.date(),
    "reads query.x by a schema that no text has: v.date is not a shape of JSON: use Shape.instant, or Shape.date for a day.",
  ],
  [query, v.string, "reads query.x by neither a codec nor a schema"],
  [
    query,
    v.pipeAsync(
      v.string(),
      v.checkAsync(async () => true),
    ),
    "reads query.x by a schema that no text has: v.string is asynchronous, and a shape must be synchronous: check in the handler or in Dep.join.",
  ],
  [query, undefined, "reads query.x by neither a codec nor a schema"],
  [query, {}, "reads query.x by neither a codec nor a schema"],
  [query, { parse: () => undefined }, "reads query.x by neither a codec nor a schema"],
  [cookie, undefined, "reads cookie.x by neither a codec nor a schema"],
  [
    headers,
    Codec.structuredList,
    "reads header.x as a list of a codec that reads a whole list itself: use Header.optional",
  ],
];

describe("a schema that cannot be read from one text", () => {
  for (const [declare, schema, sentence] of rows) {
    it(`POST / ${sentence}`, () => expect(refusal(declare(schema))).toBe(`App.make: POST / ${sentence}`));
  }

  it("is refused in a path once, whether it is read or not", () => {
    const x = Path.param("x", v.optional(v.string()) as unknown as Codec<string>);
    const make = () => App.make([post(Path.of("a", x), { returns: Returns.text }, () => "")]);
    const sentence = "reads path.x by v.optional, and a path parameter is never missing: take the schema inside";
    expect(make).toThrow(`App.make: POST /a/{x} ${sentence}`);
  });
});

describe("options of a text", () => {
  it.each([
    [query, { doc: 1 }, "with a doc that is not a text"],
    [file, { doc: 1 }, "with a doc that is not a text"],
    [cookie, { doc: null }, "with a doc that is not a text"],
    [query, { deprecated: "yes" }, "with a deprecated that is neither true nor false"],
    [query, { examples: "a" }, "with examples that are not a list: one alone is its example"],
    [queries, { example: "a" }, "with an example that is not a list, as it is"],
    [query, { minItems: 1 }, "with minItems, which only a list has"],
    [queries, { minItems: -1 }, "with minItems -1, which is no number of items"],
    [queries, { maxItems: 1.5 }, "with maxItems 1.5, which is no number of items"],
    [headers, { maxItems: "2" }, "with maxItems 2, which is no number of items"],
    [files, { minItems: 3, maxItems: 2 }, "with minItems 3 and maxItems 2, between which no list is"],
  ] as const)("%# %j is refused", (declare, options, sentence) => {
    expect(refusal(declare(Codec.string, options))).toMatch(
      new RegExp(`^App.make: POST / reads \\w+\\.x ${sentence}$`),
    );
  });
});

describe("a default", () => {
  const whole = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100));
  const word = v.picklist(["open", "paid"]);
  const declared = {
    query: (kind: unknown, value: unknown) => ({ x: Query.default("x", kind as Codec<unknown>, value) }),
    header: (kind: unknown, value: unknown) => ({ x: Header.default("x", kind as Codec<unknown>, value) }),
    form: (kind: unknown, value: unknown) => ({ x: Form.default("x", kind as Codec<unknown>, value) }),
  };
  const places = Object.keys(declared) as (keyof typeof declared)[];
  const short = v.pipe(v.string(), v.maxLength(3));

  it.each([
    [whole, 500, "This must be at most 100."],
    [whole, 1.5, "This is not a whole number."],
    [whole, "many", "This is not a whole number."],
    [word, "gone", 'This must be one of "open" or "paid".'],
    [short, "four", "This must be at most 3 characters long."],
    [v.boolean(), "yes", "This is not true or false."],
    [
      v.pipe(
        v.string(),
        v.check((text) => text !== "a", "Not a."),
      ),
      "a",
      "Not a.",
    ],
    [Codec.int, 1.5, "This is not a whole number."],
    [Codec.int, undefined, "This is not a whole number."],
    [Codec.uuid, "1", "This is not a UUID."],
    [
      Codec.custom({ kind: "sku", parse: Codec.string.parse, print: (value: string) => value.toLowerCase() }),
      undefined,
      "It has no text.",
    ],
  ])("%# that its own schema refuses is refused with the app", (kind, value, sentence) => {
    for (const place of places) {
      const said = `App.make: POST / reads ${place}.x with a default that it refuses: ${sentence} Give one that a client may send`;
      expect(refusal(declared[place](kind, value))).toBe(said);
    }
  });

  it.each([
    [whole, 100],
    [word, "paid"],
    [v.boolean(), false],
    [v.pipe(v.string(), v.trim(), v.toUpperCase()), " a "],
    [
      v.pipe(
        v.string(),
        v.minLength(3),
        v.transform((text) => text.length),
      ),
      1,
    ],
    [
      v.union([
        v.pipe(
          v.string(),
          v.minLength(3),
          v.transform((text) => text.length),
        ),
        v.literal("a"),
      ]),
      1,
    ],
    [v.fallback(whole, 3), 500],
    [Shape.int64, 2n ** 60n],
    [Shape.instant, new Date(0)],
    [Codec.int, -1],
    [Codec.instant, new Date(0)],
  ])("%# that it may be is taken", (kind, value) => {
    for (const place of places) expect(refusal(declared[place](kind, value))).toBe("nothing");
  });
});
