import { Statement, Type } from "usher-http/postgres";
import type { Pool } from "usher-http/postgres";
import { soldOutOf } from "./store.ts";
import type { Store } from "./store.ts";

const { int, text, instant } = Type;
const columns = { id: int, item: text, quantity: int, placed_at: instant };

const takeStock = Statement.count("update stock set left_over = left_over - $2 where item = $1 and left_over >= $2", {
  params: [text, int],
});
const addOrder = Statement.find(
  "insert into orders (item, quantity) values ($1, $2) returning id, item, quantity, placed_at",
  { params: [text, int], row: columns },
);
const findOrder = Statement.findOptional("select id, item, quantity, placed_at from orders where id = $1", {
  params: [int],
  row: columns,
});
const listOrders = Statement.list(
  "select id, item, quantity, placed_at from orders order by id desc offset $1 limit $2",
  { params: [int, int], row: columns },
);
const removeOrder = Statement.count("delete from orders where id = $1", { params: [int] });

/** The server checks them against the database when it starts. */
export const statements = [takeStock, addOrder, findOrder, listOrders, removeOrder];

/** Keeps orders in PostgreSQL. */
export function postgresStore(pool: Pool): Store {
  return {
    // A refusal rolls the transaction back, like an error.
    place: (order) =>
      pool.transaction(async (db) => {
        const taken = await db.exec(takeStock, order.item, order.quantity);
        return taken === 0 ? soldOutOf(order) : db.exec(addOrder, order.item, order.quantity);
      }),
    find: (id) => pool.exec(findOrder, id),
    list: ({ offset, limit }) => pool.exec(listOrders, offset, limit),
    remove: async (id) => (await pool.exec(removeOrder, id)) === 1,
  };
}
