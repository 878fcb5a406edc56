import { Path, Refusal, Returns, Socket, get } from "usher-http";
import * as v from "valibot";
import { Order } from "./order.ts";
import { readItem } from "./read-orders.ts";
import { store } from "./store.ts";
import type { Store } from "./store.ts";

/** Why there is no order: a code, and a sentence for whoever sits at the desk. */
const Refused = v.object({ error: v.string(), message: v.string() });

/** What is said at the desk. */
export const deskProtocol = Socket.protocol({ client: Socket.text, server: Socket.json(v.union([Order, Refused])) });

/** An item is one text message, and its order, or why there is none, is the one that comes back. */
export const desk = get(
  Path.of("orders", "desk"),
  {
    summary: "A clerk's desk: an order of one for each item that is typed",
    inputs: { store },
    returns: Returns.websocket(deskProtocol, { maxMessage: 1024 }),
  },
  ({ store }) =>
    async (socket) => {
      for await (const item of socket) {
        const sent = await socket.send(await placed(item, store));
        if (!sent.ok) return;
      }
    },
);

async function placed(text: string, store: Store) {
  const item = readItem(text, "item");
  if (!item.ok) return { error: "invalid", message: item.error.message };
  const placed = await store.place({ item: item.value, quantity: 1 }, new Date());
  return placed instanceof Refusal ? { error: placed.code.name, message: placed.message } : placed;
}
