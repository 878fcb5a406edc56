/** Groups of routes: a route in a group works like the same route without a group. */
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import {
  App,
  Client,
  Codec,
  Cors,
  Dep,
  Event,
  Header,
  Health,
  Meta,
  Openapi,
  Path,
  Query,
  Refusal,
  Returns,
  Route,
  Socket,
  Test,
  del,
  get,
  json,
  param,
  post,
  refuse,
  route,
} from "usher-http";
import { Conditional } from "usher-http/conditional";
import { internal, invalid, notAllowed, notFound } from "../support/refusals.ts";
import { lines } from "../support/logs.ts";

const accountId = Path.int("account_id");
const orderId = Path.int("order_id");
const signedOut = Refusal.code("signed_out", { status: 401, doc: "No token.", challenge: "Bearer" });
const frozen = Refusal.code("frozen", { status: 409, doc: "The account is frozen." });
const soldOut = Refusal.code("sold_out", { status: 409, doc: "There is none left." });
const owner = Meta.key<string>("who owns the route");
const Order = v.object({ item: v.string() });

let ran: string[] = [];
/** An input that records that it ran, and refuses the token "bad". */
const clerk = Dep.credential(
  "token",
  Dep.join(
    { token: Header.required("x-token", Codec.string) },
    async ({ token }) => {
      ran.push("clerk");
      if (token === "broken") throw new Error("the secret of the clerk");
      return token === "bad" ? refuse(signedOut) : token;
    },
    { refuses: [signedOut] },
  ),
);
const page = Dep.map(Query.default("page", Codec.int, 1), (page) => {
  ran.push("page");
  return page;
});
const loud = Dep.map(Query.default("loud", Codec.bool, false), (loud) => {
  ran.push("loud");
  return loud;
});

const options = {
  prefix: Path.of("accounts", accountId),
  inputs: { account: param(accountId), clerk },
  refuses: [frozen],
  tags: ["Accounts"],
  meta: Meta.empty.add(owner, "accounts").add(Meta.access, "debug"),
};
const accounts = Route.group(options);
const notes = accounts.group({
  prefix: Path.of("notes"),
  inputs: { loud },
  tags: ["Notes"],
  meta: Meta.empty.add(owner, "notes"),
});
const named = { prefix: Path.of("v1"), tags: ["Old"] };
const plain = get(Path.of("plain"), { summary: "Plain", returns: Returns.text }, () => "plain");

const grouped = [
  accounts.get(
    Path.of("orders", orderId),
    { summary: "One", inputs: { id: param(orderId), page }, returns: Returns.text, tags: ["Orders", "Accounts"] },
    ({ account, clerk, id, page }) => (id === 0 ? refuse(frozen) : `${account} ${clerk} ${id} ${page}`),
  ),
  accounts.post(
    Path.root,
    { description: "Places one.", inputs: { order: json(Order) }, returns: Returns.json(Order), refuses: [soldOut] },
    ({ order, clerk }) => (order.item === "gold" ? refuse(soldOut) : { item: `${order.item} of ${clerk}` }),
  ),
  notes.del(Path.root, { inputs: { page }, returns: Returns.text }, (given) => {
    ran.push("handler");
    return Object.keys(given).join(" ");
  }),
  notes.route(
    "SEARCH",
    Path.of("all"),
    { returns: Returns.text, meta: Meta.empty.add(owner, "search") },
    () => "found",
  ),
  ...accounts.group(named, [plain]),
  ...Route.group(named, [plain]),
] as const;

