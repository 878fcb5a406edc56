/** Schemas of other libraries for texts: each receives the text, and its issues become problems. */
import { type } from "arktype";
import * as S from "effect/Schema";
import { describe, expect, it } from "vitest";
import { App, Cookie, Openapi, Path, Query, Returns, Shape, Test, get, param } from "usher-http";
import type { Codec, Inputs } from "usher-http";
import * as z from "zod";
import { operation } from "../openapi/described.ts";
import { root } from "../openapi/small-routes.ts";
import { internal } from "../support/refusals.ts";
import { logged } from "../support/logs.ts";
import { appOf, places, told } from "./places.ts";

const limit = z.coerce.number().int().min(1).max(100);
const size = z.enum(["small", "large"]);
const even = z
  .string()
  .regex(/^\d+$/, "Give digits.")
  .transform(Number)
  .refine((n) => n % 2 === 0, "Give an even one.");
const digits = type("string.integer.parse");
const effectSize = S.toStandardJSONSchemaV1(S.toStandardSchemaV1(S.Literals(["small", "large"])));

/** What the API document has for one input. */
function parameterOf(inputs: Inputs): unknown {
  return operation(root(inputs)).parameters?.[0];
}

describe.each(places)("a schema of another library in the $place", (place) => {
  it.each([
    ["Zod, coerced", limit, "50", "number 50"],
    ["Zod, words", size, "small", "string small"],
    ["Zod, transformed", even, "4", "number 4"],
    ["Zod, a day", z.iso.date().transform((day) => new Date(day)), "2026-09-30", "object 2026-09-30T00:00:00.000Z"],
    ["ArkType", digits, "7", "number 7"],
    ["Effect", effectSize, "large", "string large"],
  ] as const)("%s reads", async (_what, schema, text, expected) => {
    expect((await place.send(appOf(place, schema), text))?.body).toBe(expected);
  });

  it.each([
    ["Zod, a bound", limit, "500", "too_big"],
    ["Zod, no number", limit, "secret-text", "invalid_type"],
    ["Zod, a word", size, "secret-text", "invalid_value"],
    ["Zod, a message", even, "5", "custom"],
    ["ArkType", digits, "secret-text", "pattern"],
    ["Effect", effectSize, "secret-text", "malformed"],
  ] as const)("%s refuses, and no answer or log quotes the text", async (_what, schema, text, code) => {
    const answer = await place.send(appOf(place, schema), text);
    expect(answer?.status).toBe(400);
    expect(answer?.json()).toMatchObject({ problems: [{ at: `${place.place}.x`, code }] });
    expect(answer?.body).not.toContain("secret");
  });
});

describe("schemas of another library", () => {
  it("report several issues, and each item of a list at its index", async () => {
    const several = z
      .string()
      .min(5, "Too short.")
      .regex(/^[a-z]*$/, "Not letters.");
    const route = get(
      Path.root,
      { inputs: { x: Query.list("x", several, { maxItems: 2 }) }, returns: Returns.text },
      ({ x }) => x.join(),
    );
    const call = (query: string) => Test.call(Test.app([route]), "GET", `/?${query}`);
    expect((await call("x=abcde&x=fghij")).body).toBe("abcde,fghij");
    expect((await call("x=abcde&x=A1&x=klmno")).json()).toMatchObject({
      problems: [
        { at: "query.x[1]", code: "too_small", message: "Too short." },
        { at: "query.x[1]", code: "invalid_format", message: "Not letters." },
        { at: "query.x", code: "too_many" },
      ],
    });
  });

  it("pass a path parameter on to the next route", async () => {
    const small = Path.param("x", limit, { unparsed: "next-route" });
    const any = Path.str("x");
    const routes = [
      get(Path.of(small), { inputs: { x: param(small) }, returns: Returns.text }, ({ x }) => told(x)),
      get(Path.of(any), { inputs: { x: param(any) }, returns: Returns.text }, ({ x }) => told(x)),
    ];
    expect((await Test.call(Test.app(routes), "GET", "/5")).body).toBe("number 5");
    expect((await Test.call(Test.app(routes), "GET", "/500")).body).toBe("string 500");
  });

  it("are printed as JavaScript prints their output", () => {
    expect(Path.url(Path.of(Path.param("x", limit)), { x: 5 })).toEqual({ ok: true, value: "/5" });
    expect(Cookie.make(Cookie.named("x", size), "large").value).toBe("large");
    const day = Path.param(
      "x",
      z.iso.date().transform((day) => new Date(day)),
    );
    expect(Path.url(Path.of(day), { x: new Date(0) })).toEqual({ ok: true, value: "/1970-01-01T00%3A00%3A00.000Z" });
    const object = Path.param(
      "x",
      z.string().transform((text) => ({ text })),
    );
    expect(Path.url(Path.of(object), { x: { text: "a" } }).ok).toBe(false);
  });

  it("are described in the API document by their libraries", () => {
    expect(parameterOf({ x: Query.default("x", limit, 20, { doc: "How many.", example: "50" }) })).toMatchObject({
      name: "x",
      description: "How many.",
      schema: { type: "integer", minimum: 1, maximum: 100, default: 20 },
      example: "50",
    });
    expect(parameterOf({ x: Query.required("x", effectSize) })).toMatchObject({
      schema: { type: "string", enum: ["small", "large"] },
    });
    const document = () =>
      Openapi.document([
        get(Path.root, { inputs: { x: Query.optional("x", z.coerce.date()) }, returns: Returns.text }, () => ""),
      ]);
    expect(document).toThrow(/^Openapi: GET \/ has for its query\.x a schema whose library, zod, makes no JSON Schema/);
    const by = Shape.described(z.coerce.date(), { type: "string", format: "date" });
    expect(parameterOf({ x: Query.optional("x", by) })).toMatchObject({ schema: { type: "string", format: "date" } });
  });
});

describe("schemas of another library that do not work", () => {
  const slow = z.string().refine(async () => true);
  const raising = z.string().refine(() => {
    throw new TypeError("secret");
  });

  it.each([
    ["a promise", slow, "validates by a promise"],
    ["an error", raising, "TypeError"],
  ])("answer 500 for %s, in a query and in a path that passes on to the next route", async (_what, schema, why) => {
    const x = Path.param("x", schema, { unparsed: "next-route" });
    const routes = [
      get(Path.root, { inputs: { x: Query.required("x", schema) }, returns: Returns.text }, () => ""),
      get(Path.of("a", x), { returns: Returns.text }, () => ""),
    ];
    for (const target of ["/?x=hidden", "/a/hidden"]) {
      const { status, body } = await Test.call(Test.app(routes), "GET", target);
      expect([status, body]).toEqual([500, internal]);
    }
    expect(logged().join()).toContain(why);
    expect(logged().join()).not.toContain("secret");
  });

  it.each([
    [
      "of another version",
      { "~standard": { version: 2, vendor: "x", validate: () => ({ value: 1 }) } },
      "by a schema that no text has: its schema (x) is of another version of Standard Schema than 1.",
    ],
    [
      "that only describes",
      { "~standard": { version: 1, vendor: "x" } },
      "by a schema that no text has: its schema (x) has no ~standard.validate: it can only describe a value.",
    ],
  ])("are refused by App.make: one %s", (_what, schema, sentence) => {
    const x = Query.optional("x", schema as unknown as Codec<string>);
    const make = () => App.make([get(Path.root, { inputs: { x }, returns: Returns.text }, () => "")]);
    expect(make).toThrow(`App.make: GET / reads query.x ${sentence}`);
  });
});
