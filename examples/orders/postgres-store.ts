import { Broadcast, Event, Refusal } from "usher-http";
import type { Hub } from "usher-http";
import { IdempotencyTable } from "usher-http/postgres";
import type { Database, Pool } from "usher-http/postgres";
import { soldOutOf } from "./order.ts";
import type { NewOrder } from "./order.ts";
import * as statements from "./statements.ts";
import type { Change, Order, Orders, OrdersInTransaction, Store, VersionedOrder } from "./store.ts";

/** The table of the answers to idempotency keys. */
export const answersTable = { table: "answers" };
const answersIn = IdempotencyTable.inTransaction(answersTable);

/**
 * A store in PostgreSQL. It publishes news after the transaction has committed.
 *
 * @param news Give it a relay if several processes serve the same orders.
 */
export function postgresStore(pool: Pool, news: Hub<never> = Broadcast.create({ depth: 1, behind: "skip" })): Store {
  const transaction: Store["transaction"] = async (work) => {
    let hasChanged = false;
    const result = await pool.transaction((db) => work(ordersIn(db, () => (hasChanged = true))));
    if (hasChanged && !(result instanceof Refusal)) news.publish("orders", Event.comment("more"));
    return result;
  };
  return {
    news,
    transaction,
    place: (order, placedAt) => transaction((orders) => orders.place(order, placedAt)),
    placeAll: (given, placedAt) => transaction((orders) => orders.placeAll(given, placedAt)),
    find: (id) => find(pool, id),
    list: (page) => list(pool, page),
    change: (id, quantity, version) => transaction((orders) => orders.change(id, quantity, version)),
    remove: (id) => transaction((orders) => orders.remove(id)),
    async changesAfter(number) {
      const rows = await pool.exec(statements.changesAfter, number === undefined ? undefined : BigInt(number));
      const changes = rows.filter(isThere).map(changeOf);
      return rows[0]?.missed === BigInt(changes.length) ? changes : undefined;
    },
    async newest(count) {
      const rows = await pool.exec(statements.newestOrders, BigInt(count));
      return { orders: rows.filter(isThere).map(orderOf), number: Number(rows[0]?.number) };
    },
  };
}

/** The orders in one transaction. */
function ordersIn(db: Database, changed: () => void): OrdersInTransaction {
  const keepChanged = (what: Change["what"], row: OrderRow): Promise<readonly Order[]> => {
    changed();
    return keep(db, what, [row]);
  };
  const placeAll = (orders: readonly NewOrder[], placedAt: Date) => {
    changed();
    return place(db, orders, placedAt);
  };
  return {
    answers: answersIn(db),
    async place(order, placedAt) {
      const placed = await placeAll([order], placedAt);
      return placed instanceof Refusal ? placed : (placed[0] as Order);
    },
    async placeAll(orders, placedAt) {
      const placed = await placeAll(orders, placedAt);
      return placed instanceof Refusal ? placed : undefined;
    },
    find: (id) => find(db, id),
    list: (page) => list(db, page),
    async change(id, quantity, version) {
      const given = version === undefined ? undefined : BigInt(version);
      const found = await db.exec(statements.changeOrder, BigInt(id), BigInt(quantity), given);
      return found && (await keepChanged("changed", found))[0];
    },
    async remove(id) {
      const found = await db.exec(statements.removeOrder, BigInt(id));
      if (found !== undefined) await keepChanged("removed", found);
      return found !== undefined;
    },
  };
}

async function find(db: Database, id: number): Promise<VersionedOrder | undefined> {
  const found = await db.exec(statements.findOrder, BigInt(id));
  return found && { ...orderOf(found), version: Number(found.version) };
}

async function list(db: Database, { offset, limit }: Parameters<Orders["list"]>[0]): Promise<readonly Order[]> {
  return (await db.exec(statements.listOrders, BigInt(offset), BigInt(limit))).map(orderOf);
}

/** Places all or none: a refusal rolls the transaction back. */
async function place(db: Database, orders: readonly NewOrder[], placedAt: Date) {
  const items = orders.map(({ item }) => item);
  const quantities = orders.map(({ quantity }) => BigInt(quantity));
  const stock = await db.exec(statements.stockOf, items, quantities);
  const short = stock.find(({ is_short }) => is_short);
  if (short !== undefined) return soldOutOf(short.item);
  if (stock.length > 0) await db.exec(statements.takeStock, items, quantities);
  return keep(db, "placed", await db.exec(statements.addOrders, items, quantities, placedAt));
}

/** Records changes of orders, in the same transaction. */
async function keep(db: Database, what: Change["what"], rows: readonly OrderRow[]): Promise<readonly Order[]> {
  const column = <Name extends keyof OrderRow>(name: Name) => rows.map((row) => row[name]);
  await db.exec(statements.addChanges, what, column("id"), column("item"), column("quantity"), column("placed_at"));
  return rows.map(orderOf);
}

interface OrderRow {
  readonly id: bigint;
  readonly item: string;
  readonly quantity: bigint;
  readonly placed_at: Date;
}

function orderOf({ id, item, quantity, placed_at }: OrderRow): Order {
  return { id: Number(id), item, quantity: Number(quantity), placed_at };
}

function changeOf({ number, what, ...order }: OrderRow & { number: bigint; what: Change["what"] }): Change {
  return { number: Number(number), what, order: orderOf(order) };
}

/** Whether the row of an outer join has an order. */
function isThere<Row extends { readonly [column: string]: unknown }>(
  row: Row,
): row is { [K in keyof Row]: Exclude<Row[K], undefined> } {
  return row["id"] !== undefined;
}
