/** The parts of the page's own reader that need no browser: the requests it makes, the samples it begins with, the words it uses. */
import { describe, expect, it } from "vitest";
import { readDocument } from "../../reader/document.ts";
import type { Fields, Schema } from "../../reader/document.ts";
import { curlOf, missingIn, outgoing } from "../../reader/outgoing.ts";
import type { Body, Credential, Entered } from "../../reader/outgoing.ts";
import { sampleOf } from "../../reader/sample.ts";
import { rulesOf, typeText } from "../../reader/schema-text.ts";

const schemes = {
  token: { type: "http", scheme: "bearer" },
  user: { type: "http", scheme: "basic" },
  odd: { type: "http", scheme: "Hawk" },
  key: { type: "apiKey", in: "header", name: "x-key" },
  asked: { type: "apiKey", in: "query", name: "key" },
  baked: { type: "apiKey", in: "cookie", name: "sid" },
  flow: { type: "oauth2", flows: {} },
};

const documentOf = (json: unknown) => readDocument(json, "http://h/openapi.json");

function apiOf(method: string, path: string, operation: Fields = {}) {
  // A method that OpenAPI has no field for is an additional one.
  const item = /^[a-z]+$/.test(method) ? { [method]: operation } : { additionalOperations: { [method]: operation } };
  const api = documentOf({ paths: { [path]: item }, components: { securitySchemes: schemes } });
  const [first] = api.operations;
  if (first === undefined) throw new Error("no operation");
  return { api, operation: first };
}

interface Made {
  readonly entered?: readonly Entered[];
  readonly body?: Body;
  readonly security?: readonly Fields[];
  readonly credentials?: { readonly [scheme: string]: Credential };
  readonly server?: string;
  readonly path?: string;
  readonly method?: string;
}

function made({
  entered = [],
  body,
  security = [],
  credentials = {},
  server = "http://h/",
  path = "/a",
  method = "get",
}: Made) {
  const { api, operation } = apiOf(method, path, { security });
  const values = new Map(Object.entries(credentials));
  return outgoing(operation, { server, entered, body, schemes: api.schemes, credentials: values });
}

const given = (place: Entered["place"], name: string, ...texts: string[]): Entered => ({ place, name, texts });

describe("a parameter that is an object", () => {
  const schema = {
    $ref: "#/components/schemas/Filter",
  };
  const Filter = {
    properties: { min: { type: "integer" }, tag: { type: "array", items: {}, description: "Words." } },
    required: ["min"],
  };
  const filter = { name: "filter", in: "query", style: "deepObject", required: true, description: "Which.", schema };
  const parametersOf = (parameter: Fields) =>
    documentOf({ paths: { "/a": { get: { parameters: [parameter] } } }, components: { schemas: { Filter } } })
      .operations[0]?.parameters;

  it("is one for each member, as it is sent", () => {
    expect(parametersOf({ ...filter, example: { tag: ["a", "b"] } })).toMatchObject([
      { name: "filter[min]", place: "query", isRequired: true, description: "Which.", examples: [] },
      { name: "filter[tag]", isRequired: false, description: "Words.", examples: [{ value: ["a", "b"] }] },
    ]);
    const { url } = made({ entered: [given("query", "filter[tag]", "a", "b c")] });
    expect(url).toBe("http://h/a?filter%5Btag%5D=a&filter%5Btag%5D=b+c");
  });

  it("is one parameter, if its members are not described", () => {
    expect(parametersOf({ ...filter, schema: {} })).toMatchObject([{ name: "filter", isRequired: true }]);
  });
});

