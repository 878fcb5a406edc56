import {
  Codec,
  Dep,
  Header,
  Log,
  Path,
  Query,
  Refusal,
  Returns,
  del,
  get,
  json,
  now,
  param,
  patch,
  post,
  refuse,
} from "usher-http";
import * as v from "valibot";
import { clerk } from "./clerks.ts";
import { desk } from "./desk.ts";
import { followOrders } from "./feed.ts";
import { importOrders } from "./import.ts";
import { Change, NewOrder, Order, alreadyPlaced, soldOut } from "./order.ts";
import { pageRoutes } from "./page.ts";
import { signInRoutes } from "./sign-in.ts";
import { store } from "./store.ts";

const log = Log.source("orders");

const orders = Path.of("orders");
const orderId = Path.int("order_id");
const order = Path.of("orders", orderId);

const pageNumber = Dep.join({ page: Query.default("page", Codec.int, 1) }, ({ page }) =>
  page < 1 ? Dep.problem({ at: "query.page", code: "too_small", message: "This must be at least 1." }) : page,
);
const perPage = Dep.join({ perPage: Query.default("per_page", Codec.int, 20) }, ({ perPage }) => {
  const at = "query.per_page";
  if (perPage < 1) return Dep.problem({ at, code: "too_small", message: "This must be at least 1." });
  if (perPage > 100) return Dep.problem({ at, code: "too_large", message: "This must be at most 100." });
  return perPage;
});

/** The requested page. A wrong page number and a wrong size are reported together. */
const page = Dep.map(Dep.all({ pageNumber, perPage }), ({ pageNumber, perPage }) => ({
  offset: (pageNumber - 1) * perPage,
  limit: perPage,
}));

const placeOrder = post(
  orders,
  {
    summary: "Place an order",
    inputs: {
      order: json(NewOrder, { examples: [{ item: "pen", quantity: 2 }] }),
      key: Header.optional("idempotency-key", Codec.uuid),
      store,
      now,
    },
    returns: Returns.json(Order, { status: 201 }),
    refuses: [soldOut, alreadyPlaced],
  },
  async ({ order, key, store, now }) => {
    const placed = await store.place(order, now, key);
    if (!(placed instanceof Refusal)) log.info("placed an order", { "orders.id": placed.id });
    return placed;
  },
);

const listOrders = get(
  orders,
  { summary: "List orders", inputs: { page, store }, returns: Returns.json(v.array(Order)) },
  ({ page, store }) => store.list(page),
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

const changeOrder = patch(
  order,
  {
    summary: "Change an order",
    inputs: { id: param(orderId), change: json(Change), store },
    returns: Returns.json(Order),
    refuses: [Refusal.notFound],
  },
  async ({ id, change, store }) => (await store.change(id, change.quantity)) ?? refuse(Refusal.notFound),
);

const removeOrder = del(
  order,
  {
    summary: "Remove an order",
    inputs: { clerk, id: param(orderId), store },
    returns: Returns.empty(),
    refuses: [Refusal.notFound],
  },
  async ({ id, store }) => ((await store.remove(id)) ? undefined : refuse(Refusal.notFound)),
);

export const routes = [
  placeOrder,
  importOrders,
  listOrders,
  followOrders,
  desk,
  getOrder,
  changeOrder,
  removeOrder,
  ...signInRoutes,
  ...pageRoutes,
] as const;
