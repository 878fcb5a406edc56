import { Answer, Codec, Dep, Header, Meta, Path, Query, Refusal, Returns, Test, get, param, refuse } from "usher-http";
import type { Route } from "usher-http";
import { Mcp } from "usher-http/mcp";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { messages } from "../../support/logs.ts";
import { ask, callTool, resultOf } from "./asking.ts";

const about = { name: "shop", version: "1" };
const orderId = Path.int("order_id");
const gone = Refusal.code("gone", { status: 404, doc: "Gone." });
const Order = v.object({ id: v.number(), page: v.number() });

const readme = get(Path.of("readme"), { summary: "Read me", returns: Returns.text }, () => "Hello.");
const one = get(
  Path.of("orders", orderId),
  {
    inputs: { id: param(orderId), page: Query.default("page", Codec.int, 1) },
    returns: Returns.json(Order),
    refuses: [gone],
  },
  ({ id, page }) => (id === 9 ? refuse(gone, "Gone.") : { id, page }),
);
const file = get(
  Path.of("file", Path.rest("path")),
  { returns: Returns.response },
  () => new Response("abc", { headers: { "content-type": "image/png" } }) as never,
);
const moved = get(Path.of("moved"), { returns: Returns.responses({ 303: "Elsewhere." }) }, () =>
  Answer.redirect("/readme", { status: 303 }),
);
const routes = [readme, one, file, moved];
const app = Test.app([
  ...routes,
  ...Mcp.routes(routes, {
    ...about,
    resources: [
      Mcp.resource(readme, { name: "readme", mimeType: "text/plain" }),
      Mcp.resource(one, { uri: "shop://orders/{order_id}{?page}" }),
      Mcp.resource(file),
      Mcp.resource(moved, { uri: "shop://moved" }),
    ],
  }),
]);

describe("resources", () => {
  it("are listed, with templates in a list of their own", async () => {
    expect(await resultOf(app, "resources/list")).toMatchObject({
      resources: [
        { uri: "app:///readme", name: "readme", title: "Read me", mimeType: "text/plain" },
        { uri: "shop://moved", name: "/moved" },
      ],
    });
    expect(await resultOf(app, "resources/templates/list")).toMatchObject({
      resourceTemplates: [
        { uriTemplate: "shop://orders/{order_id}{?page}", name: "/orders/{order_id}" },
        { uriTemplate: "app:///file/{path}", name: "/file/{path*}" },
      ],
    });
    const { capabilities } = await resultOf(app, "server/discover");
    expect(capabilities).toEqual({ tools: {}, resources: {} });
  });

  it.each([
    ["app:///readme", { mimeType: "text/plain", text: "Hello." }],
    ["shop://orders/7?page=3", { mimeType: "application/json", text: '{"id":7,"page":3}' }],
    ["shop://orders/7", { mimeType: "application/json", text: '{"id":7,"page":1}' }],
    ["app:///file/a/b%20c.png", { mimeType: "image/png", blob: "YWJj" }],
  ])("%s is read", async (uri, contents) => {
    expect(await resultOf(app, "resources/read", { uri })).toMatchObject({ contents: [{ uri, ...contents }] });
  });

  it.each([
    ["app:///other", -32_602],
    ["shop://orders/9", -32_602],
    ["shop://orders/x", -32_603],
    ["shop://moved", -32_603],
    ["shop://orders/7/more", -32_602],
    ["shop://orders/7%2Fmore", -32_603],
    ["shop://orders/%ff", -32_602],
    [7, -32_602],
  ])("%j is an error", async (uri, code) => {
    expect((await ask(app, "resources/read", { uri })).json()).toMatchObject({ error: { code } });
  });
});

describe("a resource whose URI also matches another template", () => {
  const id = Path.int("id");
  const word = Path.str("word");
  const returns = Returns.text;
  const other = get(Path.of(word, "list"), { returns }, () => "list");
  const order = get(Path.of("orders", id), { returns }, () => "order");
  const lines = get(Path.of("orders", id, "lines"), { returns }, () => "lines");
  const open = get(Path.of("orders", "open"), { returns }, () => "open");
  const report = get(Path.of("report"), { returns }, () => "report");
  const all = [other, order, lines, open, report];
  const shop = Test.app([
    ...all,
    ...Mcp.routes(all, {
      ...about,
      resources: [
        Mcp.resource(other),
        Mcp.resource(order),
        Mcp.resource(lines),
        Mcp.resource(open),
        Mcp.resource(report, { uri: "app:///orders/report" }),
      ],
    }),
  ]);
  it.each([
    ["app:///orders/7", "order"],
    ["app:///orders/7/lines", "lines"],
    ["app:///orders/open", "open"],
    ["app:///orders/report", "report"],
    ["app:///people/list", "list"],
  ])("%s is read", async (uri, text) => {
    expect(await resultOf(shop, "resources/read", { uri })).toMatchObject({ contents: [{ uri, text }] });
  });
});

