import { Broadcast, Dep, Event, Idempotency } from "usher-http";
import type { Hub, IdempotencyStore, Refusal } from "usher-http";
import { soldOutOf } from "./order.ts";
import type { NewOrder } from "./order.ts";

/** A stored order. */
export interface Order {
  readonly id: number;
  readonly item: string;
  readonly quantity: number;
  readonly placed_at: Date;
}

/** A stored order, and how often it was changed, from 1. */
export interface VersionedOrder extends Order {
  readonly version: number;
}

/** A change of an order, with an ascending number. */
export interface Change {
  readonly number: number;
  readonly what: "placed" | "changed" | "removed";
  /** The order after the change; a removed one as it was last. */
  readonly order: Order;
}

/** What is done with orders. */
export interface Orders {
  place(order: NewOrder, placedAt: Date): Promise<Order | Refusal<"sold_out">>;
  /** Places all of them or none. */
  placeAll(orders: readonly NewOrder[], placedAt: Date): Promise<Refusal<"sold_out"> | undefined>;
  find(id: number): Promise<VersionedOrder | undefined>;
  list(page: { readonly offset: number; readonly limit: number }): Promise<readonly Order[]>;
  /** @param version Changes nothing if the order has another version; without it, any. */
  change(id: number, quantity: number, version?: number): Promise<Order | undefined>;
  /** Resolves with false if there is no such order. */
  remove(id: number): Promise<boolean>;
}

/** The orders, as one transaction sees them. */
export interface OrdersInTransaction extends Orders {
  /** The answers to idempotency keys, which commit with the orders. */
  readonly answers: IdempotencyStore;
}

/** Stores orders. Each of its own methods is one transaction. */
export interface Store extends Orders {
  /** Runs work in one transaction, which a refusal or an exception rolls back. */
  transaction<A>(work: (orders: OrdersInTransaction) => Promise<A>): Promise<A>;
  /** The changes after a number, or all; undefined if the store no longer has all of them. */
  changesAfter(number: number | undefined): Promise<readonly Change[] | undefined>;
  /** The newest orders, newest first, and the number of the last change. */
  newest(count: number): Promise<{ readonly orders: readonly Order[]; readonly number: number }>;
  /** Publishes on the topic `orders` that there are new changes. Read them from the store. */
  readonly news: Hub<never>;
}

export const store = Dep.ofResource<Store>("store");

const maxChanges = 1000;

/**
 * A store in memory, for tests and runtimes without a database. It keeps the last thousand changes. Each change is a
 * transaction, whichever transaction it is made in.
 */
export function memoryStore(): Store {
  const news = Broadcast.create<never>({ depth: 1, behind: "skip" });
  const answers = Idempotency.memory();
  const orders = new Map<number, Order>();
  const versions = new Map<number, number>();
  const changes: Change[] = [];
  let lastId = 0;
  // Numbers start above those of earlier processes: a client that reconnects with an old one gets everything.
  const beginning = Date.now() * 1000;
  let lastNumber = beginning;
  const keep = ({ item, quantity }: NewOrder, placedAt: Date): Order => {
    const order = { id: ++lastId, item, quantity, placed_at: placedAt };
    orders.set(order.id, order);
    return order;
  };
  const changed = (what: Change["what"], orders: readonly Order[]): void => {
    for (const order of orders) changes.push({ number: ++lastNumber, what, order });
    changes.splice(0, Math.max(0, changes.length - maxChanges));
    news.publish("orders", Event.comment("more"));
  };
  const store: Store = {
    news,
    transaction: (work) => work({ ...store, answers }),
    async place(order, placedAt) {
      if (order.item === "unicorn") return soldOutOf(order.item);
      const placed = keep(order, placedAt);
      changed("placed", [placed]);
      return placed;
    },
    async placeAll(orders, placedAt) {
      if (orders.some(({ item }) => item === "unicorn")) return soldOutOf("unicorn");
      changed(
        "placed",
        orders.map((order) => keep(order, placedAt)),
      );
      return undefined;
    },
    async find(id) {
      const order = orders.get(id);
      return order && { ...order, version: versions.get(id) ?? 1 };
    },
    list: async ({ offset, limit }) => [...orders.values()].slice(offset, offset + limit),
    async change(id, quantity, version) {
      const order = orders.get(id);
      const current = versions.get(id) ?? 1;
      if (order === undefined || (version !== undefined && version !== current)) return undefined;
      versions.set(id, current + 1);
      const after = { ...order, quantity };
      orders.set(id, after);
      changed("changed", [after]);
      return after;
    },
    async remove(id) {
      const order = orders.get(id);
      if (order === undefined) return false;
      orders.delete(id);
      changed("removed", [order]);
      return true;
    },
    async changesAfter(number = beginning) {
      const missed = lastNumber - number;
      if (missed < 0 || missed > changes.length) return undefined;
      return changes.slice(changes.length - missed);
    },
    newest: async (count) => ({ orders: [...orders.values()].slice(-count).toReversed(), number: lastNumber }),
  };
  return store;
}
