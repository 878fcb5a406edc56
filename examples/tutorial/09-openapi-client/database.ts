import { Dep } from "usher-http";
import { Statement, Type } from "usher-http/postgres";
import type { Pool } from "usher-http/postgres";
import { Item } from "./items.ts";

/** The pool that the routes use. It is given to the app where it is made: in `main.ts`, and in a test. */
export const database = Dep.ofResource<Pool>("database");

const order = {
  id: Type.int64,
  item: Type.enum(Item.options),
  quantity: Type.int,
  cents: Type.int,
  placed_at: Type.instant,
};

export const statements = {
  takeStock: Statement.count("update stock set left_over = left_over - $2 where item = $1 and left_over >= $2", {
    params: [Type.text, Type.int],
  }),
  addOrder: Statement.find(
    "insert into orders (item, quantity, cents, placed_at) values ($1, $2, $3, $4) returning *",
    {
      params: [Type.text, Type.int, Type.int, Type.instant],
      row: order,
    },
  ),
  listOrders: Statement.list("select * from orders order by id desc limit 100", { params: [], row: order }),
  findOrder: Statement.findOptional("select * from orders where id = $1", { params: [Type.int64], row: order }),
  removeOrder: Statement.count("delete from orders where id = $1", { params: [Type.int64] }),
};
