/** Every input that a client can send gets a well-defined answer and has no side effect. */
import * as v from "valibot";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { App, Codec, Cookie, Header, Path, Query, Returns, Test, get, json, param, post, request } from "usher-http";
import type { Shape } from "usher-http";
import { invalid } from "../support/refusals.ts";
import { messages } from "../support/logs.ts";
import { codePoint } from "../support/code-point.ts";

const keys = Returns.json(v.array(v.string()));

function reader(shape: Shape): Test.TestApp {
  const own = (value: unknown): readonly string[] =>
    typeof value !== "object" || value === null
      ? []
      : [...Object.keys(value), String(Object.getPrototypeOf(value) === Object.prototype)];
  return Test.app([post(Path.root, { inputs: { value: json(shape) }, returns: keys }, ({ value }) => [...own(value)])]);
}

describe("__proto__ is an ordinary name and changes no object", () => {
  const text = { name: v.string() };
  const sent = '{"name":"kim","__proto__":{"admin":true},"constructor":{"prototype":{"admin":true}}}';

  it.each([
    ["an object", v.object(text), ["name", "true"]],
    ["a loose object", v.looseObject(text), ["name", "true"]],
    ["a map", v.record(v.string(), v.any()), ["name", "true"]],
    ["anything", v.any(), ["name", "true"]],
    ["the unknown", v.unknown(), ["name", "true"]],
    [
      "an object left to Valibot",
      v.pipe(
        v.looseObject(text),
        v.check(() => true),
      ),
      ["name", "true"],
    ],
  ])("in JSON is read as %s", async (_as, shape, expected) => {
    const { status, body } = await Test.call(reader(shape), "POST", "/", { body: sent });
    expect(status).toBe(200);
    const got = JSON.parse(body) as string[];
    expect(got.filter((key) => key !== "constructor")).toEqual(expected);
    expect(({} as { admin?: unknown }).admin).toBeUndefined();
  });

  it("at any depth", async () => {
    const deep = post(Path.root, { inputs: { value: json(v.any()) }, returns: keys }, ({ value }) => [
      ...Object.keys(value.a[0]),
      String(value.a[0].admin),
    ]);
    const { body } = await Test.call(Test.app([deep]), "POST", "/", {
      body: '{"a":[{"b":1,"__proto__":{"admin":1}}]}',
    });
    expect(body).toBe('["b","undefined"]');
  });

  it("in a query and in cookies", async () => {
    const inputs = {
      proto: Query.optional("__proto__", Codec.string),
      inherited: Query.optional("toString", Codec.string),
      cookie: Cookie.optional(Cookie.named("__proto__", Codec.string)),
      other: Cookie.optional(Cookie.named("constructor", Codec.string)),
      request,
    };
    const told = get(Path.root, { inputs, returns: Returns.text }, ({ request, ...values }) =>
      JSON.stringify([
        ...Object.values(values).map(String),
        request.query("valueOf") ?? "-",
        request.header("constructor") ?? "-",
      ]),
    );
    const called = await Test.call(Test.app([told]), "GET", "/?__proto__=1&constructor=2", {
      headers: { cookie: "__proto__=3" },
    });
    expect(called.json()).toEqual(["1", "undefined", "3", "undefined", "-", "-"]);
    expect((await Test.call(Test.app([told]), "GET", "/")).json()).toEqual([
      "undefined",
      "undefined",
      "undefined",
      "undefined",
      "-",
      "-",
    ]);
  });
});

describe("deep JSON", () => {
  const shapes = [v.any(), v.array(v.string()), v.object({ a: v.any() }), v.record(v.string(), v.unknown())];
  it.each([
    ["lists", "[".repeat(10_000) + "]".repeat(10_000)],
    ["objects", '{"a":'.repeat(10_000) + "1" + "}".repeat(10_000)],
    ["lists in objects", '{"a":['.repeat(5000) + "]}".repeat(5000)],
    ["objects in blanks", '\n{ "a" :\t'.repeat(10_000) + "1" + "\r}".repeat(10_000)],
  ])("of 10,000 %s is one validation problem", async (_what, body) => {
    for (const shape of shapes) {
      const { status, body: told } = await Test.call(reader(shape), "POST", "/", { body });
      expect(status).toBe(400);
      expect(JSON.parse(told)).toMatchObject({
        problems: [{ code: "too_deep", message: "This is nested more than 512 deep." }],
      });
      expect((JSON.parse(told) as { problems: unknown[] }).problems).toHaveLength(1);
    }
    expect(messages("error")).toEqual([]);
  });

  it.each([
    "[".repeat(10_000),
    `${"[".repeat(10_000)}1`,
    '{"a":'.repeat(10_000),
    `"${"[".repeat(10_000)}`,
    "]".repeat(10_000),
  ])("that is cut short is still a 400: %.10s…", async (body) => {
    expect((await Test.call(reader(v.any()), "POST", "/", { body })).status).toBe(400);
    expect(messages("error")).toEqual([]);
  });

  it("brackets inside strings do not count as depth", async () => {
    const body = JSON.stringify({ a: "[".repeat(10_000), b: '\\"[{'.repeat(3000) });
    expect((await Test.call(reader(v.object({ a: v.string() })), "POST", "/", { body })).status).toBe(200);
  });
});

