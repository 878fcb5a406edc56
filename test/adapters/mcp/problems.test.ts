import { Codec, Meta, Path, Query, RefusalFormat, Returns, Test, get, post, json } from "usher-http";
import { german, languages } from "usher-http/languages";
import { Mcp } from "usher-http/mcp";
import * as v from "valibot";
import { expect, it } from "vitest";
import { refusalOf } from "./asking.ts";

const routes = [
  get(
    Path.of("orders"),
    {
      meta: Meta.tool({ name: "list_orders" }),
      inputs: { tags: Query.list("tags", Codec.string), page: Query.default("page", Codec.int, 1) },
      returns: Returns.text,
    },
    () => "",
  ),
  post(
    Path.of("orders"),
    {
      meta: Meta.tool({ name: "place_order" }),
      inputs: { order: json(v.object({ item: v.string() })) },
      returns: Returns.text,
    },
    () => "",
  ),
];
const app = Test.app([...routes, ...Mcp.routes(routes, { name: "orders", version: "1" })]);

const many = 5_000;
const unknown = (at: string) => ({ at, code: "unknown_member", message: "This is not a member this object has." });

it.each<readonly [name: string, given: object, problems: readonly object[]]>([
  [
    "place_order",
    Object.fromEntries(Array.from({ length: many }, (_, i) => [`a${i}`, 1])),
    Array.from({ length: 10 }, (_, i) => unknown(`a${i}`)),
  ],
  ["place_order", { itme: "pen", "a b": 1 }, [unknown("itme"), unknown("a b")]],
  [
    "list_orders",
    { tags: Array.from({ length: many }, () => ({})), page: [{}, []] },
    [
      { at: "tags", code: "malformed", message: expect.any(String) as unknown },
      { at: "page", code: "malformed", message: expect.any(String) as unknown },
    ],
  ],
])(
  "a problem of %s is listed once, and at most ten arguments that the tool does not have",
  async (name, given, problems) => {
    const refusal = (await refusalOf(app, name, given)) as { readonly problems: readonly object[] };
    expect(refusal.problems.length).toBe(problems.length);
    expect(refusal.problems).toEqual(problems);
  },
);

it.each([
  ["that the route reads", { item: 7 }],
  ["that the tool does not have", { itme: "pen" }],
])("a problem of an argument %s is in the language of the message", async (_which, given) => {
  const translated = Test.app([...routes, ...Mcp.routes(routes, { name: "orders", version: "1" })], {
    languages: languages([german]),
  });
  const { refusal } = await Test.mcp(translated, { headers: { "accept-language": "de" } }).call("place_order", given);
  expect(refusal?.message).toBe(german.sentences.invalid);
});

it("a problem of an argument that the tool does not have is in the format of the app", async () => {
  const formatted = Test.app([...routes, ...Mcp.routes(routes, { name: "orders", version: "1" })], {
    refusalFormat: RefusalFormat.problemDetails(),
  });
  const { content, isError } = await Test.mcp(formatted).call("place_order", { itme: "pen" });
  expect(isError).toBe(true);
  expect(JSON.parse(content[0]?.text ?? "")).toMatchObject({
    status: 400,
    error: "invalid",
    problems: [unknown("itme")],
  });
});

it("a problem of an argument whose name has a dot or a bracket is at that name", async () => {
  const names = ["page[size]", "filter.from"];
  const [size, from] = names.map((name) => Query.required(name, Codec.int));
  const route = get(
    Path.of("pages"),
    { meta: Meta.tool({ name: "pages" }), inputs: { size, from } as never, returns: Returns.text },
    () => "",
  );
  const app = Test.app([route, ...Mcp.routes([route], { name: "pages", version: "1" })]);
  const problems = names.map((at) => ({ at, code: "malformed" }));
  expect(await refusalOf(app, "pages", { "page[size]": "x", "filter.from": "y" })).toMatchObject({ problems });
});
