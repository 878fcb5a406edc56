import {
  Answer,
  Dep,
  Meta,
  Path,
  Query,
  Refusal,
  Returns,
  Shape,
  del,
  get,
  json,
  param,
  post,
  refuse,
} from "usher-http";
import * as v from "valibot";
import { soldOut, store } from "./store.ts";

const maxInt = 2 ** 31 - 1;
const positive = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(maxInt));
// PostgreSQL's text cannot contain NUL.
const item = v.pipe(v.string(), v.minLength(1), v.maxLength(100), v.regex(/^[^\0]*$/, "This must be text."));

const NewOrder = Shape.named("NewOrder", v.object({ item, quantity: positive }));
const Order = Shape.named("Order", v.object({ id: positive, item, quantity: positive, placed_at: Shape.instant }));

/** A dependency made of two inputs. If both are wrong, one 400 reports both. */
const page = Dep.join(
  {
    number: Query.default("page", v.pipe(positive, v.maxValue(10_000)), 1, { doc: "Which page, from 1." }),
    size: Query.default("per_page", v.pipe(positive, v.maxValue(100)), 20, { doc: "Orders on a page." }),
  },
  ({ number, size }) => ({ offset: (number - 1) * size, limit: size }),
);

const orderId = Path.param("order_id", positive);
const orders = Path.of("orders");
const order = Path.of("orders", orderId);

const placeOrder = post(
  orders,
  {
    summary: "Place an order",
    inputs: { store, order: json(NewOrder, { examples: [{ item: "pen", quantity: 2 }] }) },
    returns: Returns.json(Order, { status: 201 }),
    refuses: [soldOut],
  },
  ({ store, order }) => store.place(order),
);

const listOrders = get(
  orders,
  { summary: "List orders", inputs: { store, page }, returns: Returns.json(v.array(Order)) },
  ({ store, page }) => store.list(page),
);

const getOrder = get(
  order,
  {
    summary: "One order",
    inputs: { store, id: param(orderId) },
    returns: Returns.json(Order),
    refuses: [Refusal.notFound],
  },
  async ({ store, id }) => (await store.find(id)) ?? refuse(Refusal.notFound),
);

const removeOrder = del(
  order,
  {
    summary: "Remove an order",
    inputs: { store, id: param(orderId) },
    returns: Returns.empty(),
    refuses: [Refusal.notFound],
  },
  async ({ store, id }) => ((await store.remove(id)) ? undefined : refuse(Refusal.notFound)),
);

const home = get(
  Path.root,
  {
    returns: Returns.responses({ 302: "To the API's page." }),
    // Not part of the API's description.
    meta: Meta.empty.add(Meta.hidden, true),
  },
  () => Answer.redirect("/docs"),
);

export const routes = [placeOrder, listOrders, getOrder, removeOrder, home] as const;
