/** What the orders example answers is what its document says: each route, its refusals and its events. */
import { beforeEach, describe, expect, it } from "vitest";
import { Dep, Openapi, Sessions, Test } from "usher-http";
import { sessionStore } from "../../examples/orders/clerks.ts";
import { maxBody } from "../../examples/orders/import.ts";
import { routes } from "../../examples/orders/routes.ts";
import { memoryStore, store } from "../../examples/orders/store.ts";
import { compiler } from "./ajv.ts";
import type { Operation, Schema } from "./described.ts";
import "../support/logs.ts";

const document = JSON.parse(JSON.stringify(Openapi.document(routes))) as Openapi.Document;
const compile = compiler(document);

let app: Test.TestApp;
beforeEach(() => {
  app = Test.app(routes, {
    maxBody,
    resources: [Dep.resource(store, memoryStore()), Dep.resource(sessionStore, Sessions.memory())],
  });
});

/** What the document says of an answer of a route. */
function said(method: string, path: string, status: number) {
  const operation = document.paths[path]?.[method.toLowerCase()] as Operation | undefined;
  return operation?.responses[status] ?? operation?.responses["default"];
}

function expectAsSaid(method: string, path: string, { status, headers, body }: Test.Answered): void {
  const answer = said(method, path, status);
  expect(answer, `${method} ${path} ${status} is not in the document`).toBeDefined();
  if (answer === undefined || (answer.content === undefined && status === 200)) return;
  const type = headers.get("content-type")?.split(";")[0];
  expect(Object.keys(answer.content ?? {})).toEqual(type === undefined ? [] : [type]);
  if (type !== "application/json") return;
  const validate = compile(answer.content?.[type]?.schema ?? {});
  expect(validate(JSON.parse(body)), JSON.stringify([body, validate.errors])).toBe(true);
}

const clerk = { authorization: "Bearer demo" };
const csv = new FormData();
csv.set("orders", new File(["item,quantity\npen,1\n"], "orders.csv", { type: "text/csv" }));
const form = new FormData();
form.set("orders", new File(["item,quantity\n,0\n"], "orders.csv", { type: "text/csv" }));

const requests: [number, string, string, string, Test.CallOptions][] = [
  [201, "POST", "/orders", "/orders", { body: { item: "pen", quantity: 2 } }],
  [400, "POST", "/orders", "/orders", { body: { item: "", quantity: 0.5 } }],
  [409, "POST", "/orders", "/orders", { body: { item: "unicorn", quantity: 1 } }],
  [415, "POST", "/orders", "/orders", { body: "item=pen", headers: { "content-type": "text/plain" } }],
  [200, "GET", "/orders", "/orders", {}],
  [400, "GET", "/orders", "/orders?page=0&per_page=x", {}],
  [200, "POST", "/orders/import", "/orders/import", { body: csv }],
  [400, "POST", "/orders/import", "/orders/import", { body: form }],
  [415, "POST", "/orders/import", "/orders/import", { body: {} }],
  [400, "GET", "/orders/feed", "/orders/feed", { headers: { "last-event-id": "x" } }],
  [426, "GET", "/orders/desk", "/orders/desk", {}],
  [200, "GET", "/orders/{order_id}", "/orders/1", {}],
  [404, "GET", "/orders/{order_id}", "/orders/9", {}],
  [400, "GET", "/orders/{order_id}", "/orders/x", {}],
  [200, "PATCH", "/orders/{order_id}", "/orders/1", { body: { quantity: 3 } }],
  [404, "PATCH", "/orders/{order_id}", "/orders/9", { body: { quantity: 3 } }],
  [204, "DELETE", "/orders/{order_id}", "/orders/1", { headers: clerk }],
  [401, "DELETE", "/orders/{order_id}", "/orders/1", {}],
  [404, "DELETE", "/orders/{order_id}", "/orders/9", { headers: clerk }],
  [303, "POST", "/sign-in", "/sign-in", { body: new URLSearchParams({ name: "clerk", password: "demo" }) }],
  [400, "POST", "/sign-in", "/sign-in", { body: new URLSearchParams({ name: "ada" }) }],
  [303, "POST", "/sign-out", "/sign-out", {}],
  ...routes
    .filter(
      ({ method, pattern, returns }) =>
        method === "GET" && !/[{]|orders/.test(pattern) && returns.node.kind !== "websocket",
    )
    .map(({ method, pattern, returns }): (typeof requests)[number] => {
      return [returns.node.kind === "empty" ? 204 : 200, method, pattern, pattern, {}];
    }),
];

describe("each route of the orders example", () => {
  it.each(requests)("answers %i to %s %s as its document says", async (status, method, path, target, options) => {
    await Test.call(app, "POST", "/orders", { body: { item: "ink", quantity: 1 } });
    const answered = await Test.call(app, method, target, options);
    expect(answered.status).toBe(status);
    expectAsSaid(method, path, answered);
  });

  it("is among them", () => {
    const asked = new Set(requests.map(([, method, path]) => `${method} ${path}`));
    expect(routes.map(({ method, pattern }) => `${method} ${pattern}`).filter((name) => !asked.has(name))).toEqual([]);
  });
});

it("the events of the feed are as its document says", async () => {
  await Test.call(app, "POST", "/orders", { body: { item: "ink", quantity: 1 } });
  await Test.call(app, "PATCH", "/orders/1", { body: { quantity: 5 } });
  await Test.call(app, "DELETE", "/orders/1", { headers: clerk });
  const item = said("GET", "/orders/feed", 200)?.content?.["text/event-stream"]?.itemSchema ?? {};
  const validate = compile(item);
  const kinds = item["oneOf"] as { properties: { event: Schema; data?: { contentSchema: Schema } } }[];
  const names: string[] = [];
  await Test.events(app, "/orders/feed", ({ name, id, data }) => {
    const event = { event: name, data, ...(id === undefined ? {} : { id }) };
    expect(validate(event), JSON.stringify([event, validate.errors])).toBe(true);
    const kind = kinds.find(({ properties }) => properties.event["const"] === name);
    const payload = compile(kind?.properties.data?.contentSchema ?? {});
    expect(payload(JSON.parse(data)), JSON.stringify([data, payload.errors])).toBe(true);
    return names.push(name) === 3 ? "stop" : undefined;
  });
  expect(names).toEqual(["placed", "changed", "removed"]);
});
