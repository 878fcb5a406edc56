/** What the orders example answers is what its document says: each route, each status of it, and its events. */
import { describe, expect, it } from "vitest";
import { Dep, Health, Meta, Openapi, Refusal, Result, Sessions, Socket, Test, refuse } from "usher-http";
import type { SessionStore } from "usher-http";
import { sessionStore } from "../../examples/orders/clerks.ts";
import { maxBody } from "../../examples/orders/import.ts";
import { routes } from "../../examples/orders/routes.ts";
import { memoryStore, store } from "../../examples/orders/store.ts";
import type { Store } from "../../examples/orders/store.ts";
import { compiler } from "./ajv.ts";
import type { Operation, Schema } from "./described.ts";
import "../support/logs.ts";

type Probe = Parameters<typeof Health.check>[1];

/** The routes of its server, except the document and its page. */
const served = (probe: Probe = () => Result.ok(undefined)) => [
  ...routes,
  ...Health.routes([Health.check("database", probe)]),
];
// What its document hides is described here too.
const all = Meta.onAll(served(), Meta.hidden, false);
const document = JSON.parse(JSON.stringify(Openapi.document(all))) as Openapi.Document;
const compile = compiler(document);

/** The example after a restart, with this in place of a database. */
function started(
  { orders = memoryStore(), sessions = Sessions.memory() }: { orders?: Store; sessions?: SessionStore } = {},
  probe?: Probe,
  options: Parameters<typeof Test.app>[1] = { maxBody },
): Test.TestApp {
  const resources = [Dep.resource(store, orders), Dep.resource(sessionStore, sessions)];
  return Test.app(served(probe), { ...options, resources });
}

/** A resource of which everything that is asked fails. */
function failing(fail: () => never): object {
  return new Proxy({}, { get: () => fail });
}

/** What the answers are asked of. */
const states = {
  well: () => started(),
  small: () => started({}, undefined, { maxBody: 4 }),
  broken: () =>
    failed(() => {
      throw new Error("no database");
    }),
  busy: () =>
    failed(() => {
      throw refuse(Refusal.busy);
    }),
} satisfies { readonly [state: string]: () => Test.TestApp };

function failed(fail: () => never): Test.TestApp {
  return started({ orders: failing(fail) as Store, sessions: failing(fail) as SessionStore }, fail);
}

/** What the document says of an answer of a route. */
function said(method: string, path: string, status: number) {
  const operation = document.paths[path]?.[method.toLowerCase()] as Operation | undefined;
  return operation?.responses[status];
}

function expectAsSaid(method: string, path: string, { status, headers, body }: Test.Answered): void {
  const answer = said(method, path, status);
  expect(answer, `${method} ${path} ${status} is not in the document`).toBeDefined();
  for (const [name, { required, schema }] of Object.entries(answer?.headers ?? {})) {
    const value = headers.get(name);
    if (required === true) expect(value, `${method} ${path} ${status} has no ${name}`).not.toBeNull();
    if (value === null) continue;
    const isValid = compile(schema)(schema["type"] === "integer" ? Number(value) : value);
    expect(isValid, `${method} ${path} ${status}: ${name}: ${value}`).toBe(true);
  }
  const type = headers.get("content-type")?.split(";")[0];
  if (type === undefined) {
    expect([body, answer?.content]).toEqual(["", undefined]);
    return;
  }
  const content = answer?.content?.[type];
  expect(content, `${method} ${path} ${status} is ${type} and the document has no word of it`).toBeDefined();
  if (content === undefined || content.itemSchema !== undefined) return;
  const validate = compile(content.schema);
  const value: unknown = type === "application/json" ? JSON.parse(body) : body;
  expect(validate(value), JSON.stringify([body, validate.errors])).toBe(true);
}

