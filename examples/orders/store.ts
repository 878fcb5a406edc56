import { Dep } from "usher-http";
import type { NewOrder } from "./order.ts";

/** An order as it is kept. */
export interface Order {
  readonly id: number;
  readonly item: string;
  readonly quantity: number;
  readonly placed_at: Date;
}

/** Where orders are kept. */
export interface Store {
  place(order: NewOrder, placedAt: Date): Promise<Order>;
  /** Places all of them, or none. */
  placeAll(orders: readonly NewOrder[], placedAt: Date): Promise<void>;
  find(id: number): Promise<Order | undefined>;
  list(page: { readonly offset: number; readonly limit: number }): Promise<readonly Order[]>;
  change(id: number, quantity: number): Promise<Order | undefined>;
  /** Whether there was one. */
  remove(id: number): Promise<boolean>;
}

export const store = Dep.ofResource<Store>("store");

/** A store that forgets everything when the process ends. */
export function memoryStore(): Store {
  const orders = new Map<number, Order>();
  let lastId = 0;
  const keep = ({ item, quantity }: NewOrder, placedAt: Date): Order => {
    const order = { id: ++lastId, item, quantity, placed_at: placedAt };
    orders.set(order.id, order);
    return order;
  };
  return {
    place: async (order, placedAt) => keep(order, placedAt),
    async placeAll(orders, placedAt) {
      for (const order of orders) keep(order, placedAt);
    },
    find: async (id) => orders.get(id),
    list: async ({ offset, limit }) => [...orders.values()].slice(offset, offset + limit),
    async change(id, quantity) {
      const order = orders.get(id);
      if (order === undefined) return undefined;
      const changed = { ...order, quantity };
      orders.set(id, changed);
      return changed;
    },
    remove: async (id) => orders.delete(id),
  };
}