describe("prompts", () => {
  const Given = v.object({
    item: v.pipe(v.string(), v.minLength(1), v.description("What is sold.")),
    note: v.optional(v.string()),
  });
  const prompts = [
    Mcp.prompt("review", Given, ({ item }) => `Look at ${item}.`, { title: "Review", description: "Reviews an item." }),
    Mcp.prompt("talk", v.object({}), async () => [
      { role: "user", content: "Hi." },
      { role: "assistant", content: { type: "image", data: "YQ==", mimeType: "image/png" } },
    ]),
  ];
  const app = Test.app(Mcp.routes([], { ...about, prompts }));

  it("are listed with their arguments", async () => {
    const required = { name: "item", description: "What is sold.", required: true };
    expect(await resultOf(app, "prompts/list")).toMatchObject({
      prompts: [
        {
          name: "review",
          title: "Review",
          description: "Reviews an item.",
          arguments: [required, { name: "note", required: false }],
        },
        { name: "talk" },
      ],
    });
  });

  it("return texts or messages", async () => {
    expect(await resultOf(app, "prompts/get", { name: "review", arguments: { item: "pens" } })).toEqual({
      description: "Reviews an item.",
      messages: [{ role: "user", content: { type: "text", text: "Look at pens." } }],
    });
    const { messages } = await resultOf(app, "prompts/get", { name: "talk" });
    expect(messages).toEqual([
      { role: "user", content: { type: "text", text: "Hi." } },
      { role: "assistant", content: { type: "image", data: "YQ==", mimeType: "image/png" } },
    ]);
  });

  const required = { at: "item", code: "required" };
  const notText = { at: "item", code: "unexpected_type", message: "This must be text." };
  const notObject = { at: "arguments", code: "unexpected_type" };
  it.each([
    ["arguments that are missing", undefined, [required]],
    ["an argument that the shape refuses", { item: "" }, [{ at: "item", code: "too_short" }]],
    ["an argument that is not text", { item: 7 }, [notText]],
    ["an argument of another name that is not text", { item: "a", other: null }, [{ ...notText, at: "other" }]],
    ["a list", ["item"], [notObject]],
    ["null", null, [notObject]],
  ])("refuse %s, with its name", async (_what, given, problems) => {
    const params = { name: "review", ...(given === undefined ? {} : { arguments: given }) };
    const { error } = (await ask(app, "prompts/get", params)).json() as { readonly error: object };
    expect(error).toMatchObject({ code: -32_602, data: { problems } });
  });

  it("list ten arguments that are not texts", async () => {
    const given = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`a${i}`, i]));
    const { error } = (await ask(app, "prompts/get", { name: "review", arguments: given })).json() as {
      readonly error: { readonly data: { readonly problems: readonly object[] } };
    };
    expect(error.data.problems.length).toBe(10);
  });

  it("must have names", async () => {
    expect((await ask(app, "prompts/get", { name: "other" })).json()).toMatchObject({ error: { code: -32_602 } });
  });

  it("must have an object of arguments", () => {
    const wrong = Mcp.prompt("wrong", v.array(v.string()) as never, () => "");
    expect(() => Test.app(Mcp.routes([], { ...about, prompts: [wrong] }))).toThrow(
      "POST /mcp has the prompt wrong, whose shape is not an object of texts",
    );
  });
});

const denied = Refusal.code("denied", { status: 401, doc: "Denied.", challenge: "Bearer" });
const forbidden = Refusal.code("forbidden", { status: 403, doc: "Forbidden." });
const user = Dep.join(
  { given: Dep.credential("bearer", Header.optional("authorization", Codec.credentials)) },
  ({ given }) => Codec.bearerToken(given) ?? refuse(denied, "Who are you?"),
  { refuses: [denied] },
);
const admin = Dep.join({ user }, ({ user }) => (user === "admin" ? user : refuse(forbidden, "No.")), {
  refuses: [forbidden],
});
const toolOf = (name: string, inputs: { readonly [name: string]: typeof user | typeof admin }) =>
  get(Path.of(name), { meta: Meta.tool({ name }), inputs, returns: Returns.text }, () => name);
const guarded = [toolOf("all", {}), toolOf("users", { user }), toolOf("admins", { admin })];

describe("the caller of a list", () => {
  const app = Test.app([...guarded, ...Mcp.routes(guarded, about)]);
  it.each([
    ["nobody", {}, ["all"]],
    ["a user", { authorization: "Bearer user" }, ["all", "users"]],
    ["an admin", { authorization: "Bearer admin" }, ["all", "users", "admins"]],
  ])("%s sees the tools that it may call", async (_who, headers, names) => {
    const { tools } = (await resultOf(app, "tools/list", {}, headers)) as {
      tools: readonly { name: string }[];
    };
    expect(tools.map(({ name }) => name)).toEqual(names);
    expect((await callTool(app, "admins", {}, headers as { [name: string]: string })).isError).toBe(
      names.includes("admins") ? undefined : true,
    );
  });
});