const clerk = { authorization: "Bearer demo" };
const foreign = { origin: "https://evil.example" };
const form = (csv: string): FormData => {
  const data = new FormData();
  data.set("orders", new File([csv], "orders.csv", { type: "text/csv" }));
  return data;
};
const signingIn = { body: new URLSearchParams({ name: "clerk", password: "demo" }) };
const opening = {
  connection: "upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};
const signedIn = { cookie: `session=${"a".repeat(22)}` };

/** The desk's protocol, with the raw messages of the server. */
const deskAsSent = Socket.protocol({ client: Socket.text, server: Socket.text });

type Asked = [
  status: number,
  method: string,
  path: string,
  target: string,
  options: Test.CallOptions,
  state?: keyof typeof states,
];

const order = { item: "pen", quantity: 2 };
const plain = { body: "item=pen", headers: { "content-type": "text/plain" } };
const requests: Asked[] = [
  [201, "POST", "/orders", "/orders", { body: order }],
  [400, "POST", "/orders", "/orders", { body: { item: "", quantity: 0.5 } }],
  [403, "POST", "/orders", "/orders", { body: order, headers: foreign }],
  [409, "POST", "/orders", "/orders", { body: { item: "unicorn", quantity: 1 } }],
  [413, "POST", "/orders", "/orders", { body: order }, "small"],
  [415, "POST", "/orders", "/orders", plain],
  [500, "POST", "/orders", "/orders", { body: order }, "broken"],
  [503, "POST", "/orders", "/orders", { body: order }, "busy"],

  [200, "GET", "/orders", "/orders", {}],
  [304, "GET", "/orders", "/orders", { headers: { "if-none-match": "*" } }],
  [412, "GET", "/orders", "/orders", { headers: { "if-match": '"9"' } }],
  [400, "GET", "/orders", "/orders?page=0&per_page=x", {}],
  [500, "GET", "/orders", "/orders", {}, "broken"],
  [503, "GET", "/orders", "/orders", {}, "busy"],

  [200, "POST", "/orders/import", "/orders/import", { body: form("item,quantity\npen,1\n") }],
  [400, "POST", "/orders/import", "/orders/import", { body: form("item,quantity\n,0\n") }],
  [403, "POST", "/orders/import", "/orders/import", { body: form(""), headers: foreign }],
  [409, "POST", "/orders/import", "/orders/import", { body: form("item,quantity\nunicorn,1\n") }],
  [413, "POST", "/orders/import", "/orders/import", { body: form("item,quantity\npen,1\n") }, "small"],
  [415, "POST", "/orders/import", "/orders/import", { body: {} }],
  [500, "POST", "/orders/import", "/orders/import", { body: form("item,quantity\npen,1\n") }, "broken"],
  [503, "POST", "/orders/import", "/orders/import", { body: form("item,quantity\npen,1\n") }, "busy"],

  [400, "GET", "/orders/feed", "/orders/feed", { headers: { "last-event-id": "x" } }],

  [400, "GET", "/orders/desk", "/orders/desk", { headers: { ...opening, "sec-websocket-key": "short" } }],
  [403, "GET", "/orders/desk", "/orders/desk", { headers: { ...opening, ...foreign } }],
  [426, "GET", "/orders/desk", "/orders/desk", {}],

  [200, "GET", "/orders/{order_id}", "/orders/1", {}],
  [400, "GET", "/orders/{order_id}", "/orders/x", {}],
  [304, "GET", "/orders/{order_id}", "/orders/1", { headers: { "if-none-match": '"1"' } }],
  [412, "GET", "/orders/{order_id}", "/orders/1", { headers: { "if-match": '"9"' } }],
  [404, "GET", "/orders/{order_id}", "/orders/9", {}],
  [500, "GET", "/orders/{order_id}", "/orders/1", {}, "broken"],
  [503, "GET", "/orders/{order_id}", "/orders/1", {}, "busy"],

  [200, "PATCH", "/orders/{order_id}", "/orders/1", { body: { quantity: 3 } }],
  [400, "PATCH", "/orders/{order_id}", "/orders/1", { body: "{", headers: { "content-type": "application/json" } }],
  [403, "PATCH", "/orders/{order_id}", "/orders/1", { body: { quantity: 3 }, headers: foreign }],
  [404, "PATCH", "/orders/{order_id}", "/orders/9", { body: { quantity: 3 } }],
  [412, "PATCH", "/orders/{order_id}", "/orders/1", { body: { quantity: 3 }, headers: { "if-match": '"9"' } }],
  [413, "PATCH", "/orders/{order_id}", "/orders/1", { body: { quantity: 3 } }, "small"],
  [415, "PATCH", "/orders/{order_id}", "/orders/1", plain],
  [500, "PATCH", "/orders/{order_id}", "/orders/1", { body: { quantity: 3 } }, "broken"],
  [503, "PATCH", "/orders/{order_id}", "/orders/1", { body: { quantity: 3 } }, "busy"],

  [204, "DELETE", "/orders/{order_id}", "/orders/1", { headers: clerk }],
  [400, "DELETE", "/orders/{order_id}", "/orders/x", { headers: clerk }],
  [401, "DELETE", "/orders/{order_id}", "/orders/1", {}],
  [403, "DELETE", "/orders/{order_id}", "/orders/1", { headers: { ...clerk, ...foreign } }],
  [404, "DELETE", "/orders/{order_id}", "/orders/9", { headers: clerk }],
  [500, "DELETE", "/orders/{order_id}", "/orders/1", { headers: clerk }, "broken"],
  [503, "DELETE", "/orders/{order_id}", "/orders/1", { headers: clerk }, "busy"],

  [200, "GET", "/sign-in", "/sign-in", {}],
  [303, "POST", "/sign-in", "/sign-in", signingIn],
  [400, "POST", "/sign-in", "/sign-in", { body: new URLSearchParams({ name: "ada" }) }],
  [403, "POST", "/sign-in", "/sign-in", { body: new URLSearchParams({ name: "ada", password: "x" }) }],
  [403, "POST", "/sign-in", "/sign-in", { ...signingIn, headers: foreign }],
  [413, "POST", "/sign-in", "/sign-in", signingIn, "small"],
  [415, "POST", "/sign-in", "/sign-in", plain],
  [500, "POST", "/sign-in", "/sign-in", signingIn, "broken"],
  [503, "POST", "/sign-in", "/sign-in", signingIn, "busy"],
  [303, "POST", "/sign-out", "/sign-out", {}],
  [403, "POST", "/sign-out", "/sign-out", { headers: foreign }],
  [500, "POST", "/sign-out", "/sign-out", { headers: signedIn }, "broken"],
  [503, "POST", "/sign-out", "/sign-out", { headers: signedIn }, "busy"],

  [200, "GET", "/", "/", {}],
  [304, "GET", "/", "/", { headers: { "if-none-match": "*" } }],
  [412, "GET", "/", "/", { headers: { "if-match": '"9"' } }],
  [500, "GET", "/", "/", { headers: signedIn }, "broken"],
  [503, "GET", "/", "/", { headers: signedIn }, "busy"],

  [204, "GET", "/favicon.ico", "/favicon.ico", {}],
  [200, "GET", "/livez", "/livez", {}],
  [200, "GET", "/readyz", "/readyz", {}],
  [500, "GET", "/readyz", "/readyz", {}, "broken"],
  [503, "GET", "/readyz", "/readyz", {}, "busy"],
];

describe("each route of the orders example", () => {
  it.each(requests)(
    "answers %i to %s %s as described in its document",
    async (status, method, path, target, options, state) => {
      const app = states[state ?? "well"]();
      if (state === undefined) await Test.call(app, "POST", "/orders", { body: { item: "ink", quantity: 1 } });
      const answered = await Test.call(app, method, target, options);
      expect(answered.status).toBe(status);
      expectAsSaid(method, path, answered);
    },
  );

  it("has a request for each status that its document lists, except those that nothing causes", () => {
    const asked = new Set(requests.map(([status, method, path]) => `${status} ${method} ${path}`));
    const told = all.flatMap(({ method, pattern }) => {
      const operation = document.paths[pattern]?.[method.toLowerCase()] as Operation;
      return Object.keys(operation.responses).map((status) => `${status} ${method} ${pattern}`);
    });
    expect(told.filter((one) => !asked.has(one))).toEqual([
      // Asked for below.
      "422 POST /orders",
      "422 POST /orders/import",
      "200 GET /orders/feed",
      // What fails once its head is sent ends the stream.
      "500 GET /orders/feed",
      "503 GET /orders/feed",
      "101 GET /orders/desk",
      // The socket is open before the store is asked.
      "500 GET /orders/desk",
      "503 GET /orders/desk",
      // The answer is kept in the transaction: a second change with the key waits for the first.
      "409 PATCH /orders/{order_id}",
      // Asked for below.
      "422 PATCH /orders/{order_id}",
      // An invalid session cookie is treated as absent.
      "400 GET /sign-in",
      "500 GET /sign-in",
      "503 GET /sign-in",
      "429 POST /sign-in",
      "400 POST /sign-out",
      "400 GET /",
      // These routes have no other failure.
      "500 GET /favicon.ico",
      "503 GET /favicon.ico",
      "500 GET /livez",
      "503 GET /livez",
    ]);
  });
});

describe("an idempotency key of the orders example", () => {
  it.each([
    ["POST", "/orders", "/orders", order, { item: "ink", quantity: 9 }],
    ["POST", "/orders/import", "/orders/import", form("item,quantity\npen,1\n"), form("item,quantity\npen,2\n")],
    ["PATCH", "/orders/{order_id}", "/orders/1", { quantity: 3 }, { quantity: 4 }],
  ])(
    "and one that was used for another %s %s is a 422, as described in its document",
    async (method, path, target, one, other) => {
      const app = states.well();
      await Test.call(app, "POST", "/orders", { body: { item: "ink", quantity: 1 } });
      const headers = { "idempotency-key": '"one-for-two"' };
      expect((await Test.call(app, method, target, { body: one, headers })).status).toBeLessThan(300);
      const answered = await Test.call(app, method, target, { body: other, headers });
      expect(answered.status).toBe(422);
      expectAsSaid(method, path, answered);
    },
  );

  it("of a pending change waits for it, and gets its answer", async () => {
    const app = states.well();
    await Test.call(app, "POST", "/orders", { body: { item: "ink", quantity: 1 } });
    const headers = { "idempotency-key": '"twice-at-once"' };
    const change = () => Test.call(app, "PATCH", "/orders/1", { body: { quantity: 3 }, headers });
    const [one, other] = await Promise.all([change(), change()]);
    expect([one.status, other.status]).toEqual([200, 200]);
    expect(other.body).toBe(one.body);
    expect((await Test.call(app, "GET", "/orders/1")).headers.get("etag")).toBe('"2"');
  });
});

describe("a client of the orders example", () => {
  it("gets a described answer for guessing passwords too fast", async () => {
    const app = states.well();
    const now = new Date();
    const guess = () => Test.call(app, "POST", "/sign-in", { ...plain, now, peer: "192.0.2.7" });
    for (let i = 0; i < 10; i++) expect((await guess()).status).toBe(415);
    const answered = await guess();
    expect(answered.status).toBe(429);
    expectAsSaid("POST", "/sign-in", answered);
  });
});

describe("the messages of the orders example", () => {
  it("of its feed fit the document, each event", async () => {
    const app = states.well();
    await Test.call(app, "POST", "/orders", { body: { item: "ink", quantity: 1 } });
    await Test.call(app, "PATCH", "/orders/1", { body: { quantity: 5 } });
    await Test.call(app, "DELETE", "/orders/1", { headers: clerk });
    const item = said("GET", "/orders/feed", 200)?.content?.["text/event-stream"]?.itemSchema ?? {};
    const validate = compile(item);
    const kinds = item["oneOf"] as { properties: { event: Schema; data?: { contentSchema: Schema } } }[];
    const follow = async (lastId: string | undefined, most: number): Promise<readonly string[]> => {
      const names: string[] = [];
      const receive = ({ name, id, data }: { name: string; id: string | undefined; data: string }) => {
        const event = { event: name, data, ...(id === undefined ? {} : { id }) };
        expect(validate(event), JSON.stringify([event, validate.errors])).toBe(true);
        const kind = kinds.find(({ properties }) => properties.event["const"] === name);
        const payload = compile(kind?.properties.data?.contentSchema ?? {});
        expect(payload(JSON.parse(data)), JSON.stringify([data, payload.errors])).toBe(true);
        return names.push(name) === most ? "stop" : undefined;
      };
      await Test.events(
        app,
        "/orders/feed",
        receive,
        lastId === undefined ? {} : { headers: { "last-event-id": lastId } },
      );
      return names;
    };
    expect(await follow(undefined, 3)).toEqual(["placed", "changed", "removed"]);
    // Of an event that is no longer held what follows is not known.
    expect(await follow("1", 1)).toEqual(["list"]);
    expect(kinds).toHaveLength(4);
  });

  it("at its desk fit the document, in both directions", async () => {
    const { client, server = {} } = (said("GET", "/orders/desk", 101)?.["x-websocket"] ?? {}) as {
      readonly [side: string]: Schema;
    };
    expect(client).toEqual({ type: "string" });
    const validate = compile(server);
    const heard = await Test.websocket(states.well(), deskAsSent, "/orders/desk", async (socket) => {
      for (const item of ["pen", ""]) {
        await socket.send(item);
        const answer = await socket.receive();
        expect(answer.ok && validate(JSON.parse(answer.value)), JSON.stringify([answer, validate.errors])).toBe(true);
      }
    });
    expect(heard.ok).toBe(true);
  });
});