/** The same routes, without a group. */
const both = { account: param(accountId), clerk };
const debug = Meta.empty.add(Meta.access, "debug");
const flat: readonly Route[] = [
  get(
    Path.of("accounts", accountId, "orders", orderId),
    {
      summary: "One",
      inputs: { ...both, id: param(orderId), page },
      returns: Returns.text,
      refuses: [frozen],
      tags: ["Accounts", "Orders"],
    },
    () => "",
  ),
  post(
    Path.of("accounts", accountId),
    {
      description: "Places one.",
      inputs: { ...both, order: json(Order) },
      returns: Returns.json(Order),
      refuses: [frozen, soldOut],
      tags: ["Accounts"],
      meta: debug,
    },
    () => ({ item: "" }),
  ),
  del(
    Path.of("accounts", accountId, "notes"),
    { inputs: { ...both, loud, page }, returns: Returns.text, refuses: [frozen], tags: ["Accounts", "Notes"] },
    () => "",
  ),
  route(
    "SEARCH",
    Path.of("accounts", accountId, "notes", "all"),
    { inputs: { ...both, loud }, returns: Returns.text, refuses: [frozen], tags: ["Accounts", "Notes"] },
    () => "",
  ),
  get(
    Path.of("accounts", accountId, "v1", "plain"),
    { summary: "Plain", inputs: both, returns: Returns.text, refuses: [frozen], tags: ["Accounts", "Old"] },
    () => "",
  ),
  get(Path.of("v1", "plain"), { summary: "Plain", returns: Returns.text, tags: ["Old"] }, () => ""),
];

const app = Test.app(grouped);
const headers = { "x-token": "kim" };

async function call(method: string, target: string, sent: Test.CallOptions = { headers }) {
  ran = [];
  const { status, body } = await Test.call(app, method, target, sent);
  return [status, body];
}

describe("a route of a group", () => {
  it("is the same as the route without a group", () => {
    const seen = (routes: readonly Route[]) =>
      routes.map(({ method, pattern, path, inputs, refuses, tags, summary, description }) => {
        return { method, pattern, path, inputs: Object.keys(inputs), refuses, tags, summary, description };
      });
    expect(seen(grouped)).toEqual(seen(flat));
    expect(Openapi.document(grouped)).toEqual(Openapi.document(flat));
  });

  it("has the group's metadata, below its own", () => {
    const owners = grouped.map(({ meta }) => meta.find(owner));
    expect(owners).toEqual(["accounts", "accounts", "notes", "search", "accounts", undefined]);
    expect(grouped.map(({ meta }) => meta.find(Meta.access))).toEqual([...Array<string>(5).fill("debug"), undefined]);
    expect(grouped[3].meta.add(owner, "again").find(owner)).toBe("again");
    expect(grouped[3].meta.add(owner, "again").find(Meta.access)).toBe("debug");
  });

  const rows: readonly (readonly [string, string, number, string])[] = [
    ["GET", "/accounts/7/orders/3?page=2", 200, "7 kim 3 2"],
    ["HEAD", "/accounts/7/orders/3", 200, ""],
    ["GET", "/accounts/7/orders/0", 409, '{"error":"frozen","message":"The account is frozen."}'],
    ["DELETE", "/accounts/7/notes", 200, "account clerk loud page"],
    ["SEARCH", "/accounts/7/notes/all", 200, "found"],
    ["GET", "/accounts/7/v1/plain", 200, "plain"],
    ["GET", "/v1/plain", 200, "plain"],
    ["GET", "/accounts/7/none", 404, notFound],
    ["GET", "/orders/3", 404, notFound],
    ["GET", "/accounts", 404, notFound],
    ["GET", "/accounts/7/", 404, notFound],
    ["GET", "/plain", 404, notFound],
    ["PUT", "/accounts/7/orders/3", 405, notAllowed],
    ["GET", "/accounts/7", 405, notAllowed],
    ["OPTIONS", "/accounts/7/notes", 204, ""],
  ];
  it.each(rows)("%s %s is %i", async (method, target, status, text) => {
    expect(await call(method, target)).toEqual([status, text]);
  });

  it("is called by the typed client with the group's inputs", async () => {
    const { fetch } = App.make(grouped);
    const api = Client.of<typeof grouped>({ baseUrl: "http://localhost", fetch: (request) => fetch(request) });
    const path = { account_id: 7, order_id: 3 };
    const shown = await api["GET /accounts/{account_id}/orders/{order_id}"]({ path, headers, query: { page: 2 } });
    expect(shown).toMatchObject({ ok: true, value: "7 kim 3 2" });
    const bad = { path: { account_id: 7 }, headers: { "x-token": "bad" } };
    const refused = await api["GET /accounts/{account_id}/v1/plain"](bad);
    expect(!refused.ok && refused.error === "signed_out" && refused.status).toBe(401);
  });

  it("reads its body, and may refuse with its own codes", async () => {
    const place = (item: string) => call("POST", "/accounts/7", { headers, body: { item } });
    expect(await place("pen")).toEqual([200, '{"item":"pen of kim"}']);
    expect(await place("gold")).toEqual([409, '{"error":"sold_out","message":"There is none left."}']);
  });

  it("has each of its inputs read once: the outer group's, the inner group's, then its own", async () => {
    await call("DELETE", "/accounts/7/notes");
    expect(ran).toEqual(["clerk", "loud", "page", "handler"]);
  });

  it("has no input read on a path without a route", async () => {
    for (const target of ["/accounts/7/none", "/accounts/7", "/accounts/x"]) await call("GET", target);
    await call("OPTIONS", "/accounts/7");
    expect(ran).toEqual([]);
  });
});

