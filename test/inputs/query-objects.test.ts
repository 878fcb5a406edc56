/** `Query.object`: an object in the query, each member of which has a name of its own (OpenAPI's style `deepObject`). */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { App, Client, Codec, Meta, Openapi, Path, Query, Returns, Shape, Test, get } from "usher-http";
import type { Dep } from "usher-http";
import { Mcp } from "usher-http/mcp";
import { logWith, logged } from "../support/logs.ts";

const members = {
  status: v.optional(v.picklist(["open", "paid"])),
  min: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 1),
  tag: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(5))), v.maxLength(3))),
  isLate: v.optional(v.boolean()),
  name: v.optional(v.string()),
};
const filter = Query.object("filter", v.object(members), { doc: "Which orders." });
const strict = Query.object("filter", v.strictObject(members));

type Input = Dep<unknown, never, unknown>;

function app(input: Input, meta: Meta = Meta.empty): Test.TestApp {
  const inputs = { given: input };
  return Test.app([get(Path.of("x"), { inputs, returns: Returns.text, meta }, ({ given }) => JSON.stringify(given))]);
}

/** The value that a handler gets, or the problems, each its place and code. */
async function read(input: Input, query: string, meta?: Meta): Promise<unknown> {
  const { status, json } = await Test.call(app(input, meta), "GET", `/x?${query}`);
  if (status === 200) return json();
  return (json() as { readonly problems: readonly { at: string; code: string }[] }).problems.map(
    ({ at, code }) => `${at} ${code}`,
  );
}

const required = Query.object("f", v.object({ id: v.number(), until: v.optional(Shape.instant) }));
const range = Query.object(
  "f",
  v.pipe(
    v.object({ from: v.number(), to: v.number() }),
    v.check(({ from, to }) => from <= to, "The end is before the start."),
  ),
);
const nothing = { min: 1 };

describe("an object in the query", () => {
  it.each<readonly [what: string, input: Input, query: string, value: unknown]>([
    ["no member", filter, "", nothing],
    ["another field", filter, "x=1&filters[min]=2&filter.min=3", nothing],
    [
      "each member by its schema",
      filter,
      "filter[status]=open&filter[min]=3&filter[isLate]=true",
      { status: "open", min: 3, isLate: true },
    ],
    ["encoded brackets", filter, "filter%5Bmin%5D=3&filter%5bstatus%5d=paid", { min: 3, status: "paid" }],
    ["a list", filter, "filter[tag]=a&filter[tag]=b&filter[tag]=a", { min: 1, tag: ["a", "b", "a"] }],
    ["a list of one", filter, "filter[tag]=", { min: 1, tag: [""] }],
    ["an empty text", filter, "filter[name]=&filter[name]=x", { min: 1, name: "" }],
    ["the first of a member that is sent twice", filter, "filter[min]=3&filter[min]=4", { min: 3 }],
    ["unknown members", filter, "filter[other]=1&filter[]=2&filter[a][b]=3&filter[=4&filter[min=5&filter]=6", nothing],
    [
      "names of every object",
      filter,
      "filter[__proto__]=1&filter[constructor]=2&filter[__proto__][min]=3&filter[toString]=4",
      nothing,
    ],
    [
      "a transformed member",
      required,
      "f[id]=1&f[until]=2026-01-01T00:00:00Z",
      { id: 1, until: "2026-01-01T00:00:00.000Z" },
    ],
    ["a checked object", range, "f[from]=1&f[to]=2", { from: 1, to: 2 }],
  ])("is read from %s", async (_what, input, query, value) => {
    expect(await read(input, query)).toEqual(value);
  });

  it.each<readonly [what: string, input: Input, query: string, problems: readonly string[]]>([
    ["a missing member", required, "", ["query.f.id required"]],
    ["a text that is no number", filter, "filter[min]=x", ["query.filter.min malformed"]],
    ["a broken bound", filter, "filter[min]=-1", ["query.filter.min too_small"]],
    ["an unknown word", filter, "filter[status]=lost", ["query.filter.status unknown_word"]],
    [
      "bytes that are no text",
      filter,
      "filter[name]=%FF&filter[min]=%FF",
      ["query.filter.min malformed", "query.filter.name malformed"],
    ],
    [
      "items of a list",
      filter,
      "filter[tag]=a&filter[tag]=toolong&filter[tag]=%FF&filter[tag]=b",
      ["query.filter.tag[2] malformed", "query.filter.tag[1] too_long", "query.filter.tag too_many"],
    ],
    [
      "every member",
      filter,
      "filter[min]=&filter[isLate]=1&filter[status]=",
      ["query.filter.status unknown_word", "query.filter.min malformed", "query.filter.isLate malformed"],
    ],
    ["a text in place of the object", filter, "filter=1&filter[min]=2", ["query.filter unexpected_type"]],
    ["members of a member", filter, "filter[min][gt]=1&filter[status]=open", ["query.filter.min unexpected_type"]],
    ["a list by indexes", filter, "filter[tag][]=a&filter[tag][0]=b", ["query.filter.tag unexpected_type"]],
    ["the whole object", range, "f[from]=2&f[to]=1", ["query.f malformed"]],
    ["a member of a checked object", range, "f[from]=2&f[to]=x", ["query.f.to malformed"]],
    [
      "unknown members of a closed object",
      strict,
      "filter[other]=1&filter[]=2&filter[a][b]=3&filter[other]=4",
      ["query.filter.other unknown_member", 'query.filter[""] unknown_member', "query.filter.a unknown_member"],
    ],
    [
      "names of every object",
      strict,
      "filter[__proto__]=1&filter[constructor]=2&filter[toString]=3",
      [
        "query.filter.__proto__ unknown_member",
        "query.filter.constructor unknown_member",
        "query.filter.toString unknown_member",
      ],
    ],
  ])("has the problems of %s", async (_what, input, query, problems) => {
    expect(await read(input, query)).toEqual(problems);
  });

  it("takes an empty member for an absent one by Meta.emptyQuery, where its type has no empty text", async () => {
    const meta = Meta.empty.add(Meta.emptyQuery, "absent");
    const query = "filter=&filter[min]=&filter[status]=&filter[name]=&filter[tag]=";
    expect(await read(filter, query, meta)).toEqual({ min: 1, name: "", tag: [""] });
    expect(await read(required, "f[id]=", meta)).toEqual(["query.f.id required"]);
  });
});

