/** What must read well, and what the compiler must refuse, at the place where it is written. */
import * as v from "valibot";
import {
  Answer,
  App,
  Codec,
  Cookie,
  Dep,
  Header,
  Health,
  Log,
  Meta,
  Path,
  Query,
  Refusal,
  Result,
  Returns,
  Shape,
  Test,
  answer,
  clientGone,
  get,
  json,
  param,
  post,
  refuse,
  setCookie,
} from "usher-http";
import type { Code, Resource, Route } from "usher-http";

const orderId = Path.int("order_id");
const orders = Path.of("orders");
const order = Path.of("orders", orderId);

const quantity = v.pipe(v.number(), v.integer(), v.minValue(1));
const Order = Shape.named("Order", v.object({ id: v.pipe(v.number(), v.integer()), item: v.string(), quantity }));
const NewOrder = v.object({ item: v.string(), quantity });
interface Store {
  find(id: number): Promise<v.InferOutput<typeof Order> | undefined>;
  add(order: v.InferOutput<typeof NewOrder>): Promise<v.InferOutput<typeof Order> | undefined>;
}

const soldOut = Refusal.code("sold_out", { status: 409, doc: "There is none of that item left." });
const signedOut = Refusal.code("signed_out", {
  status: 401,
  doc: "Nobody is signed in.",
  challenge: 'Bearer realm="orders"',
});
const store: Resource<Store> = Dep.ofResource<Store>("store");

const token = Dep.credential(
  "bearer",
  Dep.join(
    { credentials: Header.optional("authorization", Codec.credentials) },
    ({ credentials }) =>
      credentials?.scheme === "bearer" && credentials.value.kind === "token68"
        ? credentials.value.token
        : refuse(signedOut, "Please sign in."),
    { refuses: [signedOut] },
  ),
);
const page = Dep.join(
  { page: Query.default("page", Codec.int, 1), perPage: Query.default("per_page", Codec.int, 20) },
  ({ page, perPage }) =>
    page < 1
      ? Dep.problem({ at: "query.page", code: "too_small", message: "This is 1 or more." })
      : { offset: (page - 1) * perPage, limit: perPage },
);

const getOrder = get(
  order,
  {
    summary: "One order",
    inputs: { id: param(orderId), store },
    returns: Returns.json(Order),
    refuses: [Refusal.notFound],
  },
  async ({ id, store }) => (await store.find(id)) ?? refuse(Refusal.notFound),
);

const placeOrder = post(
  orders,
  {
    summary: "Place an order",
    inputs: { token, page, order: json(NewOrder), store, setCookie },
    returns: Returns.jsonResponse(Order, { 200: "It was placed before.", 201: "It is placed." }),
    refuses: [soldOut],
    meta: Meta.empty.add(Meta.access, "debug"),
  },
  async ({ token, page, order, store, setCookie }) => {
    const bearer: string = token;
    const offset: number = page.offset;
    setCookie(Cookie.make(Cookie.named("last", Codec.int), offset + bearer.length));
    const placed = await store.add(order);
    return placed === undefined ? refuse(soldOut, "There is none left.") : answer(201, placed);
  },
);

// An input that answers asynchronously, with a value, a refusal or a problem.
const checked: Dep<number, "sold_out"> = Dep.join(
  { id: Query.required("id", Codec.int) },
  async ({ id }) => {
    if (id === 0) return refuse(soldOut);
    if (id < 0) return Dep.problem({ at: "query.id", code: "too_small", message: "This must be at least 0." });
    return id;
  },
  { refuses: [soldOut] },
);
get(orders, { inputs: { checked }, returns: Returns.text }, ({ checked }) => checked.toFixed());

// @ts-expect-error a refusal that the join does not declare
Dep.join({ id: Query.required("id", Codec.int) }, ({ id }) => (id === 0 ? refuse(soldOut) : id));
// @ts-expect-error a refusal other than the one that the join declares
Dep.join({ id: Query.required("id", Codec.int) }, ({ id }) => (id === 0 ? refuse(soldOut) : id), {
  refuses: [signedOut],
});
// @ts-expect-error a refusal that an asynchronous join does not declare
Dep.join({ id: Query.required("id", Codec.int) }, async ({ id }) => (id === 0 ? refuse(soldOut) : id));
// @ts-expect-error a refusal of a reader of the application's own that it does not declare
Dep.ofRequest((request) => (request.host === undefined ? refuse(soldOut) : request.host));