describe("a request", () => {
  it.each<[Made, string]>([
    [{ path: "/a/{id}/b", entered: [given("path", "id", "7/8 é?#")] }, "http://h/a/7%2F8%20%C3%A9%3F%23/b"],
    [{ entered: [given("query", "q", "a b&c", "d"), given("query", "r")] }, "http://h/a?q=a+b%26c&q=d"],
    [{ server: "https://h/api/" }, "https://h/api/a"],
    [{ path: "/.well-known/a", server: "https://h" }, "https://h/.well-known/a"],
    [{ server: "https://h/api?x=1" }, "https://h/api/a?x=1"],
    [
      { path: "/{a}{b}", entered: [given("path", "a", "\ud800"), given("path", "b", "$&")] },
      "http://h/%EF%BF%BD%24%26",
    ],
    [{ security: [{ asked: [] }], credentials: { asked: { secret: "a&b" } } }, "http://h/a?key=a%26b"],
  ])("%j has its URL", (how, url) => {
    expect(made(how).url).toBe(url);
  });

  it.each<[Made, readonly string[]]>([
    [{ entered: [given("header", "x-a", "1", "2")] }, ["x-a: 1, 2"]],
    [{ body: { kind: "text", type: "application/json", text: "{}" } }, ["content-type: application/json"]],
    [{ body: { kind: "parts", type: "multipart/form-data", parts: [] } }, []],
    [{ security: [{ token: [] }], credentials: { token: { secret: "t" } } }, ["authorization: Bearer t"]],
    [{ security: [{ odd: [] }], credentials: { odd: { secret: "t" } } }, ["authorization: Hawk t"]],
    [{ security: [{ flow: ["a"] }], credentials: { flow: { secret: "t" } } }, ["authorization: Bearer t"]],
    [{ security: [{ key: [] }], credentials: { key: { secret: "k" } } }, ["x-key: k"]],
    [
      { security: [{ user: [] }], credentials: { user: { user: "Zoë", secret: "p:w" } } },
      [`authorization: Basic ${Buffer.from("Zoë:p:w").toString("base64")}`],
    ],
    // The first alternative that is whole; what no alternative needs stays here.
    [
      { security: [{ key: [], token: [] }, { user: [] }, { token: [] }], credentials: { token: { secret: "t" } } },
      ["authorization: Bearer t"],
    ],
    [{ security: [{}], credentials: { token: { secret: "t" } } }, []],
  ])("%j has its headers", (how, headers) => {
    expect(made(how).headers.map((one) => one.join(": "))).toEqual(headers);
  });

  it("has the cookies of its parameters and of its credential", () => {
    const how = { security: [{ baked: [] }], credentials: { baked: { secret: "s" } } };
    expect(made({ ...how, entered: [given("cookie", "c", "1")] }).cookies).toEqual([
      ["c", "1"],
      ["sid", "s"],
    ]);
  });

  it("lacks the empty parameters of its path", () => {
    const parameters = [
      { name: "a", in: "path" },
      { name: "b", in: "path" },
      { name: "q", in: "query", required: true },
    ];
    const { operation } = apiOf("get", "/{a}/{b}", { parameters });
    expect(missingIn(operation, [given("path", "a", "1"), given("path", "b", "")])).toEqual(["b"]);
  });
});

describe("a curl command", () => {
  const file = new File(["x"], `a"b.txt`);
  it.each<[Made, string]>([
    [{}, "curl 'http://h/a'"],
    [
      { method: "post", body: { kind: "text", type: "text/plain", text: "it's $(rm -rf /)" } },
      "curl -X POST 'http://h/a' -H 'content-type: text/plain' --data-raw 'it'\\''s $(rm -rf /)'",
    ],
    [
      { method: "put", body: { kind: "file", type: "image/png", file } },
      `curl -X PUT 'http://h/a' -H 'content-type: image/png' --data-binary '@a"b.txt'`,
    ],
    [
      {
        method: "post",
        body: {
          kind: "parts",
          type: "multipart/form-data",
          parts: [
            { name: "n", value: "@v;x" },
            { name: "j", value: '{"a":1}', type: "application/json" },
            { name: "f", value: file },
          ],
        },
      },
      `curl -X POST 'http://h/a' --form-string 'n=@v;x' -F 'j="{\\"a\\":1}";type=application/json' -F 'f=@"a\\"b.txt"'`,
    ],
    [{ entered: [given("cookie", "c", "'")] }, "curl 'http://h/a' -H 'cookie: c='\\'''"],
    [{ method: "M-SEARCH" }, "curl -X M-SEARCH 'http://h/a'"],
    [{ method: "A&`b`$c'" }, "curl -X 'A&`b`$c'\\''' 'http://h/a'"],
  ])("for %j has all text in quotes", (how, command) => {
    expect(curlOf(made(how)).replaceAll(" \\\n  ", " ")).toBe(command);
  });
});

