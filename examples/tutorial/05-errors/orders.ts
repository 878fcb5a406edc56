import { Path, Refusal, Returns, get, json, param, post, refuse } from "usher-http";
import * as v from "valibot";
import { Item, Quantity, prices } from "./items.ts";

const NewOrder = v.object({ item: Item, quantity: Quantity });
const Order = v.object({ id: v.number(), ...NewOrder.entries, cents: v.number() });

const placed: v.InferOutput<typeof Order>[] = [];
/** What the shop has of each item, every morning. */
const stock = { pen: 1000, ink: 3 };

const soldOut = Refusal.code("sold_out", { status: 409, doc: "There is too little of that item left." });

const orders = Path.of("orders");
const orderId = Path.int("order_id");

const placeOrder = post(
  orders,
  { inputs: { order: json(NewOrder) }, returns: Returns.json(Order, { status: 201 }), refuses: [soldOut] },
  ({ order }) => {
    const left = stock[order.item];
    if (left < order.quantity) return refuse(soldOut, `Only ${left} of that item are left.`);
    const kept = { id: placed.length + 1, ...order, cents: order.quantity * prices[order.item] };
    placed.push(kept);
    return kept;
  },
);

const listOrders = get(orders, { returns: Returns.json(v.array(Order)) }, () => placed);

const getOrder = get(
  Path.of("orders", orderId), // /orders/{order_id}
  { inputs: { id: param(orderId) }, returns: Returns.json(Order), refuses: [Refusal.notFound] },
  ({ id }) => placed.find((order) => order.id === id) ?? refuse(Refusal.notFound),
);

export const orderRoutes = [placeOrder, listOrders, getOrder] as const;
