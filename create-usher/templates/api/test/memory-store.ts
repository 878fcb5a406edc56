import { soldOutOf } from "../src/store.ts";
import type { Order, Store } from "../src/store.ts";

/** Keeps orders in memory, so that the tests of the routes need no database. */
export function memoryStore(stock: Record<string, number>): Store {
  const orders = new Map<number, Order>();
  const left = new Map(Object.entries(stock));
  let lastId = 0;
  return {
    async place(order) {
      const leftOver = left.get(order.item) ?? 0;
      if (leftOver < order.quantity) return soldOutOf(order);
      left.set(order.item, leftOver - order.quantity);
      const placed = { ...order, id: ++lastId, placed_at: new Date() };
      orders.set(placed.id, placed);
      return placed;
    },
    find: async (id) => orders.get(id),
    list: async ({ offset, limit }) => [...orders.values()].toReversed().slice(offset, offset + limit),
    remove: async (id) => orders.delete(id),
  };
}