// @ts-expect-error a refusal the route does not declare
get(order, { returns: Returns.text, refuses: [soldOut] }, () => refuse(signedOut, "Please sign in."));
// @ts-expect-error a refusal of an asynchronous handler the route does not declare
get(order, { returns: Returns.text }, async () => refuse(soldOut));
// @ts-expect-error an answer of another type
get(order, { returns: Returns.text }, () => 1);
// @ts-expect-error an answer of another type, awaited
get(order, { returns: Returns.text }, async () => 1);
// @ts-expect-error a value the shape does not have
get(order, { returns: Returns.json(Order) }, () => ({ id: 1, item: "pen" }));
// @ts-expect-error a status the route does not list
post(orders, { returns: Returns.emptyResponse({ 201: "Made." }) }, async () => answer(204));
// @ts-expect-error a bare value, where the route lists several statuses
post(orders, { returns: Returns.jsonResponse(Order, { 200: "Here." }) }, () => ({ id: 1, item: "pen", quantity: 1 }));
// @ts-expect-error an input that was not declared
get(order, { inputs: { id: param(orderId) }, returns: Returns.text }, ({ name }) => `${name}`);
// @ts-expect-error an invalid level
Meta.empty.add(Meta.access, "loud");

Path.url(order, { order_id: 7 });
export const patterns: readonly [
  "/",
  "/orders",
  "/orders/{order_id}",
  "/a/b/{order_id}/c",
  "/a/b/{order_id}/c/{file*}",
] = [
  Path.root.pattern,
  orders.pattern,
  order.pattern,
  Path.of("a", "b", orderId, "c").pattern,
  Path.of("a", "b", orderId, "c", Path.rest("file")).pattern,
];
// @ts-expect-error a parameter of another name
export const wrongPattern: "/orders/{id}" = order.pattern;
Path.url(Path.of("static", Path.rest("file")), { file: ["a", "b"] });
// @ts-expect-error no argument for order_id
Path.url(order, {});
// @ts-expect-error of another type
Path.url(order, { order_id: "7" });
// @ts-expect-error an argument the path does not have
Path.url(order, { order_id: 7, count: 1 });

const colour = Query.list("colour", Codec.enum("colour", ["blue", "gold"]));
get(orders, { inputs: { colour }, returns: Returns.text }, ({ colour }) => {
  const first: "blue" | "gold" | undefined = colour[0];
  // @ts-expect-error a word that is none of them
  return first === "red" ? "" : "";
});

get(orders, { inputs: { clientGone }, returns: Returns.response }, ({ clientGone }) =>
  clientGone.aborted ? new Response("gone") : Answer.empty(),
);

const routes = [getOrder, placeOrder] as const;
const memory: Store = { find: async () => undefined, add: async () => undefined };
const app: App = App.make([...routes, ...Health.routes([Health.check("stock", () => Result.error("maintenance"))])], {
  resources: [Dep.resource(store, memory)],
  trailingSlash: "redirect",
});
// @ts-expect-error a resource of another type
Dep.resource(store, 1);
Log.setup({ level: "info", levels: { "framework.http": "debug" } });
const answered: Promise<Response> = app.fetch(new Request("http://localhost/orders/7"));
void answered;

/** The codes a route's caller may get, its inputs' included. */
type NamesOf<R> = R extends Route<string, string, unknown, unknown, infer N extends string> ? N : never;
const names: NamesOf<typeof placeOrder>[] = ["sold_out", "signed_out"];
// @ts-expect-error a code of no input or handler of that route
const other: NamesOf<typeof getOrder> = "sold_out";
void names;
void other;
const code: Code = soldOut;
void code;

export async function tested(): Promise<boolean> {
  const tested = Test.app(routes, { resources: [Dep.resource(store, memory)] });
  const answered = await Test.call(tested, "POST", "/orders", { body: { item: "pen", quantity: 2 } });
  return answered.status === 201;
}

// Of no inputs at all.
const always: Dep<number> = Dep.join({}, () => 1);
void always;
