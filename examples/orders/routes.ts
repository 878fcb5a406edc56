import { Dep, Log, Meta, Path, Query, Refusal, Returns, after, json, now, param, refuse } from "usher-http";
import { Conditional } from "usher-http/conditional";
import * as v from "valibot";
import { clerk } from "./clerks.ts";
import { desk } from "./desk.ts";
import { followOrders } from "./feed.ts";
import { importOrders } from "./import.ts";
import { Change, NewOrder, Order, soldOut } from "./order.ts";
import { changes, orders } from "./orders.ts";
import { pageRoutes } from "./page.ts";
import { signInRoutes } from "./sign-in.ts";

const log = Log.source("orders");

const orderId = Path.int("order_id", { doc: "The number of the order.", example: 1 });
const order = Path.of(orderId);

const example = { id: 1, item: "pen", quantity: 2, placed_at: new Date("2026-11-20T12:00:00Z") };

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

const placeOrder = changes.post(
  Path.root,
  {
    summary: "Place an order",
    meta: Meta.tool({ name: "place_order", destructive: false }),
    description: "With an `idempotency-key` a request that is sent twice places one order, and is answered the same.",
    inputs: {
      order: json(NewOrder, { examples: [{ item: "pen", quantity: 2 }] }),
      now,
      after,
    },
    returns: Returns.json(Order, { status: 201, doc: "The order is placed.", examples: [example] }),
    refuses: [soldOut],
  },
  async ({ order, tx, now, after }) => {
    const placed = await tx.place(order, now);
    // Not here: the transaction may yet fail to commit.
    if (!(placed instanceof Refusal)) after(() => log.info("placed an order", { "orders.id": placed.id }));
    return placed;
  },
);

const listOrders = orders.get(
  Path.root,
  {
    summary: "List orders",
    meta: Meta.tool({ name: "list_orders" }),
    description: "The oldest first, a page at a time.",
    inputs: { page },
    returns: Returns.json(v.array(Order), { doc: "The orders of that page.", examples: [[example]] }),
  },
  ({ page, store }) => store.list(page),
);

const getOrder = orders.get(
  order,
  {
    summary: "Get an order",
    meta: Meta.tool({ name: "get_order" }),
    description: "Its `etag` is the order's version.",
    inputs: { id: param(orderId), validators: Conditional.validators },
    returns: Returns.json(Order, { doc: "The order.", examples: [example] }),
    refuses: [Refusal.notFound],
  },
  async ({ id, validators, store }) => {
    const order = await store.find(id);
    if (order === undefined) return refuse(Refusal.notFound);
    validators({ etag: String(order.version) });
    return order;
  },
);

const changeOrder = changes.patch(
  order,
  {
    summary: "Change an order",
    meta: Meta.tool({ name: "change_order" }),
    description:
      "Sets the quantity. What is in stock is not checked again. With `if-match` it changes the version that you have read, " +
      "and no other.",
    inputs: {
      id: param(orderId),
      precondition: Conditional.precondition,
      change: json(Change, { examples: [{ quantity: 3 }] }),
    },
    returns: Returns.json(Order, { doc: "The order as it is now.", examples: [{ ...example, quantity: 3 }] }),
    refuses: [Refusal.notFound, Conditional.preconditionFailed],
  },
  async ({ id, precondition, change, tx }) => {
    for (;;) {
      const order = await tx.find(id);
      if (order === undefined) return refuse(Refusal.notFound);
      const failed = precondition({ etag: String(order.version) });
      if (failed !== undefined) return failed;
      const changed = await tx.change(id, change.quantity, order.version);
      if (changed !== undefined) return changed;
      // Another request changed the order in between: its new version is compared.
    }
  },
);

const removeOrder = orders.del(
  order,
  {
    summary: "Remove an order",
    meta: Meta.tool({ name: "remove_order" }),
    description: "Only a clerk can: a signed-in session, or the bearer token.",
    inputs: { clerk, id: param(orderId) },
    returns: Returns.empty({ doc: "The order is removed." }),
    refuses: [Refusal.notFound],
  },
  async ({ id, store }) => ((await store.remove(id)) ? undefined : refuse(Refusal.notFound)),
);

// A list has no version: its tag is made of its text.
const [taggedList] = Conditional.tagJson([listOrders]);

export const routes = [
  placeOrder,
  importOrders,
  taggedList,
  followOrders,
  desk,
  getOrder,
  changeOrder,
  removeOrder,
  ...signInRoutes,
  ...pageRoutes,
] as const;
