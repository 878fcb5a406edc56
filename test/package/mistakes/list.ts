/** The commonest mistakes of a newcomer, each a program of its own after `prelude`. */
export interface Mistake {
  readonly what: string;
  readonly source: string;
  /** Why the compiler says it in more than four lines. */
  readonly long?: string;
  /** The solution, which is the last line of the error. */
  readonly names?: string;
}

/** The module that every mistake imports. */
export const shared = `import * as v from "valibot";
import { Client, Codec, Dep, Event, Path, Query, Refusal, Returns, Socket, Cookie, answer, get, json, param, post, refuse } from "usher-http";
import type { Pool } from "usher-http/postgres";
import { Statement, Type } from "usher-http/postgres";
export const Order = v.object({ id: v.number(), item: v.string(), quantity: v.number() });
export type OrderValue = v.InferOutput<typeof Order>;
export const NewOrder = v.object({ item: v.string(), quantity: v.number() });
export const gone = Refusal.code("gone", { status: 410, doc: "It was there." });
export const signedOut = Refusal.code("signed_out", { status: 401, doc: "Nobody.", challenge: "Bearer" });
export const orderId = Path.int("order_id");
export const orders = Path.of("orders");
export const order = Path.of("orders", orderId);
export const page = Query.default("page", Codec.int, 1);
export const store = Dep.ofResource<{ find(id: number): Promise<OrderValue | undefined>; get(id: number): Promise<OrderValue>; all(): Promise<readonly OrderValue[]> }>("store");
export const pool = Dep.ofResource<Pool>("pool");
export const byId = Statement.find("select id, item, quantity from orders where id = $1", { params: [Type.int], row: { id: Type.int, item: Type.text, quantity: Type.int } });
export const Placed = Event.json("placed", Order);
export const Tick = Event.text("tick");
export const chat = Socket.protocol({ client: Socket.text, server: Socket.json(NewOrder) });
export const readOrder = get(order, { inputs: { id: param(orderId), store }, returns: Returns.json(Order), refuses: [gone] }, ({ id, store }) => store.get(id));
export const placeOrder = post(orders, { inputs: { page, placed: json(NewOrder), store }, returns: Returns.jsonResponse(Order, { 200: "There.", 201: "Made." }), refuses: [gone] }, async ({ placed }) => answer(201, { id: 1, ...placed }));
export const routes = [readOrder, placeOrder] as const;
export const api = Client.of<typeof routes>({ baseUrl: "" });
export const session = Cookie.named("session", Codec.string);
`;

/** The first lines of every mistake. */
export const prelude = `import * as v from "valibot";
import { Answer, ApiKeys, App, Client, Cookie, Dep, Event, Meta, Path, Query, Codec, Rate, Refusal, RefusalFormat, Returns, Route, Sessions, Socket, answer, get, json, param, post, refuse, route } from "usher-http";
import { serve } from "usher-http/node";
import { Jwt } from "usher-http/jwt";
import { Statement } from "usher-http/postgres";
import { NewOrder, Order, Placed, Tick, api, byId, chat, gone, order, orderId, orders, page, pool, readOrder, routes, signedOut, store } from "./shared.js";
`;

const promised = "the compiler descends from the promise to the member";
const eachOverload = "TypeScript 5.9 reports each of two overloads, the one for Valibot last";

