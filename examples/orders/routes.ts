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

const positive = v.pipe(v.number(), v.integer(), v.minValue(1));
const perPage = v.pipe(positive, v.maxValue(100));

/** The requested page. A wrong page number and a wrong size are reported together. */
const page = Dep.map(
  Dep.all({
    number: Query.default("page", positive, 1, { doc: "Which page, from 1." }),
    size: Query.default("per_page", perPage, 20, { doc: "Orders a page.", example: 50 }),
  }),
  ({ number, size }) => ({ offset: (number - 1) * size, limit: size }),
);

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
