/**
 * `Path.url` builds URLs (contract 4.2; rows UR), and the router reads back what it built. UR-03 has no counterpart: a record
 * cannot have one argument twice.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Codec, Path, Query, Returns, Test, get, param } from "usher-http";
import * as v from "valibot";
import "../support/logs.ts";
import { rounds } from "../support/wide.ts";
import { codePoint } from "../support/code-point.ts";

const order = Path.of("orders", Path.int("order_id"));
const items = Path.of("orders", Path.str("order_id"), "items");
const file = Path.rest("file");
const statics = Path.of("static", file);
/** As a caller without types would call it. */
const url = Path.url as (path: Path, args: object) => ReturnType<typeof Path.url>;

describe("Path.url", () => {
  it.each([
    ["UR-01", order, { order_id: 7 }, "/orders/7"],
    ["UR-06", items, { order_id: "Kim Li" }, "/orders/Kim%20Li/items"],
    ["UR", items, { order_id: "a/b" }, "/orders/a%2Fb/items"],
    ["UR", items, { order_id: "100%" }, "/orders/100%25/items"],
    ["UR", items, { order_id: "." }, "/orders/%2E/items"],
    ["UR", items, { order_id: ".." }, "/orders/%2E%2E/items"],
    ["UR", items, { order_id: "..." }, "/orders/.../items"],
    ["UR", items, { order_id: "?x#y" }, "/orders/%3Fx%23y/items"],
    ["UR", items, { order_id: "!'()*-._~" }, "/orders/%21%27%28%29%2A-._~/items"],
    ["UR", items, { order_id: "é 🙂" }, "/orders/%C3%A9%20%F0%9F%99%82/items"],
    ["UR", items, { order_id: "\u0000\r\n" }, "/orders/%00%0D%0A/items"],
    ["UR-09", statics, { file: ["a b", "c/d"] }, "/static/a%20b/c%2Fd"],
    ["UR-10", statics, { file: [] }, "/static"],
    ["UR", statics, { file: ["..", "."] }, "/static/%2E%2E/%2E"],
    ["UR", Path.root, {}, "/"],
    ["UR", Path.of(file), { file: [] }, "/"],
    ["UR", Path.of("a b", "é", "..", Path.s("{x}")), {}, "/a%20b/%C3%A9/%2E%2E/%7Bx%7D"],
    ["UR", Path.of(Path.param("day", Codec.date)), { day: [2026, 9, 30] }, "/2026-09-30"],
    ["UR", Path.of(Path.int32("id")), { id: -(2 ** 31) }, "/-2147483648"],
    ["UR", Path.of(Path.int64("id")), { id: 9007199254740993n }, "/9007199254740993"],
  ])("%s %# is built", (_id, path, args, expected) => {
    expect(url(path, args)).toEqual({ ok: true, value: expected });
  });

  it.each([
    ["UR-02", order, {}, "/orders/{order_id}: no argument for order_id"],
    ["UR-02", order, { order_id: undefined }, "/orders/{order_id}: no argument for order_id"],
    ["UR-04", order, { order_id: 7, count: 1 }, "/orders/{order_id} has no parameter count"],
    ["UR-04", Path.root, { x: 1 }, "/ has no parameter x"],
    ["UR-11", statics, { file: ["a", "", "b"] }, "/static/{file*}: file has an empty segment, which no URL can hold"],
    ["UR-11", statics, { file: ["a", ""] }, "/static/{file*}: file has an empty segment, which no URL can hold"],
    ["UR-11", statics, { file: ["", "a"] }, "/static/{file*}: file has an empty segment, which no URL can hold"],
    ["UR", Path.of(Path.int32("id")), { id: 2 ** 31 }, "/{id}: id printed as nothing, which no URL can hold"],
    ["UR", items, { order_id: "" }, "/orders/{order_id}/items: order_id printed as nothing, which no URL can hold"],
    ["UR", Path.of(Path.str("toString")), {}, "/{toString}: no argument for toString"],
  ])("%s %# is an error with the name of the parameter", (_id, path, args, expected) => {
    expect(url(path, args)).toEqual({ ok: false, error: expected });
  });

  it("UR a lone surrogate is an error result, and is never thrown", () => {
    for (const text of ["\ud800", "a\udc00", "\udc00\ud800"]) {
      expect(Path.url(items, { order_id: text }).ok).toBe(false);
      expect(Path.url(statics, { file: ["a", text] }).ok).toBe(false);
    }
  });

  it.each([
    [Path.of(Path.str("s")), { s: 5 }, "/{s}: s is a number, and cannot be printed"],
    [Path.of(Path.str("s")), { s: null }, "/{s}: s is null, and cannot be printed"],
    [statics, { file: "abc" }, "/static/{file*}: file is a string, and not a list of texts"],
    [statics, { file: 5 }, "/static/{file*}: file is a number, and not a list of texts"],
    [statics, { file: [5] }, "/static/{file*}: file is a list, and not a list of texts"],
    [statics, { file: null }, "/static/{file*}: file is null, and not a list of texts"],
  ])("a value of another type, as in JavaScript, is an error with the parameter's name: %#", (path, args, expected) => {
    expect(url(path, args)).toEqual({ ok: false, error: expected });
  });

  it("UR-12 patterns are written as in the API document", () => {
    expect([order, items, statics, Path.root].map(({ pattern }) => pattern)).toEqual([
      "/orders/{order_id}",
      "/orders/{order_id}/items",
      "/static/{file*}",
      "/",
    ]);
  });
});

