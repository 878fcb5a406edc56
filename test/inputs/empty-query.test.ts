/** `Meta.emptyQuery`: the route of a form with `method="get"` reads an empty query field as a field of a `POST` is read. */
import { describe, expect, it } from "vitest";
import * as v from "valibot";
import { App, Client, Codec, Dep, Meta, Openapi, Path, Query, Returns, Test, get } from "usher-http";
import type { Dep as DepType } from "usher-http";
import { Mcp } from "usher-http/mcp";
import "../support/logs.ts";

type Input = DepType<unknown, never, unknown>;
const absent = Meta.empty.add(Meta.emptyQuery, "absent");

/** What a handler gets of one field, as JSON; or the problems. */
async function read(meta: Meta, input: Input, query: string): Promise<unknown> {
  const route = get(Path.of("x"), { inputs: { given: input }, returns: Returns.text, meta }, ({ given }) =>
    JSON.stringify({ given }),
  );
  const { json } = await Test.call(Test.app([route]), "GET", `/x?${query}`);
  const answer = json() as { given?: unknown; problems?: readonly { at: string; code: string }[] };
  return answer.problems === undefined
    ? (answer.given ?? "absent")
    : answer.problems.map(({ at, code }) => `${at} ${code}`);
}

const wrong = ["query.f malformed"];
const age = Query.optional("f", Codec.int);
const rows: readonly (readonly [what: string, input: Input, without: unknown, by: unknown])[] = [
  ["an optional number", age, wrong, "absent"],
  ["an optional number by a schema", Query.optional("f", v.number()), wrong, "absent"],
  ["an optional word", Query.optional("f", v.picklist(["a", "b"])), ["query.f unknown_word"], "absent"],
  ["an optional text", Query.optional("f", Codec.string), "", ""],
  ["an optional mail address", Query.optional("f", v.pipe(v.string(), v.email())), wrong, "absent"],
  ["a number with a default", Query.default("f", Codec.int, 5), wrong, 5],
  ["a text with a default", Query.default("f", Codec.string, "x"), "", ""],
  ["a required number", Query.required("f", Codec.int), wrong, ["query.f required"]],
  ["a required text", Query.required("f", Codec.string), "", ""],
  ["a list of numbers", Query.list("f", Codec.int), wrong, []],
  ["a list of texts", Query.list("f", Codec.string), [""], [""]],
  ["a list that needs a number", Query.list("f", Codec.int, { minItems: 1 }), wrong, ["query.f too_few"]],
  ["a value of a join", Dep.join({ age }, ({ age }) => age ?? "none"), wrong, "none"],
  ["a value that a bind chose", Dep.bind(Dep.return(1), () => age), wrong, "absent"],
];

describe("an empty query field", () => {
  it.each(rows)("is read as %s only by a route that asks for it", async (_what, input, without, by) => {
    const given = ["f=", "f", "other=1&f="];
    for (const query of given) {
      expect([query, await read(Meta.empty, input, query)]).toEqual([query, without]);
      expect([query, await read(absent, input, query)]).toEqual([query, by]);
    }
  });

  it("does not change how any other text is read", async () => {
    for (const query of ["f=+", "f=x", "f=%FF"]) expect(await read(absent, age, query)).toEqual(wrong);
    expect([await read(absent, age, "f=7"), await read(absent, age, "")]).toEqual([7, "absent"]);
    expect(await read(absent, Query.list("f", Codec.int), "f=1&f=&f=2")).toEqual([1, 2]);
    expect(await read(absent, age, "f=&f=7")).toBe("absent");
  });

  it("is refused with any other value, from JavaScript too", () => {
    const meta = Meta.empty.add(Meta.emptyQuery, true as never);
    const route = get(Path.of("x"), { returns: Returns.text, meta }, () => "");
    expect(() => App.make([route])).toThrow('App.make: GET /x: its Meta.emptyQuery is "absent", and not a boolean');
  });
});

describe("a route that reads empty query fields as absent", () => {
  const declared = { age, name: Query.optional("name", Codec.string), tags: Query.list("tag", Codec.int) };
  const search = (meta: Meta) =>
    get(Path.of("search"), { inputs: declared, returns: Returns.json(v.any()), meta }, ({ age, name, tags }) => [
      age ?? null,
      name ?? null,
      [...tags],
    ]);
  const [plain, forForms] = [
    search(Meta.tool({ name: "search" })),
    search(Meta.tool({ name: "search" }).add(Meta.emptyQuery, "absent")),
  ];

  it("has the same API document", () => {
    const about = { title: "x", version: "1" };
    expect(Openapi.document([forForms], about)).toEqual(Openapi.document([plain], about));
  });

  it("is called by a typed client and by an agent as without it", async () => {
    const about = { name: "x", version: "1" };
    const calls = [{ f: 7, name: "", tag: [1, 2] }, { name: "Ada" }, { f: -1 }, {}];
    const answers = async (route: typeof plain) => {
      const routes = [route, ...Mcp.routes([route], about)];
      const { fetch } = App.make(routes);
      const api = Client.of<readonly [typeof plain]>({ baseUrl: "http://localhost", fetch });
      const agent = Test.mcp(Test.app(routes));
      const typed = await Promise.all(calls.map((query) => api["GET /search"]({ query })));
      const told = await Promise.all(calls.map((query) => agent.call("search", query)));
      return {
        typed: typed.map((outcome) => (outcome.ok ? outcome.value : outcome.status)),
        told,
        tools: await agent.tools(),
      };
    };
    const [without, by] = [await answers(plain), await answers(forForms)];
    expect(by).toEqual(without);
    expect(by.told.map(({ isError }) => isError)).toEqual([false, false, false, false]);
  });
});
