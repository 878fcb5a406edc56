import { Path, Refusal, Returns, Shape, get, json, now, param, post, refuse } from "usher-http";
import * as v from "valibot";
import { database, statements } from "./database.ts";
import { Item, Quantity, prices } from "./items.ts";

const NewOrder = v.object({ item: Item, quantity: Quantity });
const Order = v.object({ id: Shape.int64, ...NewOrder.entries, cents: v.number(), placed_at: Shape.instant });

const soldOut = Refusal.code("sold_out", { status: 409, doc: "There is too little of that item left." });

const orders = Path.of("orders");
const orderId = Path.int64("order_id");
const oneOrder = Path.of("orders", orderId);

const placeOrder = post(
  orders,
  {
    inputs: { order: json(NewOrder), database, now },
    returns: Returns.json(Order, { status: 201 }),
    refuses: [soldOut],
  },
  ({ order: { item, quantity }, database, now }) =>
    database.transaction(async (db) => {
      const taken = await db.exec(statements.takeStock, item, quantity);
      if (taken === 0) return refuse(soldOut, "There is too little of that item left.");
      return db.exec(statements.addOrder, item, quantity, quantity * prices[item], now);
    }),
);

const listOrders = get(
  orders,
  {
    inputs: { database },
    returns: Returns.json(v.array(Order)),
  },
  ({ database }) => database.exec(statements.listOrders),
);

const getOrder = get(
  oneOrder,
  {
    inputs: { id: param(orderId), database },
    returns: Returns.json(Order),
    refuses: [Refusal.notFound],
  },
  async ({ id, database }) => (await database.exec(statements.findOrder, id)) ?? refuse(Refusal.notFound),
);

export const orderRoutes = [placeOrder, listOrders, getOrder] as const;
