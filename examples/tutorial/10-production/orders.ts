import { Event, Log, Path, Refusal, Returns, Shape, del, get, json, now, param, post, refuse } from "usher-http";
import * as v from "valibot";
import { database, statements } from "./database.ts";
import { Item, Quantity, prices } from "./items.ts";
import { news } from "./news.ts";
import { clerk } from "./sign-in.ts";

const NewOrder = v.object({ item: Item, quantity: Quantity });
export const Order = v.object({ id: Shape.int64, ...NewOrder.entries, cents: v.number(), placed_at: Shape.instant });

const log = Log.source("shop");

const soldOut = Refusal.code("sold_out", { status: 409, doc: "There is too little of that item left." });

const orders = Path.of("orders");
const orderId = Path.int64("order_id");
const oneOrder = Path.of("orders", orderId);

const placeOrder = post(
  orders,
  {
    summary: "Place an order",
    inputs: { order: json(NewOrder), database, news, now },
    returns: Returns.json(Order, { status: 201 }),
    refuses: [soldOut],
  },
  async ({ order: { item, quantity }, database, news, now }) => {
    const placed = await database.transaction(async (db) => {
      const taken = await db.exec(statements.takeStock, item, quantity);
      if (taken === 0) return refuse(soldOut, "There is too little of that item left.");
      return db.exec(statements.addOrder, item, quantity, quantity * prices[item], now);
    });
    if (placed instanceof Refusal) return placed;
    news.publish("orders", Event.comment("changed"));
    log.info("placed an order", { "shop.order": placed.id });
    return placed;
  },
);

const listOrders = get(
  orders,
  {
    summary: "List the newest orders",
    inputs: { database },
    returns: Returns.json(v.array(Order)),
  },
  ({ database }) => database.exec(statements.listOrders),
);

const getOrder = get(
  oneOrder,
  {
    summary: "Get one order",
    inputs: { id: param(orderId), database },
    returns: Returns.json(Order),
    refuses: [Refusal.notFound],
  },
  async ({ id, database }) => (await database.exec(statements.findOrder, id)) ?? refuse(Refusal.notFound),
);

const removeOrder = del(
  oneOrder,
  {
    summary: "Remove an order",
    inputs: { clerk, id: param(orderId), database, news },
    returns: Returns.empty(),
    refuses: [Refusal.notFound],
  },
  async ({ id, database, news }) => {
    const removed = await database.exec(statements.removeOrder, id);
    if (removed === 0) return refuse(Refusal.notFound);
    news.publish("orders", Event.comment("changed"));
    return undefined;
  },
);

export const orderRoutes = [placeOrder, listOrders, getOrder, removeOrder] as const;
