import {
  App,
  Codec,
  Dep,
  Form,
  Header,
  Meta,
  Path,
  Query,
  Refusal,
  Returns,
  Test,
  del,
  get,
  json,
  param,
  post,
  put,
  refuse,
} from "usher-http";
import { DeclarationError, Shape, body, multipart, request } from "usher-http";
import type { Route } from "usher-http";
import { Mcp } from "usher-http/mcp";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { ask, callTool, refusalOf, resultOf } from "./asking.ts";

const about = { name: "shop", version: "1" };
const appOf = (...routes: readonly Route[]) => Test.app([...routes, ...Mcp.routes(routes, about)]);

const orderId = Path.int("order_id");
const soldOut = Refusal.code("sold_out", { status: 409, doc: "The item is sold out." });
const NewOrder = Shape.named("NewOrder", v.object({ item: v.pipe(v.string(), v.minLength(1)), quantity: v.number() }));
const Order = Shape.named("Order", v.object({ id: v.number(), item: v.string() }));

const place = post(
  Path.of("orders"),
  {
    summary: "Place an order",
    meta: Meta.tool({ name: "place_order" }),
    inputs: { order: json(NewOrder), dry: Query.default("dry", Codec.bool, false) },
    returns: Returns.json(Order),
    refuses: [soldOut],
  },
  ({ order, dry }) => (order.item === "unicorn" ? refuse(soldOut, "No more.") : { id: dry ? 0 : 7, item: order.item }),
);
const list = get(
  Path.of("orders"),
  {
    meta: Meta.tool({ name: "list_orders" }),
    inputs: { tags: Query.list("tag", Codec.string) },
    returns: Returns.json(v.array(Order)),
  },
  ({ tags }) => tags.map((item, id) => ({ id, item })),
);
const one = get(
  Path.of("orders", orderId),
  { meta: Meta.tool(), inputs: { id: param(orderId) }, returns: Returns.json(Order) },
  ({ id }) => ({ id, item: "pen" }),
);
const secret = get(Path.of("orders", "secret"), { returns: Returns.text }, () => "not a tool");
const remove = del(
  Path.of("orders", orderId),
  { meta: Meta.tool({ name: "remove" }), inputs: { id: param(orderId) }, returns: Returns.empty() },
  () => {},
);
const shop = appOf(place, list, one, secret, remove);