it("answers the request of the guide", async () => {
  const guide = readFileSync(new URL("../../docs/guides/validation.md", import.meta.url), "utf8");
  const fields = [...guide.matchAll(/ -d '(filter\[\w+\]=\w+)'/g)].map(([, field]) => field);
  const schema = v.object({
    status: v.optional(v.picklist(["new", "paid", "sent"])),
    min: v.optional(v.pipe(v.number(), v.minValue(0)), 0),
    tag: v.optional(v.pipe(v.array(v.string()), v.maxLength(5))),
  });
  const inputs = {
    filter: Query.object("filter", schema, { doc: "Which orders to list.", example: { status: "paid" } }),
  };
  const search = get(Path.of("orders"), { inputs, returns: Returns.json(v.unknown()) }, ({ filter }) => filter);
  const { json } = await Test.call(Test.app([search]), "GET", `/orders?${fields.join("&")}`);
  expect(json()).toEqual({ status: "paid", min: 0, tag: ["gift", "blue"] });
});

describe("an object in the query of ten thousand members", () => {
  const many = (name: (index: number) => string) =>
    Array.from({ length: 10_000 }, (_, index) => `${name(index)}=${index}`).join("&");

  it("is read, if they are unknown or items of a list", async () => {
    const tags = Query.object("f", v.object({ tag: v.array(v.number()) }));
    expect(
      await read(
        filter,
        many((index) => `filter[m${index}]`),
      ),
    ).toEqual(nothing);
    expect(
      await read(
        tags,
        many(() => "f[tag]"),
      ),
    ).toEqual({ tag: Array.from({ length: 10_000 }, (_, index) => index) });
  });

  it("has a bounded list of problems, and the number of the others", async () => {
    const words = Query.object("filter", v.object({ tag: v.array(v.boolean()) }));
    const queries = [
      [strict, many((index) => `filter[m${index}]`)],
      [words, many(() => "filter[tag]")],
    ] as const;
    for (const [input, query] of queries) {
      const { json } = await Test.call(app(input), "GET", `/x?${query}`);
      const { problems, more } = json() as { readonly problems: readonly unknown[]; readonly more: number };
      expect([problems.length, more]).toEqual([1000, 9000]);
    }
  });
});

it("names no unknown member in a log line", async () => {
  logWith({ level: "debug" });
  await read(strict, "filter[secret]=1");
  expect(logged().length).toBeGreaterThan(0);
  expect(logged().join()).not.toContain("secret");
});

const noObject = "as an object of a schema that is no v.object and no v.strictObject";

