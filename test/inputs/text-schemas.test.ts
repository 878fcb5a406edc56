/** Schemas of texts: a text is read as the JSON value that its schema accepts, in every place that can hold a text. */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { App, Path, Query, Returns, Shape, get } from "usher-http";
import { invalid } from "../support/refusals.ts";
import "../support/logs.ts";
import { appOf, places } from "./places.ts";

const limit = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100));
const even = v.pipe(v.number(), v.integer(), v.minValue(10), v.multipleOf(2));
const word = v.picklist(["small", "large", "2x"]);
const Size = { Small: 1, Large: 2 } as const;
const slug = v.pipe(v.string(), v.minLength(2), v.regex(/^[a-z-]+$/));
const either = v.union([v.literal("all"), limit]);

const noNumber = ["malformed", "This is not a number."] as const;
const notWhole = ["malformed", "This is not a whole number."] as const;

const reads: readonly (readonly [what: string, schema: v.GenericSchema, text: string, told: string])[] = [
  ["a number", v.number(), "1.5", "number 1.5"],
  ["a number", v.number(), "-2e-3", "number -0.002"],
  ["a number", v.number(), "007", "number 7"],
  ["a number", v.number(), "-0", "number -0"],
  ["a whole number", limit, "1", "number 1"],
  ["a whole number", limit, "100", "number 100"],
  ["a whole number", limit, "1e2", "number 100"],
  ["a whole number", limit, "5.0", "number 5"],
  ["a whole number", v.pipe(v.number(), v.integer()), "-0", "number 0"],
  ["true or false", v.boolean(), "true", "boolean true"],
  ["true or false", v.boolean(), "false", "boolean false"],
  ["a text", v.string(), "12", "string 12"],
  ["a text", v.string(), "true", "string true"],
  ["a text", slug, "a-b", "string a-b"],
  ["a word", word, "small", "string small"],
  ["a word", word, "2x", "string 2x"],
  ["a literal", v.literal(true), "true", "boolean true"],
  ["a literal", v.literal(7), "7", "number 7"],
  ["an enum", v.enum(Size), "2", "number 2"],
  ["words of several sorts", v.union([v.picklist(["auto", 1]), v.literal(false)]), "1", "number 1"],
  ["words of several sorts", v.union([v.picklist(["auto", 1]), v.literal(false)]), "false", "boolean false"],
  ["words of several sorts", v.union([v.literal("auto"), v.literal(1)]), "1", "number 1"],
  ["a union", either, "all", "string all"],
  ["a union", either, "12", "number 12"],
  ["a union", v.union([v.pipe(v.string(), v.uuid()), v.boolean()]), "true", "boolean true"],
  ["a union", v.union([v.number(), v.string()]), "x1", "string x1"],
  ["a date", Shape.date, "2026-09-30", "object 2026,9,30"],
  ["an instant", Shape.instant, "2026-09-30T12:00:00Z", "object 2026-09-30T12:00:00.000Z"],
  ["a UUID", Shape.uuid, "01890A5D-AC96-7A3B-9E5A-5F1C2A7B8C9D", "string 01890a5d-ac96-7a3b-9e5a-5f1c2a7b8c9d"],
  ["64 bits", Shape.int64, "9223372036854775807", "bigint 9223372036854775807"],
  ["64 bits", Shape.int64, "-5", "bigint -5"],
  ["64 bits with a bound", v.pipe(Shape.int64, v.minValue(10n)), "10", "bigint 10"],
  [
    "a transformation",
    v.pipe(
      v.string(),
      v.transform((text) => text.length),
    ),
    "abc",
    "number 3",
  ],
  ["a transformation", v.pipe(v.string(), v.trim(), v.toLowerCase()), "AbC", "string abc"],
  [
    "a transformation",
    v.pipe(
      v.number(),
      v.transform((number) => new Date(number)),
    ),
    "0",
    "object 1970-01-01T00:00:00.000Z",
  ],
  [
    "JSON in a text",
    v.pipe(
      v.string(),
      v.parseJson(),
      v.object({ a: v.number() }),
      v.transform(({ a }) => a),
    ),
    '{"a":1}',
    "number 1",
  ],
  ["a fallback", v.fallback(limit, 20), "x", "number 20"],
  ["a fallback", v.fallback(limit, 20), "101", "number 20"],
  ["a fallback", v.pipe(v.fallback(v.number(), 20), v.maxValue(30)), "x", "number 20"],
  [
    "a check",
    v.pipe(
      v.string(),
      v.check((text) => text !== "no"),
    ),
    "yes",
    "string yes",
  ],
  ["a type of the application", v.custom<`${number}px`>((text) => /^\d+px$/.test(String(text))), "4px", "string 4px"],
  ["a name and a brand", Shape.named("Limit", v.pipe(limit, v.brand("Limit"))), "4", "number 4"],
];