const name = Path.str("name");
const named = get(
  Path.of("n", name, "x"),
  { inputs: { name: param(name) }, returns: Returns.json(v.string()) },
  ({ name }) => name,
);
const listed = get(
  statics,
  { inputs: { file: param(file) }, returns: Returns.json(v.array(v.string())) },
  ({ file }) => file,
);
const app = Test.app([named, listed]);
const odd = fc.constantFrom(
  "/",
  "%",
  ".",
  "..",
  "%2F",
  "%2E",
  "//",
  "\\",
  "?",
  "#",
  "+",
  " ",
  "\u0000",
  "é",
  "\ufeff",
  "🙂",
  "x/../y",
);
// Any Unicode text: well-formed, so without lone surrogates.
const text = fc
  .oneof(
    odd,
    fc.string({ unit: codePoint, minLength: 1 }),
    fc.array(odd, { minLength: 1, maxLength: 4 }).map((texts) => texts.join("")),
  )
  .filter((text) => text !== "" && text.isWellFormed());

describe("the router reads back the values of a URL: segments", () => {
  async function readBack(made: ReturnType<typeof Path.url>): Promise<unknown> {
    if (!made.ok) throw new Error(made.error);
    expect(made.value).toMatch(/^(?:\/(?:[A-Za-z0-9\-._~]|%[0-9A-F]{2})+)+$/);
    const answered = await Test.call(app, "GET", made.value);
    expect(answered.status, made.value).toBe(200);
    return answered.json();
  }

  it("UR-07 a segment of any text", async () => {
    await fc.assert(
      fc.asyncProperty(text, async (text) => {
        expect(await readBack(Path.url(Path.of("n", name, "x"), { name: text }))).toBe(text);
      }),
      { numRuns: rounds(1000) },
    );
  });

  it("UR-13 a rest of any texts", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 5 }), async (texts) => {
        expect(await readBack(Path.url(statics, { file: texts }))).toEqual(texts);
      }),
      { numRuns: rounds(1000) },
    );
  });

  it("UR-07 a URL parser removes no segment", () => {
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 3 }), (text, texts) => {
        for (const made of [Path.url(Path.of("n", name, "x"), { name: text }), Path.url(statics, { file: texts })]) {
          if (!made.ok) throw new Error(made.error);
          // The WHATWG URL parser takes "%2E%2E" for "..", and no spelling avoids that.
          if (/\/(?:%2E){1,2}(?:\/|$)/.test(made.value)) continue;
          expect(new URL(made.value, "http://here.example").pathname).toBe(made.value);
        }
      }),
    );
  });
});

describe("the router reads back the values of a URL: codecs", () => {
  it("UR a path of any codec", async () => {
    const id = Path.int64("id");
    const when = Path.param("when", Codec.instant);
    const inputs = { id: param(id), when: param(when) };
    const both = get(
      Path.of(id, when),
      { inputs, returns: Returns.text },
      ({ id, when }) => `${id} ${when.toISOString()}`,
    );
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        fc.date({
          min: new Date("0000-01-01T00:00:00Z"),
          max: new Date("9999-12-31T23:59:59.999Z"),
          noInvalidDate: true,
        }),
        async (id, when) => {
          const made = Path.url(Path.of(Path.int64("id"), Path.param("when", Codec.instant)), { id, when });
          if (!made.ok) throw new Error(made.error);
          expect((await Test.call(Test.app([both]), "GET", made.value)).body).toBe(`${id} ${when.toISOString()}`);
        },
      ),
    );
  });
});

