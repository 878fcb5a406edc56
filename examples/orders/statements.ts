import { Statement, Type } from "usher-http/postgres";

const { array, instant, int64, optional, text } = Type;
const what = Type.enum(["placed", "changed", "removed"]);

/** The columns of an order. */
const order = { id: int64, item: text, quantity: int64, placed_at: instant };

/** The ordered quantity of each item. */
const wanted = `(
     select item, sum(quantity) as quantity from unnest($1::text[], $2::bigint[]) as given (item, quantity) group by item
   ) as wanted`;

/** Whether each counted item has too little stock. It locks the rows until the transaction ends. */
export const stockOf = Statement.list(
  `select stock.item, stock.left_over < wanted.quantity as is_short
   from stock join ${wanted} using (item)
   order by stock.item for update of stock`,
  { params: [array(text), array(int64)], row: { item: text, is_short: Type.bool } },
);
export const takeStock = Statement.exec(
  `update stock set left_over = stock.left_over - wanted.quantity
   from ${wanted}
   where stock.item = wanted.item`,
  { params: [array(text), array(int64)] },
);

export const addOrders = Statement.list(
  `insert into orders (item, quantity, placed_at)
   select item, quantity, $3::timestamptz
   from unnest($1::text[], $2::bigint[]) with ordinality as given (item, quantity, place) order by place
   returning id, item, quantity, placed_at`,
  { params: [array(text), array(int64), instant], row: order },
);
export const findOrder = Statement.findOptional(
  "select id, item, quantity, placed_at, version from orders where id = $1",
  {
    params: [int64],
    row: { ...order, version: int64 },
  },
);
export const listOrders = Statement.list(
  "select id, item, quantity, placed_at from orders order by id offset $1 limit $2",
  { params: [int64, int64], row: order },
);
export const changeOrder = Statement.findOptional(
  `update orders set quantity = $2, version = version + 1 where id = $1 and version = coalesce($3, version)
   returning id, item, quantity, placed_at`,
  { params: [int64, int64, optional(int64)], row: order },
);
export const removeOrder = Statement.findOptional(
  "delete from orders where id = $1 returning id, item, quantity, placed_at",
  { params: [int64], row: order },
);

/** The newest orders, and the number of the last change. */
export const newestOrders = Statement.list(
  `select last.number, newest.* from last_change as last left join (
     select id, item, quantity, placed_at from orders order by id desc limit $1
   ) as newest on true
   order by newest.id desc`,
  { params: [int64], row: { number: int64, ...optionalOrder() } },
);

/** Numbers changes, and keeps the last thousand. */
export const addChanges = Statement.exec(
  `with last as (update last_change set number = number + cardinality($2::bigint[]) returning number),
     forgotten as (delete from changes where number <= (select number from last) - 1000)
   insert into changes (number, what, id, item, quantity, placed_at)
   select last.number - cardinality($2::bigint[]) + place, $1, id, item, quantity, placed_at
   from last, unnest($2::bigint[], $3::text[], $4::bigint[], $5::timestamptz[])
     with ordinality as given (id, item, quantity, placed_at, place)
   where place > cardinality($2::bigint[]) - 1000`,
  { params: [what, array(int64), array(text), array(int64), array(instant)] },
);
/** The changes after a number, or all; and how many there should be. */
export const changesAfter = Statement.list(
  `select last.number - coalesce($1, last.beginning) as missed, changes.number, what, id, item, quantity, placed_at
   from last_change as last left join changes on changes.number > coalesce($1, last.beginning)
   order by changes.number`,
  {
    params: [optional(int64)],
    row: { missed: int64, number: optional(int64), what: optional(what), ...optionalOrder() },
  },
);

/** The same columns, each optional. */
function optionalOrder() {
  return { id: optional(int64), item: optional(text), quantity: optional(int64), placed_at: optional(instant) };
}
