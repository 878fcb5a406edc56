import { Broadcast, Event, Refusal, refuse } from "usher-http";
import type { Hub } from "usher-http";
import { DatabaseError } from "usher-http/postgres";
import type { Database, Pool } from "usher-http/postgres";
import { alreadyPlaced, soldOutOf } from "./order.ts";
import type { NewOrder } from "./order.ts";
import * as statements from "./statements.ts";
import type { Change, Order, Store } from "./store.ts";

/**
 * A store in PostgreSQL. It publishes news after the transaction has committed.
 *
 * @param news Give it a relay if several processes serve the same orders.
 */
export function postgresStore(pool: Pool, news: Hub<never, void> = Broadcast.create()): Store {
  const place = async (orders: readonly NewOrder[], placedAt: Date, key?: string) => {
    const placed = await pool.transaction((db) => placeAll(db, orders, placedAt, key));
    if (!(placed instanceof Refusal)) tell();
    return placed;
  };
  const tell = (): void => news.publish("orders", Event.comment("more"));
  return {
    news,
    async place(order, placedAt, key) {
      try {
        const placed = await place([order], placedAt, key);
        return placed instanceof Refusal ? placed : (placed[0] as Order);
      } catch (error) {
        if (!DatabaseError.conflict(error, "orders_key_key")) throw error;
        return refuse(alreadyPlaced, "An order with that key is placed already.");
      }
    },
    async placeAll(orders, placedAt) {
      const placed = await place(orders, placedAt);
      return placed instanceof Refusal ? placed : undefined;
    },
    async find(id) {
      const found = await pool.exec(statements.findOrder, BigInt(id));
      return found && { ...orderOf(found), version: Number(found.version) };
    },
    async list({ offset, limit }) {
      return (await pool.exec(statements.listOrders, BigInt(offset), BigInt(limit))).map(orderOf);
    },
    async change(id, quantity, version) {
      const changed = await pool.transaction(async (db) => {
        const found = await db.exec(
          statements.changeOrder,
          BigInt(id),
          BigInt(quantity),
          version === undefined ? undefined : BigInt(version),
        );
        return found && keep(db, "changed", [found]);
      });
      if (changed !== undefined) tell();
      return changed?.[0];
    },
    async remove(id) {
      const removed = await pool.transaction(async (db) => {
        const found = await db.exec(statements.removeOrder, BigInt(id));
        return found && keep(db, "removed", [found]);
      });
      if (removed !== undefined) tell();
      return removed !== undefined;
    },
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

/** Places all or none: a refusal rolls the transaction back. */
async function placeAll(db: Database, orders: readonly NewOrder[], placedAt: Date, key: string | undefined) {
  const items = orders.map(({ item }) => item);
  const quantities = orders.map(({ quantity }) => BigInt(quantity));
  const stock = await db.exec(statements.stockOf, items, quantities);
  const short = stock.find(({ is_short }) => is_short);
  if (short !== undefined) return soldOutOf(short.item);
  if (stock.length > 0) await db.exec(statements.takeStock, items, quantities);
  return keep(db, "placed", await db.exec(statements.addOrders, items, quantities, placedAt, key));
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
