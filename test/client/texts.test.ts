/** Texts of schemas in both directions: a handler receives what a typed client sends, and a printed text is read again. */
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { App, Client, Codec, Cookie, Form, Header, Path, Query, Returns, Shape, get, param, post } from "usher-http";
import { codecFor } from "../../src/inputs/text-schema.ts";
import "../support/logs.ts";

const whole = v.pipe(v.number(), v.integer());
const word = v.picklist(["small", "large", "a b", "ä"]);
const choice = v.union([v.literal("all"), v.literal(7), v.boolean()]);
const id = Path.param("id", whole);
const told = v.array(v.any());

const search = get(
  Path.of("search", id),
  {
    inputs: {
      id: param(id),
      text: Query.required("text", v.string()),
      number: Query.required("number", v.number()),
      loud: Query.required("loud", v.boolean()),
      word: Query.required("word", word),
      choice: Query.required("choice", choice),
      exact: Query.required("exact", Shape.int64),
      list: Query.list("list", whole),
      wholes: Header.list("x-wholes", whole),
      size: Header.required("x-size", v.number()),
    },
    returns: Returns.json(told),
  },
  ({ id, text, number, loud, word, choice, exact, list, wholes, size }) =>
    [id, text, number, loud, word, choice, String(exact), [...list], [...wholes], size] as unknown[],
);
const form = post(
  Path.of("form"),
  {
    inputs: { text: Form.required("text", v.string()), list: Form.list("list", v.number()) },
    returns: Returns.json(told),
  },
  ({ text, list }) => [text, [...list]] as unknown[],
);
const { fetch } = App.make([search, form]);
const api = Client.of<readonly [typeof search, typeof form]>({ baseUrl: "http://localhost", fetch });

// JSON has no -0.
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0);
const integer = fc.maxSafeInteger();
// A form's text has CRLF for every line end, when it is multipart.
const text = fc.string({ unit: "grapheme" }).filter((text) => text.isWellFormed());

describe("a typed client and a route of schemas", () => {
  it("agree on every text", async () => {
    const sent = fc.record({
      id: integer,
      query: fc.record({
        text,
        number,
        loud: fc.boolean(),
        word: fc.constantFrom(...word.options),
        choice: fc.constantFrom("all" as const, 7 as const, true, false),
        exact: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
        list: fc.array(integer, { maxLength: 5 }),
      }),
      wholes: fc.array(integer, { maxLength: 5 }),
      size: number,
    });
    await fc.assert(
      fc.asyncProperty(sent, async ({ id, query, wholes, size }) => {
        const outcome = await api["GET /search/{id}"]({
          path: { id },
          query,
          headers: { "x-wholes": wholes, "x-size": size },
        });
        const { text, number, loud, word, choice, exact, list } = query;
        const expected = [id, text, number, loud, word, choice, exact, list, wholes, size];
        expect(outcome.ok ? outcome.value : outcome).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it("agree on every field of a form", async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.array(number), async (text, list) => {
        const outcome = await api["POST /form"]({ form: { text, list } });
        expect(outcome.ok ? outcome.value : outcome).toEqual([text, list]);
      }),
      { numRuns: 200 },
    );
  });
});

describe("what a schema prints", () => {
  const instant = fc.date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true });
  const rows: readonly (readonly [what: string, schema: v.GenericSchema, values: fc.Arbitrary<unknown>])[] = [
    ["a number", v.number(), number],
    ["a whole number", v.pipe(whole, v.minValue(-5)), fc.integer({ min: -5 })],
    ["a text", v.string(), text],
    ["true or false", v.boolean(), fc.boolean()],
    ["a word", word, fc.constantFrom(...word.options)],
    ["a union", choice, fc.constantFrom("all", 7, true, false)],
    ["64 bits", Shape.int64, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
    ["an instant", Shape.instant, instant],
    ["a day", Shape.date, instant.map((day) => [day.getUTCFullYear(), day.getUTCMonth() + 1, day.getUTCDate()])],
    ["a UUID", Shape.uuid, fc.uuid({ version: [1, 4, 7] })],
    ["a text trimmed", v.pipe(v.string(), v.trim()), text.map((text) => text.trim())],
  ];
  for (const [what, schema, values] of rows) {
    it(`is read again: ${what}`, () => {
      const codec = codecFor(schema, "query.x");
      fc.assert(
        fc.property(values, (value) => {
          expect(codec.parse(codec.print(value as never))).toEqual({ ok: true, value });
        }),
      );
    });
  }

  it.each([
    ["a value of another type", v.number(), "x"],
    ["what is no number", v.number(), Number.NaN],
    ["another word", word, "medium"],
    ["half of a surrogate pair", v.string(), "\ud800"],
    ["no date", Shape.instant, new Date(Number.NaN)],
    [
      "an object that a transformation made",
      v.pipe(
        v.string(),
        v.transform((text) => ({ text })),
      ),
      { text: "a" },
    ],
    ["a Date that a transformation made", v.pipe(v.string(), v.toDate()), new Date(0)],
  ])("is not sent for %s", (_what, schema, value) => {
    expect(codecFor(schema, "query.x").print(value as never)).toBe("");
  });

  it("can be in the URL of a path, and in the value of a cookie", () => {
    const day = Path.param("day", Shape.date);
    const size = Path.param(
      "size",
      v.pipe(
        v.string(),
        v.transform((text) => ({ text })),
      ),
    );
    expect(Path.url(Path.of("days", day), { day: [2026, 9, 30] })).toEqual({ ok: true, value: "/days/2026-09-30" });
    expect(Path.url(Path.of("a", size), { size: { text: "a" } })).toEqual({
      ok: false,
      error: "/a/{size}: size printed as nothing, which no URL can hold",
    });
    expect(Cookie.make(Cookie.named("day", Shape.date), [2026, 9, 30]).value).toBe("2026-09-30");
    expect(Codec.date.print([2026, 9, 30])).toBe("2026-09-30");
  });
});