const refuses: readonly (readonly [
  what: string,
  schema: v.GenericSchema,
  text: string,
  told: readonly (readonly [code: string, message: string])[],
])[] = [
  ["a number", v.number(), "x", [noNumber]],
  ["a number", v.number(), "", [noNumber]],
  ["a number", v.number(), "1,5", [noNumber]],
  ["a number", v.number(), "1e999", [["too_large", "This is larger than a number can hold."]]],
  ["a number", v.number(), "-1e999", [["too_small", "This is smaller than a number can hold."]]],
  ["a whole number", limit, "x", [notWhole]],
  ["a whole number", limit, "1.5", [["unexpected_type", "This must be a whole number, not a fraction."]]],
  ["a bound", limit, "0", [["too_small", "This must be at least 1."]]],
  ["a bound", limit, "101", [["too_large", "This must be at most 100."]]],
  ["a whole number", limit, "9007199254740993", [["too_large", "This is larger than a whole number here can hold."]]],
  [
    "several bounds",
    even,
    "7",
    [
      ["too_small", "This must be at least 10."],
      ["not_a_multiple", "This must be a multiple of 2."],
    ],
  ],
  [
    "several rules",
    slug,
    "A",
    [
      ["too_short", "This must be at least 2 characters long."],
      ["malformed", "This could not be read."],
    ],
  ],
  ["true or false", v.boolean(), "TRUE", [["malformed", "This is not true or false."]]],
  ["true or false", v.boolean(), "1", [["malformed", "This is not true or false."]]],
  ["a word", word, "Small", [["unknown_word", 'This must be one of "small", "large" or "2x".']]],
  ["a word", word, "__proto__", [["unknown_word", 'This must be one of "small", "large" or "2x".']]],
  ["a literal", v.literal(7), "07", [["unknown_word", "This must be 7."]]],
  ["an enum", v.enum(Size), "Small", [["unknown_word", "This must be one of 1 or 2."]]],
  ["a union", either, "none", [["malformed", 'This is not "all" or a whole number.']]],
  ["a union", either, "101", [["too_large", "This must be at most 100."]]],
  ["a date", Shape.date, "2026-02-30", [["malformed", "This must be a date written as YYYY-MM-DD, like 2026-09-30."]]],
  ["64 bits", Shape.int64, "x", [notWhole]],
  [
    "64 bits",
    Shape.int64,
    "9223372036854775808",
    [["too_large", "This is larger than a 64-bit whole number can hold."]],
  ],
  ["64 bits with a bound", v.pipe(Shape.int64, v.minValue(10n)), "9", [["too_small", "This must be at least 10."]]],
  [
    "an address",
    v.pipe(v.string(), v.email()),
    "x",
    [["malformed", "This must be an email address, like lee@example.com."]],
  ],
  [
    "a check",
    v.pipe(
      v.string(),
      v.check((text) => text !== "no", "Say yes."),
    ),
    "no",
    [["malformed", "Say yes."]],
  ],
  [
    "an author's words",
    v.pipe(v.number("Give a number."), v.minValue(1, "Give more.")),
    "x",
    [["malformed", "Give a number."]],
  ],
  [
    "an author's words",
    v.pipe(v.number("Give a number."), v.minValue(1, "Give more.")),
    "0",
    [["too_small", "Give more."]],
  ],
];

describe.each(places)("a schema of a text in the $place", (place) => {
  for (const [what, schema, text, told] of reads) {
    it(`${what}: ${text}`, async () => {
      const { status, body } = (await place.send(appOf(place, schema), text)) ?? { status: 0, body: told };
      expect(body).toBe(told);
      expect([0, 200]).toContain(status);
    });
  }

  for (const [what, schema, text, problems] of refuses) {
    it(`${what} refused: ${text}`, async () => {
      // An empty field of a form is one that was not filled in.
      const isEmptied = place.place === "form" && text === "";
      const found = isEmptied ? [["required", "This is required."] as const] : problems;
      const expected = invalid(...found.map(([code, message]) => [`${place.place}.x`, code, message] as const));
      const { status, body } = (await place.send(appOf(place, schema), text)) ?? { status: 0, body: expected };
      expect(body).toBe(expected);
      expect([0, 400]).toContain(status);
    });
  }
});

describe.each(places)("hostile texts in the $place", (place) => {
  it.each([
    "1e999",
    "-1e999",
    "0x10",
    " 5",
    "5 ",
    "５",
    "٣",
    "1_000",
    "+5",
    ".5",
    "5.",
    "NaN",
    "Infinity",
    "-Infinity",
    "-",
    "--1",
    "1e",
    "null",
    "[1]",
    "5\u0000",
    `1${"0".repeat(5000)}`,
    `0.${"1".repeat(5000)}x`,
    "-".repeat(5000),
  ])("%# %.20s is refused by every number, and quoted in no answer or log", async (text) => {
    const schemas = [limit, v.number(), Shape.int64, v.picklist([5, 16]), v.literal(5)];
    const answers = await Promise.all(schemas.map(async (schema) => place.send(appOf(place, schema), text)));
    const sent = answers.filter((answer) => answer !== undefined);
    expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 400));
    expect(sent.filter(({ body }) => text.length > 3 && body.includes(text))).toEqual([]);
  });

  it.each(["-0", "0", "000"])("%s is 0 as a whole number", async (text) => {
    const whole = v.pipe(v.number(), v.integer());
    expect((await place.send(appOf(place, whole), text))?.body).toBe("number 0");
  });
});

it("a text is read independently of one that its own check reads", async () => {
  const inner: Promise<Response>[] = [];
  const ask = (n: string) => app.fetch(new Request(`http://h/x?n=${n}`));
  const reads = v.check((n: number) => {
    if (n === 1) inner.push(ask("none"));
    return true;
  });
  const inputs = { n: Query.required("n", v.pipe(v.number(), reads)) };
  const app = App.make([get(Path.of("x"), { inputs, returns: Returns.text }, ({ n }) => `${n}`)]);
  const told = [];
  for (const n of ["2", "1"]) told.push(await (await ask(n)).text());
  expect([told, (await inner[0])?.status]).toEqual([["2", "1"], 400]);
});