it("a credential that several tools need is checked once for a list, also when it is refused", async () => {
  let checks = 0;
  const account = Dep.join(
    { given: Dep.credential("bearer", Header.optional("authorization", Codec.credentials)) },
    async ({ given }) => {
      checks++;
      return Codec.bearerToken(given) ?? refuse(denied, "Sign in.");
    },
    { refuses: [denied] },
  );
  const owner = Dep.join({ account }, ({ account }) => account);
  const routes: readonly Route[] = Array.from({ length: 10 }, (_, i) => {
    const inputs = { account: i % 2 === 0 ? account : owner };
    return get(Path.of(`t${i}`), { meta: Meta.tool({ name: `t${i}` }), inputs, returns: Returns.text }, () => "");
  });
  const app = Test.app([...routes, ...Mcp.routes(routes, about)]);
  expect((await resultOf(app, "tools/list"))["tools"]).toEqual([]);
  expect(checks).toBe(1);
  const { tools } = await resultOf(app, "tools/list", {}, { authorization: "Bearer x" });
  expect(tools).toHaveLength(10);
  expect(checks).toBe(2);
});

describe("a client that has to sign in", () => {
  const authorization = {
    resource: "https://api.example.com/mcp",
    issuers: ["https://login.example.com"],
    scopes: ["orders"],
  };
  const resources = guarded.map((route) => Mcp.resource(route));
  const open = Test.app([...guarded, ...Mcp.routes(guarded, { ...about, authorization, resources })]);
  const closed = Test.app([...guarded, ...Mcp.routes(guarded, { ...about, authorization, inputs: { user } })]);
  const challenge =
    'Bearer resource_metadata="https://api.example.com/.well-known/oauth-protected-resource/mcp", scope="orders"';

  it("gets the address", async () => {
    const answered = await Test.call(open, "GET", "/.well-known/oauth-protected-resource/mcp");
    expect(answered.json()).toEqual({
      resource: "https://api.example.com/mcp",
      authorization_servers: ["https://login.example.com"],
      scopes_supported: ["orders"],
      bearer_methods_supported: ["header"],
    });
  });

  it("also where the resource ends in a slash", async () => {
    const resource = "https://api.example.com/mcp/";
    const app = Test.app([
      ...guarded,
      ...Mcp.routes(guarded, { ...about, authorization: { ...authorization, resource } }),
    ]);
    const answered = await ask(app, "tools/call", { name: "users" });
    expect(answered.headers.get("www-authenticate")).toBe(challenge);
    const { pathname } = new URL(/resource_metadata="([^"]*)"/.exec(challenge)?.[1] ?? "");
    expect((await Test.call(app, "GET", pathname)).json()).toMatchObject({ resource });
  });

  it.each([
    ["a tool", "tools/call", { name: "users" }],
    ["a resource", "resources/read", { uri: "app:///users" }],
  ])("from a 401 of %s", async (_what, method, params) => {
    const answered = await ask(open, method, params);
    expect([answered.status, answered.headers.get("www-authenticate")]).toEqual([401, challenge]);
    expect((await ask(open, method, params, { headers: { authorization: "Bearer x" } })).status).toBe(200);
  });

  it("or for every message", async () => {
    const answered = await ask(closed, "server/discover");
    expect([answered.status, answered.headers.get("www-authenticate")]).toEqual([401, `Bearer, ${challenge}`]);
    expect((await ask(closed, "server/discover", {}, { headers: { authorization: "Bearer x" } })).status).toBe(200);
  });

  it("by inputs that the app checks as it checks all others", () => {
    const users = Dep.ofResource<ReadonlySet<string>>("users");
    const wrong = Header.optional("x user", Codec.string);
    const make = () => Test.app(Mcp.routes([], { ...about, authorization, inputs: { users, wrong } }));
    expect(make).toThrow(/reads the header "x user".*\n.*reads the resource users/);
  });

  it("from the refusal of an input, in the answer and in the log", async () => {
    const expired = Dep.join(
      { given: Dep.credential("bearer", Header.optional("authorization", Codec.credentials)) },
      ({ given }) =>
        Codec.bearerToken(given) ??
        new Refusal(denied, "Sign in.", { challenge: 'Bearer error="invalid_token"', detail: "the token has expired" }),
      { refuses: [denied] },
    );
    const app = Test.app(Mcp.routes([], { ...about, authorization, inputs: { expired } }));
    const answered = await ask(app, "server/discover");
    expect(answered.headers.get("www-authenticate")).toBe(`Bearer error="invalid_token", ${challenge}`);
    expect(messages("warn")).toContain("POST /mcp: denied: the token has expired");
  });

  it.each([
    [{ resource: "mcp", issuers: [] }, "authorization.resource"],
    [{ resource: "https://a.example", issuers: "x" }, "authorization.issuers"],
    [{ resource: "https://a.example", issuers: [], scopes: ['a"b'] }, "authorization.scopes"],
  ])("%j is refused", (authorization, member) => {
    expect(() => Mcp.routes([], { ...about, authorization: authorization as never })).toThrow(`Mcp.routes: ${member}`);
  });
});
