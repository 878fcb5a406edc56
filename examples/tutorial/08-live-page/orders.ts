import { Event, Path, Refusal, Returns, del, get, json, param, post, refuse } from "usher-http";
import * as v from "valibot";
import { database, statements } from "./database.ts";
import { Item, Quantity, prices } from "./items.ts";
import { news } from "./news.ts";
import { clerk } from "./sign-in.ts";

const NewOrder = v.object({ item: Item, quantity: Quantity });
export const Order = v.object({ id: v.number(), ...NewOrder.entries, cents: v.number() });

/** What the shop has of each item, every morning. */
const stock = { pen: 1000, ink: 3 };

const soldOut = Refusal.code("sold_out", { status: 409, doc: "There is too little of that item left." });

const orders = Path.of("orders");
const orderId = Path.int32("order_id");

const placeOrder = post(
  orders,
  { inputs: { order: json(NewOrder), database }, returns: Returns.json(Order, { status: 201 }), refuses: [soldOut] },
  async ({ order, database }) => {
    const left = stock[order.item];
    if (left < order.quantity) return refuse(soldOut, `Only ${left} of that item are left.`);
    const cents = order.quantity * prices[order.item];
    const placed = await database.exec(statements.addOrder, order.item, order.quantity, cents);
    news.publish("orders", Event.comment("changed"));
    return placed;
  },
);

const listOrders = get(orders, { inputs: { database }, returns: Returns.json(v.array(Order)) }, ({ database }) =>
  database.exec(statements.listOrders),
);

const getOrder = get(
  Path.of("orders", orderId), // /orders/{order_id}
  { inputs: { id: param(orderId), database }, returns: Returns.json(Order), refuses: [Refusal.notFound] },
  async ({ id, database }) => (await database.exec(statements.findOrder, id)) ?? refuse(Refusal.notFound),
);

const removeOrder = del(
  Path.of("orders", orderId),
  { inputs: { clerk, id: param(orderId), database }, returns: Returns.empty(), refuses: [Refusal.notFound] },
  async ({ id, database }) => {
    const removed = await database.exec(statements.removeOrder, id);
    if (removed === 0) return refuse(Refusal.notFound);
    news.publish("orders", Event.comment("changed"));
    return undefined;
  },
);

export const orderRoutes = [placeOrder, listOrders, getOrder, removeOrder] as const;