describe("the declaration of an object in the query", () => {
  it.each<readonly [what: string, schema: unknown, problem: string]>([
    ["a list", v.array(v.string()), noObject],
    ["members of any name", v.looseObject({}), noObject],
    ["no schema", { min: Codec.int }, noObject],
    ["nothing", undefined, noObject],
    [
      "an object within",
      v.object({ in: v.object({}) }),
      "with its member in by v.object, which is not read from one text",
    ],
    [
      "a list within a list",
      v.object({ in: v.array(v.array(v.string())) }),
      "with its member in by v.array, which is not one text: give Query.list the schema of one item",
    ],
    ["null", v.object({ in: v.nullable(v.string()) }), "with its member in by v.nullable, and a text is never null"],
  ])("is refused with %s", (_what, schema, problem) => {
    expect(() => app(Query.object("filter", schema as never))).toThrow(`GET /x reads query.filter ${problem}`);
  });

  it.each(["3.1", "3.2"] as const)("is described by OpenAPI %s as a parameter of the style deepObject", (openapi) => {
    const route = get(Path.of("x"), { inputs: { filter, required }, returns: Returns.text }, () => "");
    const document = Openapi.document([route], { title: "x", version: "1", openapi });
    const { parameters } = (document as never as { paths: { "/x": { get: { parameters: object[] } } } }).paths["/x"]
      .get;
    expect(parameters).toMatchObject([
      {
        name: "filter",
        in: "query",
        description: "Which orders.",
        required: false,
        style: "deepObject",
        explode: true,
        schema: { type: "object", properties: { tag: { type: "array", maxItems: 3 }, min: { default: 1 } } },
      },
      { name: "f", in: "query", required: true, style: "deepObject", explode: true, schema: { required: ["id"] } },
    ]);
  });

  it("has examples that it reads", () => {
    const declared = (example: object) => {
      const f = Query.object("f", v.object(members), { example });
      return Openapi.document([get(Path.root, { inputs: { f }, returns: Returns.text }, () => "")], {
        title: "x",
        version: "1",
      });
    };
    expect(JSON.stringify(declared({ min: 3, tag: ["a"] }))).toContain('"example":{"min":3,"tag":["a"]}');
    expect(() => declared({ min: -3 })).toThrow("has an example of query.f that is refused: This must be at least 0.");
  });
});

describe("a value of an object in the query", () => {
  const whole = Query.object(
    "filter",
    v.object({ ...members, min: v.optional(v.number()), big: v.optional(Shape.int64) }),
  );
  const route = get(
    Path.of("x"),
    { inputs: { given: whole }, returns: Returns.text, meta: Meta.tool({ name: "x" }) },
    ({ given }) => JSON.stringify(given, (_name, value: unknown) => (typeof value === "bigint" ? `${value}` : value)),
  );
  const routes = [route, ...Mcp.routes([route], { name: "x", version: "1" })];
  const agent = Test.mcp(Test.app(routes));
  const { fetch } = App.make(routes);
  const api = Client.of<readonly [typeof route]>({ baseUrl: "http://localhost", fetch });
  const given = fc.record(
    {
      status: fc.constantFrom("open" as const, "paid" as const),
      min: fc.double({ noNaN: true, min: -1e15, max: 1e15 }).filter((min) => !Object.is(min, -0)),
      tag: fc.array(fc.string({ unit: "grapheme", maxLength: 1 }), { minLength: 1, maxLength: 3 }),
      isLate: fc.boolean(),
      name: fc.string({ unit: "grapheme" }),
      big: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
    },
    { requiredKeys: [] },
  );

  it("is read as a typed client and an agent write it", async () => {
    await fc.assert(
      fc.asyncProperty(given, async (filter) => {
        const typed = await api["GET /x"]({ query: { filter } });
        expect(typed.ok && JSON.parse(typed.value)).toEqual(filter);
        const { content } = await agent.call("x", { filter });
        expect(JSON.parse(content[0]?.text ?? "")).toEqual(filter);
      }),
    );
  });

  it("has its problems at the member of an agent's argument", async () => {
    const given = { filter: { status: "lost", min: "x", isLate: { is: true }, other: 1 } };
    const { refusal } = await agent.call("x", given);
    expect(refusal?.problems).toMatchObject([
      { at: "filter.status", code: "unknown_word" },
      { at: "filter.min", code: "malformed" },
      { at: "filter.isLate", code: "unexpected_type" },
    ]);
    expect((await agent.call("x", { filter: "open" })).refusal?.problems).toMatchObject([
      { at: "filter", code: "unexpected_type" },
    ]);
    expect((await agent.call("x", { filter: { tag: [{}] } })).refusal?.problems).toMatchObject([
      { at: "filter", code: "malformed" },
    ]);
  });
});
