/** An order as it is kept. */
export interface Order {
  readonly id: number;
  readonly item: string;
  readonly quantity: number;
  readonly placed_at: Date;
}

/** Where orders are kept. */
export interface Store {
  place(order: { readonly item: string; readonly quantity: number }, placedAt: Date): Promise<Order>;
  find(id: number): Promise<Order | undefined>;
  list(page: { readonly offset: number; readonly limit: number }): Promise<readonly Order[]>;
  change(id: number, quantity: number): Promise<Order | undefined>;
  /** Whether there was one. */
  remove(id: number): Promise<boolean>;
}

/** A store that forgets everything when the process ends. */
export function memoryStore(): Store {
  const orders = new Map<number, Order>();
  let lastId = 0;
  return {
    async place({ item, quantity }, placedAt) {
      const order = { id: ++lastId, item, quantity, placed_at: placedAt };
      orders.set(order.id, order);
      return order;
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