describe("an input of a group", () => {
  it("that refuses is the answer, and no later input runs", async () => {
    expect(await call("DELETE", "/accounts/7/notes", { headers: { "x-token": "bad" } })).toEqual([
      401,
      '{"error":"signed_out","message":"No token."}',
    ]);
    expect(ran).toEqual(["clerk"]);
  });

  it("that refuses does so before the body is read", async () => {
    let pulled = 0;
    const body = new ReadableStream({ pull: () => void pulled++ }, { highWaterMark: 0 });
    const sent = { method: "POST", body, duplex: "half" as const, headers: { "x-token": "bad" } };
    const { status } = await App.make(grouped).fetch(new Request("http://localhost/accounts/7", sent));
    expect([status, pulled]).toEqual([401, 0]);
  });

  it("that throws is a 500, and no log line has the thrown value", async () => {
    expect(await call("GET", "/accounts/7/orders/3", { headers: { "x-token": "broken" } })).toEqual([500, internal]);
    const failed = lines().filter((line) => line["level"] === "error");
    expect(failed).toMatchObject([{ "http.route": "/accounts/{account_id}/orders/{order_id}" }]);
    expect(JSON.stringify(lines())).not.toContain("secret");
  });

  it("reports its problems together with those of the route's inputs", async () => {
    const whole = "This is not a whole number.";
    expect(await call("GET", "/accounts/x/orders/y?page=z", {})).toEqual([
      400,
      invalid(
        ["path.account_id", "malformed", whole],
        ["header.x-token", "required", "This is required."],
        ["path.order_id", "malformed", whole],
        ["query.page", "malformed", whole],
      ),
    ]);
    expect((await call("POST", "/accounts/x", { headers, body: { item: 1 } }))[1]).toEqual(
      invalid(["path.account_id", "malformed", whole]),
    );
  });

  it("may be the one that reads the body", async () => {
    const bodies = Route.group({ inputs: { order: json(Order) } });
    const app = Test.app([
      bodies.post(Path.of("a"), { inputs: { page }, returns: Returns.text }, ({ order }) => order.item),
    ]);
    expect((await Test.call(app, "POST", "/a", { body: { item: "pen" } })).body).toBe("pen");
    expect((await Test.call(app, "POST", "/a", { body: {} })).status).toBe(400);
  });
});