describe("a list of tools", () => {
  it("has only the routes with Meta.tool", async () => {
    const { tools } = (await resultOf(shop, "tools/list")) as { tools: readonly { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(["place_order", "list_orders", "get_orders_order_id", "remove"]);
  });

  it("has schemas, descriptions and hints", async () => {
    const { tools } = (await resultOf(shop, "tools/list")) as { tools: readonly Record<string, unknown>[] };
    expect(tools[0]).toEqual({
      name: "place_order",
      title: "Place an order",
      description: "Place an order",
      inputSchema: {
        type: "object",
        properties: {
          dry: { type: "boolean", default: false },
          item: { type: "string", minLength: 1 },
          quantity: { type: "number" },
        },
        required: ["item", "quantity"],
        additionalProperties: false,
      },
      outputSchema: {
        type: "object",
        properties: { id: { type: "number" }, item: { type: "string" } },
        required: ["id", "item"],
      },
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
    });
    expect(tools.map(({ annotations }) => annotations)).toEqual([
      { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
      { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
      { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
      { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
    ]);
  });
});

describe("a call of a tool", () => {
  it.each([
    ["a body and a query", "place_order", { item: "pen", quantity: 1, dry: true }, { id: 0, item: "pen" }],
    ["a path", "get_orders_order_id", { order_id: 3 }, { id: 3, item: "pen" }],
    [
      "a list in a query",
      "list_orders",
      { tag: ["a", "b&c"] },
      {
        result: [
          { id: 0, item: "a" },
          { id: 1, item: "b&c" },
        ],
      },
    ],
  ])("returns %s", async (_what, name, given, answer) => {
    const { structuredContent, content, isError } = await callTool(shop, name, given);
    expect(structuredContent).toEqual(answer);
    expect(JSON.parse(content[0]?.text ?? "")).toEqual((answer as { result?: unknown }).result ?? answer);
    expect(isError).toBeUndefined();
  });

  it("has an empty result without content", async () => {
    expect(await callTool(shop, "remove", { order_id: 1 })).toEqual({
      content: [{ type: "text", text: "Done: status 204, no content." }],
    });
  });

  it.each([
    [
      "a refusal of the route",
      "place_order",
      { item: "unicorn", quantity: 1 },
      { error: "sold_out", message: "No more." },
    ],
    [
      "problems, by the names of the tool's members",
      "place_order",
      { item: "", quantity: "many", dry: "perhaps" },
      { error: "invalid", problems: [{ at: "dry", code: "malformed" }] },
    ],
    ["a missing body", "place_order", {}, { error: "invalid", problems: [{ at: "item" }, { at: "quantity" }] }],
    ["a missing path", "remove", {}, { error: "invalid", problems: [{ at: "order_id", code: "required" }] }],
    [
      "a member that the tool does not have",
      "remove",
      { order_id: 1, force: true },
      { error: "invalid", problems: [{ code: "unknown_member" }] },
    ],
    ["a path that another route answers", "get_orders_order_id", { order_id: "secret" }, { error: "not_found" }],
    [
      "an object where a text is",
      "list_orders",
      { tag: [{ a: 1 }] },
      { error: "invalid", problems: [{ at: "tag", code: "malformed" }] },
    ],
  ])("is an error of the tool for %s", async (_what, name, given, refusal) => {
    expect(await refusalOf(shop, name, given)).toMatchObject(refusal);
  });
});

describe("a call runs through the whole app", () => {
  const denied = Refusal.code("denied", { status: 401, doc: "Denied.", challenge: "Bearer" });
  const token = Dep.join(
    { given: Dep.credential("bearer", Header.optional("authorization", Codec.credentials)) },
    ({ given }) => (Codec.bearerToken(given) === "demo" ? "clerk" : refuse(denied, "Who are you?")),
    { refuses: [denied] },
  );
  const who = get(
    Path.of("who"),
    { meta: Meta.tool({ name: "who" }), inputs: { token, request }, returns: Returns.json(v.any()) },
    ({ token, request }) => ({
      token,
      cookie: request.cookie("theme"),
      accept: request.header("accept"),
      names: [...request.headers].map(([name]) => name),
      peer: request.peer,
    }),
  );
  const seen: string[] = [];
  const routes = [who, ...Mcp.routes([who], about)];
  const app = Test.app(routes, {
    middleware: [
      async (request, next) => {
        seen.push(`${request.method} ${request.path}`);
        return next();
      },
    ],
  });

  it("with the caller's credentials, and without the headers of the message", async () => {
    const { structuredContent } = await callTool(
      app,
      "who",
      {},
      { authorization: "Bearer demo", cookie: "theme=dark" },
    );
    const names = ["authorization", "cookie", "host", "traceparent"];
    expect(structuredContent).toEqual({ result: { token: "clerk", cookie: "dark", names, peer: "127.0.0.1" } });
    expect(seen).toEqual(["POST /mcp", "GET /who"]);
  });

  it("and refuses a caller that may not call the route", async () => {
    expect(await refusalOf(app, "who")).toMatchObject({ error: "denied", message: "Who are you?" });
  });

  it("and no argument can be a credential", async () => {
    const { tools } = (await resultOf(app, "tools/list", {}, { authorization: "Bearer demo" })) as {
      tools: readonly { inputSchema: object }[];
    };
    expect(tools[0]?.inputSchema).toEqual({ type: "object", properties: {}, additionalProperties: false });
  });
});

describe("inputs and answers of a tool's route", () => {
  const tool = Meta.tool({ name: "it" });
  const at = Path.of("it");
  const rest = Path.rest("file");
  const rows: readonly (readonly [string, Route, object, unknown])[] = [
    [
      "a form",
      post(
        at,
        {
          meta: tool,
          inputs: { a: Form.required("a", Codec.int), b: Form.checked("b") },
          returns: Returns.json(v.any()),
        },
        (all) => all,
      ),
      { a: 1, b: true },
      { a: 1, b: true },
    ],
    [
      "a file",
      post(
        at,
        {
          meta: tool,
          inputs: { f: Form.File.required("f"), a: Form.optional("a", Codec.string) },
          returns: Returns.text,
        },
        ({ f, a }) => `${new TextDecoder().decode(f.content)} ${a}`,
      ),
      { f: btoa("hello"), a: "x" },
      "hello x",
    ],
    [
      "bytes",
      post(at, { meta: tool, inputs: { body }, returns: Returns.text }, ({ body }) => `${body.length}`),
      { body: btoa("abc") },
      "3",
    ],
    [
      "a list as the body",
      post(
        at,
        { meta: tool, inputs: { all: json(v.array(v.number())) }, returns: Returns.json(v.number()) },
        ({ all }) => all.length,
      ),
      { body: [1, 2] },
      "2",
    ],
    [
      "a header",
      get(
        at,
        { meta: tool, inputs: { key: Header.required("idempotency-key", Codec.string) }, returns: Returns.text },
        ({ key }) => key,
      ),
      { "idempotency-key": "k" },
      "k",
    ],
    [
      "the rest of a path",
      get(
        Path.of("it", rest),
        { meta: tool, inputs: { file: param(rest) }, returns: Returns.json(v.any()) },
        ({ file }) => file,
      ),
      { file: "a/b c" },
      ["a", "b c"],
    ],
  ];
  it.each(rows)("%s", async (_what, route, given, answer) => {
    const { content, isError } = await callTool(appOf(route), "it", given);
    expect({ text: content[0]?.text, isError }).toEqual({
      text: typeof answer === "string" ? answer : JSON.stringify(answer),
      isError: undefined,
    });
  });
});

it("a body that is text is not base64", async () => {
  const note = Dep.ofBody({ contentTypes: ["text/csv"] }, (bytes) => new TextDecoder().decode(bytes));
  const meta = Meta.tool({ name: "it" });
  const route = post(Path.of("it"), { meta, inputs: { note }, returns: Returns.text }, ({ note }) => note);
  expect((await callTool(appOf(route), "it", { body: "YWJj" })).content[0]?.text).toBe("YWJj");
});

describe("an invalid base64 text is a problem of its member", () => {
  const tool = Meta.tool({ name: "it" });
  const at = Path.of("it");
  const file = post(at, { meta: tool, inputs: { f: Form.File.required("f") }, returns: Returns.text }, () => "");
  const bytes = post(at, { meta: tool, inputs: { body }, returns: Returns.text }, () => "");
  it.each([
    ["a file", file, { f: "é" }, "f"],
    ["a file that is a number", file, { f: 7 }, "f"],
    ["a body", bytes, { body: "a secret?" }, "body"],
  ] as const)("%s", async (_what, route, given, at) => {
    expect(await refusalOf(appOf(route), "it", given)).toMatchObject({
      error: "invalid",
      problems: [{ at, code: "malformed" }],
    });
  });
});

describe("routes that cannot be tools are refused by App.make", () => {
  const tool = Meta.tool({ name: "it" });
  const id = Path.param("id", Codec.string);
  const rows: readonly (readonly [string, Route, string])[] = [
    [
      "a member of two places",
      put(
        Path.of("x", id),
        { meta: tool, inputs: { id: param(id), order: json(v.object({ id: v.string() })) }, returns: Returns.text },
        () => "",
      ),
      "POST /mcp has the tool of PUT /x/{id}, which has the member id in its path and in its body: give one of them another name",
    ],
    [
      "parts of a form that arrive",
      post(Path.of("x"), { meta: tool, inputs: { parts: multipart({ max: 10 }) }, returns: Returns.text }, () => ""),
      "POST /mcp has the tool of POST /x, which reads its body as parts that arrive, which no tool can give",
    ],
    [
      "a name that models cannot use",
      get(Path.of("x"), { meta: Meta.tool({ name: "eine Ware" }), returns: Returns.text }, () => ""),
      'POST /mcp has the tool of GET /x, whose name is not 1 to 128 ASCII letters, digits, "_", "-" and "."',
    ],
  ];
  it.each(rows)("%s", (_what, route, problem) => {
    expect(() => appOf(route)).toThrow(new DeclarationError([problem]));
  });

  it("two tools of one name, and a route that the app does not have", () => {
    const [a, b] = ["a", "b"].map((path) => get(Path.of(path), { meta: tool, returns: Returns.text }, () => ""));
    expect(() => appOf(a as Route, b as Route)).toThrow("POST /mcp has two tools named it: GET /a and GET /b");
    expect(() => App.make(Mcp.routes([a as Route], about))).toThrow(
      "POST /mcp calls GET /a, which is no route of the app",
    );
  });
});

describe("mistakes of JavaScript callers are an error of Mcp.routes", () => {
  it.each([
    [{ log: undefined }, "the input log is undefined"],
    [{ log: {} }, "the input log is another object"],
    [null, "inputs is null"],
  ])("the inputs %j of a route", (inputs, problem) => {
    const route = get(Path.of("g"), { inputs: inputs as never, returns: Returns.text }, () => "");
    const resources = [Mcp.resource(route)];
    for (const make of [() => Mcp.routes([route], about), () => Mcp.routes([], { ...about, resources })]) {
      expect(make).toThrow(`Mcp.routes: GET /g: ${problem}`);
    }
  });
});

describe("pages of a list", () => {
  const routes = Array.from({ length: 5 }, (_, i) =>
    get(Path.of(`r${i}`), { meta: Meta.tool(), returns: Returns.text }, () => ""),
  );
  const app = Test.app([...routes, ...Mcp.routes(routes, { ...about, pageSize: 2 })]);
  it("are read with the cursor of the previous page", async () => {
    const names: string[] = [];
    for (let cursor: unknown; ;) {
      const { tools, nextCursor } = await resultOf(app, "tools/list", cursor === undefined ? {} : { cursor });
      names.push(...(tools as readonly { name: string }[]).map(({ name }) => name));
      cursor = nextCursor;
      if (cursor === undefined) break;
    }
    expect(names).toEqual(["get_r0", "get_r1", "get_r2", "get_r3", "get_r4"]);
  });

  it.each(["5", "-1", "01", "x", 2, {}, "99999999999"])("end with an error at the cursor %j", async (cursor) => {
    const { error } = (await ask(app, "tools/list", { cursor })).json() as { error: unknown };
    expect(error).toEqual({ code: -32_602, message: "The cursor does not belong to this list." });
  });
});
