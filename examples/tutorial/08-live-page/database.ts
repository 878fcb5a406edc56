import { Dep } from "usher-http";
import { Statement, Type } from "usher-http/postgres";
import type { Pool } from "usher-http/postgres";
import { Item } from "./items.ts";

/** The pool of connections: `main.ts` and the tests give it to the routes. */
export const database = Dep.ofResource<Pool>("database");

const order = { id: Type.int, item: Type.enum(Item.options), quantity: Type.int, cents: Type.int };

export const statements = {
  addOrder: Statement.find("insert into orders (item, quantity, cents) values ($1, $2, $3) returning *", {
    params: [Type.text, Type.int, Type.int],
    row: order,
  }),
  listOrders: Statement.list("select * from orders order by id desc limit 100", { params: [], row: order }),
  findOrder: Statement.findOptional("select * from orders where id = $1", { params: [Type.int], row: order }),
  removeOrder: Statement.count("delete from orders where id = $1", { params: [Type.int] }),
};