describe("a URL with a query", () => {
  const noValue = "is no text, number, boolean or date";

  it.each([
    [{}, "/orders/7"],
    [{ after: undefined, tag: [] }, "/orders/7"],
    [{ after: 3, limit: 20 }, "/orders/7?after=3&limit=20"],
    [{ id: 9007199254740993n, gift: true, x: "" }, "/orders/7?id=9007199254740993&gift=true&x="],
    [{ at: new Date(0) }, "/orders/7?at=1970-01-01T00%3A00%3A00.000Z"],
    [{ tag: ["a b", "c&d=e", "+", "é"] }, "/orders/7?tag=a%20b&tag=c%26d%3De&tag=%2B&tag=%C3%A9"],
    [{ "a&b": "#" }, "/orders/7?a%26b=%23"],
  ])("%# is built", (query, expected) => {
    expect(Path.url(order, { order_id: 7 }, query)).toEqual({ ok: true, value: expected });
  });

  it.each([
    [{ at: new Date(Number.NaN) }, `/orders/{order_id}: the query at ${noValue}`],
    // Texts that `Codec.instant` does not read.
    [{ at: new Date("+010000-01-01T00:00:00Z") }, `/orders/{order_id}: the query at ${noValue}`],
    [{ at: new Date("-000001-12-31T00:00:00Z") }, `/orders/{order_id}: the query at ${noValue}`],
    [{ page: Number.NaN }, `/orders/{order_id}: the query page ${noValue}`],
    [{ page: [1, Number.POSITIVE_INFINITY] }, `/orders/{order_id}: the query page ${noValue}`],
    [{ q: null as never }, `/orders/{order_id}: the query q ${noValue}`],
    [{ q: {} as never }, `/orders/{order_id}: the query q ${noValue}`],
    [{ q: Object.create(null) as never }, `/orders/{order_id}: the query q ${noValue}`],
    [{ q: [["a"]] as never }, `/orders/{order_id}: the query q ${noValue}`],
    [{ q: Symbol("a") as never }, `/orders/{order_id}: the query q ${noValue}`],
    [{ q: (() => {}) as never }, `/orders/{order_id}: the query q ${noValue}`],
    [{ q: ["a", "\ud800"] }, "/orders/{order_id}: the query q is not Unicode text, which no URL can hold"],
    [{ "\ud800": 1 }, "/orders/{order_id}: the query \ud800 is not Unicode text, which no URL can hold"],
  ])("%# is an error with the name of the parameter", (query, expected) => {
    expect(Path.url(order, { order_id: 7 }, query)).toEqual({ ok: false, error: expected });
  });

  it("must be a record, also in JavaScript", () => {
    expect(() => Path.url(order, { order_id: 7 }, "a=b" as never)).toThrow(
      "Path.url: the query is a string, and not an object",
    );
  });

  // These objects have no own properties: their values would be missing in the link.
  it.each([new URLSearchParams("a=b"), new Map([["a", "b"]]), new Set(["a"]), new Headers({ a: "b" })])(
    "is no %o, whose values are no members",
    (values) => {
      expect(() => Path.url(order, { order_id: 7 }, values as never)).toThrow(
        "Path.url: the query has entries, and no members: pass Object.fromEntries(query)",
      );
    },
  );

  it("the route reads back its values", async () => {
    const tags = get(
      Path.of("tags"),
      { inputs: { tag: Query.list("tag", Codec.string) }, returns: Returns.json(v.array(v.string())) },
      ({ tag }) => tag,
    );
    const app = Test.app([tags]);
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 5 }), async (texts) => {
        const made = Path.url(Path.of("tags"), {}, { tag: texts });
        if (!made.ok) throw new Error(made.error);
        expect((await Test.call(app, "GET", made.value)).json()).toEqual(texts);
      }),
      { numRuns: rounds(300) },
    );
  });
});