describe("a group", () => {
  it("may be empty and may have no option", () => {
    expect(Route.group(options, [])).toEqual([]);
    expect(Route.group({}, [plain])).toMatchObject([{ pattern: "/plain", tags: [], inputs: {} }]);
    expect(Route.group({ prefix: Path.root }).group({}, [plain])).toMatchObject([{ pattern: "/plain" }]);
  });

  it("does not change its routes, which can be used again", async () => {
    const routes = [
      plain,
      ...Route.group({ prefix: Path.of("v1") }, [plain]),
      ...Route.group({ prefix: Path.of("v2") }, [plain]),
      ...accounts.group({ prefix: Path.of("a") }, grouped.slice(4)),
    ];
    expect(plain).toMatchObject({ pattern: "/plain", tags: [], inputs: {} });
    expect(() => App.make(routes)).toThrow("has the input clerk twice");
    expect((await Test.call(Test.app(routes.slice(0, 3)), "GET", "/v2/plain")).body).toBe("plain");
  });

  it("may contain the framework's own routes", async () => {
    const docs = Openapi.docs(grouped);
    const app = Test.app(Route.group({ prefix: Path.of("internal") }, [...Health.routes([]), ...docs]));
    for (const path of ["livez", "readyz", "docs", "openapi.json"]) {
      expect([path, (await Test.call(app, "GET", `/internal/${path}`)).status]).toEqual([path, 200]);
    }
  });

  it("may have a prefix with a parameter that passes on to the next route", async () => {
    const year = Path.int("year", { unparsed: "next-route" });
    const years = Route.group({ prefix: Path.of(year), inputs: { year: param(year) } });
    const [word, a] = [Path.str("word"), Path.of("a")];
    const app = Test.app([
      years.get(a, { returns: Returns.text }, ({ year }) => `${year + 1}`),
      get(Path.of(word, "a"), { inputs: { word: param(word) }, returns: Returns.text }, ({ word }) => word),
    ]);
    expect((await Test.call(app, "GET", "/1999/a")).body).toBe("2000");
    expect((await Test.call(app, "GET", "/now/a")).body).toBe("now");
  });
});

describe("routes of other kinds in a group", () => {
  const tick = Event.text("tick");
  const protocol = Socket.protocol({ client: Socket.text, server: Socket.text });
  const live = [
    accounts.get(Path.of("events"), { returns: Returns.events([tick]) }, ({ clerk }) => async (send) => {
      await send(Event.make(tick, clerk));
    }),
    accounts.get(Path.of("chat"), { returns: Returns.websocket(protocol) }, ({ account }) => async (socket) => {
      for await (const text of socket) await socket.send(`${account} ${text}`);
    }),
  ];

  it("an event stream works", async () => {
    const data: string[] = [];
    const ended = await Test.events(Test.app(live), "/accounts/7/events", (event) => void data.push(event.data), {
      headers,
    });
    expect([ended.ok, data]).toEqual([true, ["kim"]]);
    const refused = await Test.events(Test.app(live), "/accounts/7/events", () => "stop", {
      headers: { "x-token": "bad" },
    });
    expect(refused).toMatchObject({ ok: false, error: { status: 401 } });
  });

  it("a WebSocket works", async () => {
    const talk = (socket: Socket<string, string>) => socket.send("hi").then(() => socket.receive());
    const got = await Test.websocket(Test.app(live), protocol, "/accounts/7/chat", talk, { headers });
    expect(got).toMatchObject({ ok: true, value: { ok: true, value: "7 hi" } });
  });

  it("routes with an ETag of their text work", async () => {
    const [show] = Conditional.tagJson(
      Route.group(options, [get(Path.of("a"), { returns: Returns.json(Order) }, () => ({ item: "pen" }))]),
    );
    const [again] = Route.group({ prefix: Path.of("v1") }, [show]);
    const { headers: tagged } = await Test.call(Test.app([again]), "GET", "/v1/accounts/7/a", { headers });
    expect(tagged.get("etag")).toMatch(/^W\//);
  });

  it("routes with a CORS policy work", async () => {
    const routes = Route.group({ prefix: Path.of("open") }, [
      plain,
      post(Path.of("plain"), { returns: Returns.text }, () => ""),
    ]);
    const cors = Cors.make({ origins: ["https://shop.example"], routes });
    const app = Test.app([...routes, plain], { cors });
    const origin = { origin: "https://shop.example" };
    const ask = { headers: { ...origin, "access-control-request-method": "POST" } };
    const preflight = await Test.call(app, "OPTIONS", "/open/plain", ask);
    expect(preflight.headers.get("access-control-allow-methods")).toBe("GET, POST, HEAD");
    const headerOf = async (target: string) =>
      (await Test.call(app, "GET", target, { headers: origin })).headers.get("access-control-allow-origin");
    expect([await headerOf("/open/plain"), await headerOf("/plain")]).toEqual(["https://shop.example", null]);
    expect(() => App.make(routes, { cors: Cors.make({ origins: "any", routes: [plain] }) })).toThrow(
      "cors is for GET /plain, which is no route of the app",
    );
  });
});