describe("very large inputs", () => {
  it("a million query parameters are read in one pass", async () => {
    const inputs = {
      list: Query.list("a", Codec.int),
      none: Query.optional("z", Codec.int),
      last: Query.required("last", Codec.string),
    };
    const many = get(
      Path.root,
      { inputs, returns: Returns.text },
      ({ list, none, last }) => `${list.length} ${none} ${last}`,
    );
    const app = Test.app([many]);
    expect((await Test.call(app, "GET", `/?${"a=1&".repeat(1_000_000)}last=x`)).body).toBe("1000000 undefined x");
    expect((await Test.call(app, "GET", `/?${"&".repeat(1_000_000)}last=x`)).body).toBe("0 undefined x");
    expect((await Test.call(app, "GET", `/?${"%61=%2B1&".repeat(100_000)}last=x`)).status).toBe(400);
  });

  it("thousands of problems in a body are reported in one pass", async () => {
    const app = reader(v.array(v.string()));
    const told = async (values: number): Promise<readonly [listed: number, more: number]> => {
      const { status, body } = await Test.call(app, "POST", "/", { body: `[${"1,".repeat(values - 1)}1]` });
      expect(status).toBe(400);
      const { problems, more } = JSON.parse(body) as { problems: unknown[]; more: number };
      return [problems.length, more];
    };
    expect(await told(20_000)).toEqual([1000, 19_000]);
    expect(await told(500_000)).toEqual([1000, 499_000]);
  });

  it("a path with very many segments is matched", async () => {
    const file = Path.rest("file");
    const site = get(Path.of("s", file), { inputs: { file: param(file) }, returns: Returns.text }, ({ file }) =>
      String(file.length),
    );
    const app = Test.app([site, get(Path.of("s", Path.str("a"), Path.str("b")), { returns: Returns.text }, () => "")]);
    expect((await Test.call(app, "GET", `/s${"/x".repeat(200_000)}`)).body).toBe("200000");
    expect((await Test.call(app, "GET", `/s${"/".repeat(200_000)}`)).status).toBe(404);
  });
});

const inputs = {
  text: Header.optional("x-text", Codec.string),
  int: Header.optional("x-int", Codec.int),
  accept: Header.optional("accept", Codec.accept),
  credentials: Header.optional("authorization", Codec.credentials),
  cache: Header.optional("cache-control", Codec.cacheControl),
  forwarded: Header.optional("forwarded", Codec.forwarded),
  dictionary: Header.optional("x-dictionary", Codec.structuredDictionary),
  cookie: Cookie.optional(Cookie.named("k", Cookie.encoded)),
  query: Query.list("q", Codec.float),
};
const all = post(Path.root, { inputs, returns: Returns.text }, () => "fine");
const value = fc.oneof(
  fc.string({ unit: codePoint }),
  fc.string({
    unit: fc.constantFrom(
      "\u0000",
      "\u00ff",
      "\ud800",
      '"',
      "\\",
      ";",
      ",",
      "=",
      "k",
      ":",
      "?",
      "1",
      "(",
      ")",
      "<",
      " ",
      "\t",
    ),
  }),
);

describe("no header, cookie or query makes the app throw", () => {
  const names = [
    "x-text",
    "x-int",
    "accept",
    "authorization",
    "cache-control",
    "forwarded",
    "x-dictionary",
    "cookie",
    "traceparent",
    "content-type",
    "host",
  ];

  it("odd bytes are either a value or a 400", async () => {
    const app = Test.app([all]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...names), value)), value, async (headers, query) => {
        const { status } = await Test.call(app, "POST", `/?q=${query}`, { headers });
        expect([200, 400]).toContain(status);
      }),
      { numRuns: 500 },
    );
    expect(messages("error")).toEqual([]);
  });
});

describe("no body makes the app throw", () => {
  it("random bytes are a JSON body or a 400, and the answer quotes none of them", async () => {
    const marked = "q7zq";
    const { fetch } = App.make([
      post(Path.root, { inputs: { x: json(v.object({ n: v.number() })) }, returns: Returns.text }, () => ""),
    ]);
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array(),
        fc.constantFrom(`{"n":"${marked}"`, `{"${marked}":1`, marked),
        async (bytes, start) => {
          const body = Buffer.concat([Buffer.from(start), bytes]);
          const response = await fetch(
            new Request("http://h/", { method: "POST", body, headers: { "content-type": "application/json" } }),
          );
          expect(response.status).toBe(400);
          expect(await response.text()).not.toContain(marked);
        },
      ),
    );
  });

  it("the value of a credential is never in the answer", async () => {
    const { body } = await Test.call(Test.app([all]), "POST", "/", {
      headers: { authorization: "Bearer s3cret s3cret" },
    });
    expect(body).toBe(invalid(["header.authorization", "malformed", "This is not credentials."]));
  });
});
