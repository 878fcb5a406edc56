import { Path, Returns, get, json, post } from "usher-http";
import * as v from "valibot";
import { Item, Quantity, prices } from "./items.ts";

const NewOrder = v.object({ item: Item, quantity: Quantity });
const Order = v.object({ id: v.number(), ...NewOrder.entries, cents: v.number() });

const placed: v.InferOutput<typeof Order>[] = [];

const orders = Path.of("orders");

const placeOrder = post(
  orders,
  { inputs: { order: json(NewOrder) }, returns: Returns.json(Order, { status: 201 }) },
  ({ order }) => {
    const kept = { id: placed.length + 1, ...order, cents: order.quantity * prices[order.item] };
    placed.push(kept);
    return kept;
  },
);

const listOrders = get(orders, { returns: Returns.json(v.array(Order)) }, () => placed);

export const orderRoutes = [placeOrder, listOrders] as const;