export const mistakes: readonly Mistake[] = [
  {
    what: "a refusal that is not declared",
    source:
      "get(order, { inputs: { id: param(orderId), store }, returns: Returns.json(Order) }, ({ id, store }) => refuse(gone));",
  },
  {
    what: "a refusal that is not declared, in an async handler",
    source: `get(order, { inputs: { id: param(orderId), store }, returns: Returns.json(Order) }, async ({ id, store }) => {
  const found = await store.find(id);
  if (found === undefined) return refuse(gone, "It is gone.");
  return found;
});`,
  },
  {
    what: "a member of another type",
    source: `get(order, { inputs: { id: param(orderId) }, returns: Returns.json(Order) }, ({ id }) => ({ id, item: "pen", quantity: "2" }));`,
  },
  {
    what: "a member of another type, in an async handler",
    source: `get(order, { inputs: { id: param(orderId), store }, returns: Returns.json(Order) }, async ({ id, store }) => {
  const found = await store.get(id);
  return { ...found, quantity: String(found.quantity) };
});`,
    long: promised,
  },
  {
    what: "a member of another type, in an async handler that refuses",
    source: `get(order, { inputs: { id: param(orderId), store }, returns: Returns.json(Order), refuses: [gone] }, async ({ id, store }) => {
  const found = await store.find(id);
  if (found === undefined) return refuse(gone);
  return { ...found, quantity: String(found.quantity) };
});`,
    long: promised,
  },
  {
    what: "a member that is missing",
    source: `get(order, { inputs: { id: param(orderId) }, returns: Returns.json(Order) }, ({ id }) => ({ id, item: "pen" }));`,
  },
  {
    what: "a member that is missing, in an async handler",
    source: `get(order, { inputs: { id: param(orderId) }, returns: Returns.json(Order) }, async ({ id }) => {
  return { id, item: "pen" };
});`,
    long: promised,
  },
  {
    what: "an answer that may be undefined",
    source:
      "get(order, { inputs: { id: param(orderId), store }, returns: Returns.json(Order) }, async ({ id, store }) => store.find(id));",
  },
  {
    what: "a forgotten await",
    source: `get(orders, { inputs: { store }, returns: Returns.json(Order) }, async ({ store }) => {
  const found = store.get(1);
  return { id: found.id, item: found.item, quantity: 1 };
});`,
  },
  {
    what: "a forgotten await of a member",
    source: `get(orders, { inputs: { store }, returns: Returns.json(v.object({ items: v.array(Order) })) }, async ({ store }) => {
  return { items: store.all() };
});`,
    long: promised,
  },
  {
    what: "an input that is not declared",
    source: "get(orders, { inputs: { page }, returns: Returns.text }, ({ page, size }) => String(page + size));",
  },
  {
    what: "an input of another type",
    source: "get(orders, { inputs: { page }, returns: Returns.text }, ({ page }) => page.toUpperCase());",
  },
  {
    what: "another parameter than the path's",
    source: `get(order, { inputs: { id: param(Path.str("order_id")) }, returns: Returns.text }, ({ id }) => id);`,
  },
  {
    what: "a codec in place of an input",
    source: "get(orders, { inputs: { page: Codec.int }, returns: Returns.text }, ({ page }) => String(page));",
  },
  {
    what: "a shape in place of an input",
    source: `post(orders, { inputs: { placed: NewOrder }, returns: Returns.text }, ({ placed }) => "yes");`,
  },
  {
    what: "a path as text",
    source: `get("/orders/:id", { returns: Returns.text }, () => "hello");`,
  },
  {
    what: "a parameter as text in `Path.of`",
    source: `get(Path.of("orders", ":id"), { returns: Returns.text }, () => "hello");`,
  },
  {
    what: "a pattern in `Path.of`",
    source: `get(Path.of("orders", "{id}", orderId), { returns: Returns.text }, () => "hello");`,
  },
  {
    what: "an object that is no schema, as a body",
    source: `json({ name: "string" });`,
  },
  {
    what: "a handler that reads a request",
    source: `get(orders, { returns: Returns.text }, (req) => req.headers);`,
  },
  {
    what: "no `returns`",
    source: "get(orders, { inputs: { page } }, ({ page }) => ({ page }));",
  },
  {
    what: "a shape in place of a `Returns`",
    source: "get(orders, { inputs: { store }, returns: Order }, ({ store }) => store.get(1));",
  },
  {
    what: "the name of a code in `refuses`",
    source: `get(orders, { returns: Returns.text, refuses: ["gone"] }, () => "hello");`,
  },
  {
    what: "a status that is not listed",
    source: `post(orders, { returns: Returns.jsonResponse(Order, { 200: "Here.", 201: "Made." }) }, () => answer(202, { id: 1, item: "pen", quantity: 1 }));`,
  },
  {
    what: "a status that is not listed, in an async handler",
    source: `post(orders, { inputs: { placed: json(NewOrder) }, returns: Returns.jsonResponse(Order, { 200: "Here.", 201: "Made." }) }, async ({ placed }) => {
  return answer(202, { id: 1, ...placed });
});`,
    long: promised,
  },
  {
    what: "a value without its status",
    source: `post(orders, { returns: Returns.jsonResponse(Order, { 200: "Here.", 201: "Made." }) }, async () => ({ id: 1, item: "pen", quantity: 1 }));`,
    names: "return answer(status, value)",
  },
  {
    what: "a value without its status, in an async handler that refuses",
    source: `post(orders, { inputs: { placed: json(NewOrder) }, returns: Returns.jsonResponse(Order, { 200: "Here.", 201: "Made." }), refuses: [gone] }, async ({ placed }) => {
  if (placed.quantity === 0) return refuse(gone);
  if (placed.quantity === 1) return answer(200, { id: 1, ...placed });
  return { id: 2, ...placed };
});`,
    long: promised,
    names: "return answer(status, value)",
  },
  {
    what: "an empty answer without its status",
    source: `post(orders, { returns: Returns.emptyResponse({ 202: "Later.", 204: "Done." }) }, async () => {});`,
    names: "return answer(status)",
  },
  {
    what: "a status with a value that lacks a member",
    source: `post(orders, { returns: Returns.jsonResponse(Order, { 200: "Here.", 201: "Made." }) }, async () => answer(201, { id: 1, item: "pen" }));`,
    long: promised,
  },
  {
    what: "an object where the answer is text",
    source: `get(orders, { returns: Returns.text }, () => ({ hello: "world" }));`,
  },
  {
    what: "a handler that returns nothing",
    source: `get(orders, { inputs: { store }, returns: Returns.json(v.array(Order)) }, async ({ store }) => {
  await store.all();
});`,
  },
  {
    what: "no handler",
    source: "get(orders, { returns: Returns.text });",
  },
  {
    what: "a call without the path's argument",
    source: `api["GET /orders/{order_id}"]();`,
  },
  {
    what: "a call with another name of the path's argument",
    source: `api["GET /orders/{order_id}"]({ path: { id: 1 } });`,
  },
  {
    what: "a call with a path's argument of another type",
    source: `api["GET /orders/{order_id}"]({ path: { order_id: "1" } });`,
  },
  {
    what: "a call with a query of another type",
    source: `api["POST /orders"]({ query: { page: "2" }, json: { item: "pen", quantity: 1 } });`,
  },
  {
    what: "a call whose body lacks a member",
    source: `api["POST /orders"]({ json: { item: "pen" } });`,
  },
  {
    what: "a call of no route",
    source: `api["GET /order/{order_id}"]({ path: { order_id: 1 } });`,
  },
  {
    what: "an outcome that is not checked",
    source: `const found = await api["GET /orders/{order_id}"]({ path: { order_id: 1 } });
console.log(found.value.item);`,
  },
  {
    what: "a member that the answer does not have",
    source: `const found = await api["GET /orders/{order_id}"]({ path: { order_id: 1 } });
if (found.ok) console.log(found.value.name);`,
  },
  {
    what: "a code that the route never answers",
    source: `const found = await api["GET /orders/{order_id}"]({ path: { order_id: 1 } });
if (!found.ok && found.error === "sold_out") console.log("sold out");`,
  },
  {
    what: "an event of another kind",
    source: `get(orders, { returns: Returns.events([Placed]) }, () => async (send) => {
  await send(Event.make(Tick, "1"));
});`,
  },
  {
    what: "an event that lacks a member",
    source: `Event.make(Placed, { id: 1, item: "pen" });`,
  },
  {
    what: "a socket's message of another type",
    source: `get(orders, { returns: Returns.websocket(chat) }, () => async (socket) => {
  await socket.send("hello");
});`,
  },
  {
    what: "a resource without all its methods",
    source: "Dep.resource(store, { find: async () => undefined });",
  },
  {
    what: "one resource in place of the list",
    source: "App.make(routes, { resources: Dep.resource(store, {} as never) });",
  },
  {
    what: "one code in place of the list",
    source: `get(orders, { returns: Returns.text, refuses: gone }, () => "x");`,
  },
  {
    what: "a list of routes among the routes",
    source: "App.make([readOrder, routes]);",
  },
  {
    what: "a status in place of options",
    source: "Returns.json(Order, 201);",
  },
  {
    what: "a code in place of a refusal",
    source: "get(orders, { returns: Returns.json(Order), refuses: [gone] }, () => gone);",
  },
  {
    what: "a session's time as text",
    source: 'Sessions.make({ store: Sessions.memory(), shape: Order, idleMs: "30m", absoluteMs: 3_600_000 });',
  },
  {
    what: "a session without its times",
    source: "Sessions.make({ store: Sessions.memory(), shape: Order });",
  },
  {
    what: "a store that was not awaited",
    source: "Rate.make({ limit: 5, perMs: 60_000, store: Promise.resolve(Rate.memory()) });",
  },
  {
    what: "a sweep of sessions whose store is a resource",
    source: `const sessions = Sessions.make({ store: Dep.ofResource<Sessions.SessionStore>("sessions"), shape: Order, idleMs: 1, absoluteMs: 1 });
await sessions.sweep(new Date());`,
  },
  {
    what: "an API key made without the store, which is a resource",
    source: `const keys = ApiKeys.make({ prefix: "shop_live", store: Dep.ofResource<ApiKeys.ApiKeyStore>("keys") });
await ApiKeys.create(keys, { owner: "ada" });`,
  },
  {
    what: "an answer that its schema does not take",
    source: 'Answer.json(Order, { id: "1", item: "pen", quantity: 1 });',
    long: eachOverload,
  },
  {
    what: "a format of refusals that writes another member",
    source: "RefusalFormat.json({ shape: NewOrder, write: ({ message }) => ({ item: message }) });",
    long: eachOverload,
  },
  {
    what: "an option that lines of JSON do not have",
    source: 'Returns.jsonLines(Order, { description: "x" });',
    long: eachOverload,
  },
  {
    what: "a JWT without its keys",
    source: 'Jwt.bearer({ issuer: "https://a.example", audience: "shop", algorithms: ["ES256"], claims: Order });',
  },
  {
    what: "a signed cookie without keys",
    source: `Cookie.signed("session", Codec.string);`,
  },
  {
    what: "a statement without its argument",
    source:
      "get(order, { inputs: { id: param(orderId), pool }, returns: Returns.json(Order) }, async ({ pool }) => pool.exec(byId));",
  },
  {
    what: "a statement's argument of another type",
    source: `get(order, { inputs: { pool }, returns: Returns.json(Order) }, async ({ pool }) => pool.exec(byId, "1"));`,
  },
  {
    what: "one route in place of the list",
    source: "await serve(readOrder, { port: 3000 });",
  },
  {
    what: "a level that is none",
    source: `get(orders, { returns: Returns.text, meta: Meta.empty.add(Meta.access, "loud") }, () => "hello");`,
  },
  {
    what: "a default of another type",
    source: `Query.default("page", Codec.int, "1");`,
  },
  {
    what: "a refusal that an input does not declare",
    source: "Dep.join({ page }, ({ page }) => page < 1 ? refuse(gone) : page);",
  },
  {
    what: "a refusal of `Dep.map`",
    source: "Dep.map(page, (page) => page < 1 ? refuse(gone) : page);",
  },
  {
    what: "a HEAD route",
    source: `route("HEAD", orders, { returns: Returns.text }, () => "hello");`,
  },
  {
    what: "a method in lower case",
    source: `route("get", orders, { returns: Returns.text }, () => "hello");`,
  },
  {
    what: "a status of JSON that is no success",
    source: `Returns.json(Order, { status: 404 });`,
  },
  {
    what: "JSON under a status without a body",
    source: `Returns.json(Order, { status: 204 });`,
  },
  {
    what: "a 401 without its challenge",
    source: `Refusal.code("signed", { status: 401, doc: "Nobody." });`,
  },
  {
    what: "a refusal with the status of a success",
    source: `Refusal.code("fine", { status: 200, doc: "Fine." });`,
  },
  {
    what: "an example of another type",
    source: `Returns.json(Order, { examples: [{ id: 1, item: "pen", quantity: "2" }] });`,
  },
  {
    what: "an example of a body of another type",
    source: `json(NewOrder, { examples: [{ item: "pen", quantity: "2" }] });`,
  },
  {
    what: "an object that is no schema",
    source: `Returns.json({ id: "number" });`,
  },
  {
    what: "a URL with another name of the path's argument",
    source: "Path.url(order, { id: 1 });",
  },
  {
    what: "a refusal by the name of its code",
    source: `get(orders, { returns: Returns.text }, () => refuse("not_found"));`,
  },
  {
    what: "a misspelt member of the declaration",
    source: `get(orders, { return: Returns.text, summary: "x" }, () => "hello");`,
  },
  {
    what: "an input whose name the group has already",
    source: `Route.group({ inputs: { page } }).get(orders, { inputs: { page }, returns: Returns.text }, () => "x");`,
  },
  {
    what: "a refusal that neither the group nor the route declares",
    source: `Route.group({ refuses: [signedOut] }).get(orders, { returns: Returns.text }, () => refuse(gone));`,
  },
  {
    what: "an input that neither the group nor the route declares",
    source: `Route.group({ inputs: { page } }).get(orders, { returns: Returns.text }, ({ page, store }) => "x");`,
  },
  {
    what: "a prefix that is a text",
    source: `Route.group({ prefix: "/v1" });`,
  },
  {
    what: "a misspelt option of a group",
    source: `Route.group({ prefix: orders, input: { page } });`,
  },
  {
    what: "a problem of an input, in a handler",
    source: `get(orders, { inputs: { page }, returns: Returns.text }, ({ page }) =>
  page < 1 ? Dep.problem({ at: "query.page", code: "small", message: "No." }) : "x");`,
    names: "A handler returns a list: Dep.problems([problem]).",
  },
  {
    what: "a problem of an input, in an async handler that refuses",
    source: `get(orders, { inputs: { store }, returns: Returns.json(Order), refuses: [gone] }, async ({ store }) => {
  const found = await store.find(1);
  if (found === undefined) return refuse(gone);
  if (found.quantity < 1) return Dep.problem({ at: "query.page", code: "small", message: "No." });
  return found;
});`,
    long: promised,
    names: "A handler returns a list: Dep.problems([problem]).",
  },
  {
    what: "a call of a WebSocket's route",
    source: `const talk = get(Path.of("chat"), { returns: Returns.websocket(chat) }, () => async () => {});
const sockets = Client.of<readonly [typeof talk]>({ baseUrl: "" });
await sockets["GET /chat"]();`,
    names: "Call its member `open`.",
  },
  {
    what: "a handler that sends events itself",
    source: `get(orders, { returns: Returns.events([Placed]) }, async (send) => {
  await send(Event.make(Placed, { id: 1, item: "pen", quantity: 1 }));
});`,
    long: "the handler returns nothing, and what it calls is no function",
  },
  {
    what: "a handler that sends messages itself",
    source: `get(orders, { returns: Returns.websocket(chat) }, async (socket) => {
  await socket.send({ item: "pen", quantity: 1 });
});`,
    long: "the handler returns nothing, and what it calls is no socket",
  },
  {
    what: "a handler that yields events",
    source: `get(orders, { returns: Returns.events([Placed]) }, async function* () {
  yield Event.make(Placed, { id: 1, item: "pen", quantity: 1 });
});`,
  },
  {
    what: "a client without the types of the routes",
    source: `const calls = Client.of({ baseUrl: "" });
await calls["GET /orders"]();`,
    names: "Write Client.of<typeof routes>(options).",
  },
  {
    what: "a client of routes that have an annotation",
    source: `const all: readonly Route[] = routes;
await Client.of<typeof all>({ baseUrl: "" })["GET /orders"]();`,
  },
  {
    what: "`json` in a handler",
    source: `get(orders, { returns: Returns.json(Order) }, () => json({ id: 1, item: "pen", quantity: 1 }));`,
    names: "A handler returns its value itself.",
  },
  {
    what: "a `Response` in a handler",
    source: `get(orders, { returns: Returns.text }, () => new Response("hello"));`,
  },
  {
    what: "the name of a parameter",
    source: `get(order, { inputs: { id: param("order_id") }, returns: Returns.text }, () => "x");`,
    long: eachOverload.replace(", the one for Valibot last", ""),
    names: "Give the parameter of the path itself: const id = Path.int(name).",
  },
  {
    what: "a parameter in place of an input",
    source: `get(order, { inputs: { id: orderId }, returns: Returns.text }, () => "x");`,
  },
  {
    what: "a value that is called",
    source: `get(orders, { returns: Returns.text() }, () => "x");`,
  },
  {
    what: "a function of `Returns` that is not called",
    source: `post(orders, { returns: Returns.empty }, () => {});`,
  },
  {
    what: "a status in the declaration",
    source: `get(orders, { returns: Returns.text, status: 201 }, () => "x");`,
  },
  {
    what: "an app in place of its routes",
    source: `await serve(App.make(routes), { port: 3000 });`,
  },
  {
    what: "a socket's message as a schema",
    source: `Socket.protocol({ client: Socket.text, server: NewOrder });`,
  },
  {
    what: "a type of the database as text",
    source: `Statement.list("select id from orders", { row: { id: "int" } });`,
  },
];