describe("a schema", () => {
  it.each<[Schema, string, readonly string[]]>([
    [{ type: "string", minLength: 1, maxLength: 100 }, "string", ["1 to 100 characters"]],
    [{ type: "string", minLength: 3, maxLength: 3 }, "string", ["3 characters"]],
    [{ type: "integer", minimum: 1, maximum: 9007199254740991, default: 1 }, "integer", ["≥ 1", "default 1"]],
    [{ type: "number", exclusiveMinimum: 0, multipleOf: 0.5 }, "number", ["> 0", "a multiple of 0.5"]],
    [{ type: ["string", "null"], format: "uuid" }, "string | null", ["uuid"]],
    [{ type: "string", enum: ["a", "b"] }, "string", ['one of "a", "b"']],
    [{ enum: ["a", 1, null] }, '"a" | 1 | null', []],
    [{ enum: [..."abcdefgh", 1] }, "string | number", ['one of "a", "b", "c", "d", "e", "f", "g", "h", 1']],
    [{ const: "a" }, '"a"', []],
    [{ type: "array", items: { $ref: "#/components/schemas/Order" }, maxItems: 1 }, "Order[]", ["at most 1 item"]],
    [{ type: "array", items: { type: ["string", "null"] }, uniqueItems: true }, "(string | null)[]", ["no two alike"]],
    [{ type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: false }, "[string, integer]", []],
    [{ type: "object", additionalProperties: { type: "integer" } }, "map of integer", []],
    [{ type: "object", properties: {}, additionalProperties: false }, "object", []],
    [{ anyOf: [{ $ref: "#/x/A" }, { type: "null" }] }, "A | null", []],
    [{ allOf: [{ $ref: "#/x/A" }, { $ref: "#/x/B" }] }, "A & B", []],
    [{ type: "string", contentMediaType: "application/octet-stream" }, "file", []],
    [{ not: {} }, "never", []],
    [{}, "any", []],
  ])("%j is %s, with %j", (schema, type, rules) => {
    expect(typeText(schema)).toBe(type);
    expect(rulesOf(schema)).toEqual(rules);
  });

  it.each<[Schema, unknown]>([
    [{ type: "string" }, "text"],
    [{ type: "string", minLength: 6, maxLength: 8 }, "texttt"],
    [{ type: "string", maxLength: 2 }, "te"],
    [{ type: "string", format: "date" }, "2026-01-31"],
    [{ type: "string", format: "constructor" }, "text"],
    [{ type: "integer", minimum: 5 }, 5],
    [{ type: "integer", exclusiveMaximum: 0 }, -1],
    [{ type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 }, 1],
    [{ enum: ["small", "large"] }, "small"],
    [{ type: "string", examples: ["given"] }, "given"],
    [{ type: "boolean", default: false }, false],
    [{ anyOf: [{ type: "boolean" }, { type: "null" }] }, true],
    [{ allOf: [{ properties: { a: { const: 1 } } }, { properties: { b: { const: 2 } } }] }, { a: 1, b: 2 }],
    [{ type: "array", prefixItems: [{ const: 1 }, { const: 2 }] }, [1, 2]],
    [{ type: "array", items: { type: "boolean" } }, [true]],
    [{ properties: { a: { type: "boolean" }, b: { type: "string", readOnly: true } } }, { a: true }],
    [{ not: {} }, null],
    [{ type: "file" }, null],
  ])("%j starts with %j", (schema, sample) => {
    expect(sampleOf(schema, (one) => one)).toEqual(sample);
  });

  it("starts with a finite value, however deep and wide the schema is", () => {
    let deep: Schema = { type: "string" };
    for (let depth = 0; depth < 10_000; depth++) deep = { type: "object", properties: { a: deep, b: deep } };
    expect(JSON.stringify(sampleOf(deep, (one) => one)).length).toBeLessThan(10_000);
  });
});

describe("a document", () => {
  it("has its groups in the order of its tags, then of its operations, and the rest last", () => {
    const get = (...tags: string[]) => ({ get: { tags } });
    const paths = { "/1": get("z"), "/2": get(), "/3": get("a", "z", "z"), "/4": get("m") };
    const { groups } = documentOf({ tags: [{ name: "m" }, { name: "none" }, { name: "a" }], paths });
    expect(groups.map(({ name, operations }) => [name, operations.map(({ path }) => path)])).toEqual([
      ["m", ["/4"]],
      ["a", ["/3"]],
      ["z", ["/1", "/3"]],
      ["Others", ["/2"]],
    ]);
  });

  it("has the methods for which an item has no field, in OpenAPI 3.1 and 3.2", () => {
    const paths = {
      "/a": { trace: {}, query: {}, additionalOperations: { PROPFIND: { "x-reads": ["the whole request"] } } },
      "/b": { summary: "no method", "x-additionalOperations": { LOCK: {} } },
    };
    const { operations } = documentOf({ paths });
    expect(operations.map(({ method, anchor, reads }) => [method, anchor, reads])).toEqual([
      ["TRACE", "trace/a", []],
      ["QUERY", "query/a", []],
      ["PROPFIND", "PROPFIND/a", ["the whole request"]],
      ["LOCK", "LOCK/b", []],
    ]);
  });

  it("follows references, with the members next to them, and no inherited member of an object", () => {
    const { resolve } = documentOf({ components: { schemas: { "a/b~c": { type: "string" } } } });
    const to = (ref: string) => resolve({ $ref: ref, description: "own" });
    expect(to("#/components/schemas/a~1b~0c")).toEqual({ type: "string", description: "own" });
    expect(to("#/components/schemas/a%2Fb~0c")).toEqual({ description: "own" });
    expect(to("#/constructor/prototype")).toEqual({ description: "own" });
    expect(to("https://other.example/a.json")).toEqual({ description: "own" });
  });
});
