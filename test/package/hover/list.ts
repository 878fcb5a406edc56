/** What a user of an editor points at, each in a program of its own after `prelude`. */
export interface Hover {
  readonly what: string;
  readonly source: string;
  /** The text that is pointed at: its last place in `source`. */
  readonly at: string;
  /** Why the compiler says it in more than twelve lines. */
  readonly long?: string;
  /** Why it names a type that a user does not write. */
  readonly inner?: string;
}

/** The first lines of every program. */
export const prelude = `import * as v from "valibot";
import { Client, Codec, Dep, Header, Path, Query, Returns, Route, answer, get, json, param, post, refuse } from "usher-http";
import { NewOrder, Order, Placed, api, byId, chat, gone, order, orderId, orders, page, placeOrder, pool, readOrder, routes, signedOut, store } from "./shared.js";
const token = Dep.credential("bearer", Dep.join({ credentials: Header.optional("authorization", Codec.credentials) }, ({ credentials }) => credentials?.scheme ?? "", { refuses: [signedOut] }));
const shopOrder = Path.of("shops", Path.str("shop"), "orders", orderId);
const change = post(shopOrder, { inputs: { token, id: param(orderId), page, placed: json(NewOrder), store }, returns: Returns.jsonResponse(Order, { 200: "There.", 201: "Made." }), refuses: [gone] }, ({ id, placed }) => answer(200, { id, ...placed }));
const shop = Client.of<[typeof readOrder, typeof placeOrder, typeof change]>({ baseUrl: "" });
`;

const read = `await api["GET /orders/{order_id}"]({ path: { order_id: 1 } })`;
const changed = `await shop["POST /shops/{shop}/orders/{order_id}"]({ path: { shop: "a", order_id: 1 }, headers: { authorization: "b" }, json: { item: "pen", quantity: 1 } })`;

const parts = "the path, the headers, the query, the body and the answer of each status have lines of their own.";
const list = "a list is shown with each of its routes, and the compiler ends it at some 30 lines.";
const shape = "a Valibot shape is shown twice, as the type argument and as the argument.";

export const hovers: readonly Hover[] = [
  { what: "a route", source: "readOrder;", at: "readOrder" },
  { what: "a route with a credential, a query and a body", source: "change;", at: "change", long: parts },
  {
    what: "a route of a group",
    source: `const stalls = Route.group({ prefix: Path.of("stalls", Path.str("stall")), inputs: { token } });
const stall = stalls.get(order, { inputs: { id: param(orderId) }, returns: Returns.text }, () => "");
stall;`,
    at: "stall",
  },
  {
    what: "a group",
    source: `const stalls = Route.group({ prefix: Path.of("stalls", Path.str("stall")), inputs: { token } });
stalls;`,
    at: "stalls",
  },
  { what: "a list of routes", source: "routes;", at: "routes", long: list },
  { what: "a dependency that is a resource", source: "store;", at: "store" },
  { what: "a dependency that is a credential", source: "token;", at: "token" },
  { what: "an input of the query", source: "page;", at: "page" },
  { what: "a path", source: "shopOrder;", at: "shopOrder" },
  { what: "a parameter of a path", source: "orderId;", at: "orderId" },
  { what: "a code", source: "gone;", at: "gone" },
  { what: "an event", source: "Placed;", at: "Placed" },
  { what: "a socket's protocol", source: "chat;", at: "chat" },
  { what: "a statement", source: "byId;", at: "byId" },
  { what: "`get`", source: 'get(orders, { returns: Returns.text }, () => "");', at: "get" },
  {
    what: "`param`",
    source: "param(orderId);",
    at: "param",
  },
  { what: "`json`", source: "json(NewOrder);", at: "json", long: shape },
  { what: "`answer`", source: `answer(201, "made");`, at: "answer" },
  { what: "`refuse`", source: `refuse(gone, "It is gone.");`, at: "refuse" },
  {
    what: "`Returns.json`",
    source: "Returns.json(Order);",
    at: "json",
    long: shape,
    inner:
      "`Written` is what a handler may give, with read-only lists; written out, it would be a cost of each route. `JsonOptions` are the options.",
  },
  {
    what: "`Dep.join`",
    source: `Dep.join({ page, store }, ({ page }) => page);`,
    at: "join",
    long: "the inputs are shown twice, as the type argument and as the argument.",
  },
  {
    what: "a handler's inputs",
    source:
      "get(order, { inputs: { id: param(orderId), page, token, store }, returns: Returns.json(Order) }, (inputs) => inputs.store.get(inputs.id));",
    at: "inputs) =>",
  },
  {
    what: "an input of a handler",
    source: "get(order, { inputs: { id: param(orderId) }, returns: Returns.text }, ({ id }) => `${id}`);",
    at: "id }) =>",
  },
  {
    what: "a body in a handler",
    source: "post(orders, { inputs: { placed: json(NewOrder) }, returns: Returns.text }, ({ placed }) => placed.item);",
    at: "placed })",
  },
  { what: "`Client.of`", source: `Client.of<typeof routes>({ baseUrl: "" });`, at: "of<", long: list },
  { what: "a client", source: "api;", at: "api", long: list },
  { what: "a call", source: `${read};`, at: `"GET /orders` },
  { what: "a call with a credential, a query and a body", source: `${changed};`, at: `"POST /shops`, long: parts },
  { what: "the outcome of a call", source: `const outcome = ${read};`, at: "outcome" },
  { what: "the outcome of a call with statuses", source: `const outcome = ${changed};`, at: "outcome" },
  { what: "the value of an outcome", source: `const outcome = ${read};\nif (outcome.ok) outcome.value;`, at: "value" },
  {
    what: "the code of an outcome",
    source: `const outcome = ${read};\nif (!outcome.ok) outcome.error;`,
    at: "error",
    inner: "the compiler shows the type parameters of the interface that declares the member.",
  },
];
