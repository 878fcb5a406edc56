import { Path, Refusal, Returns, Socket, get } from "usher-http";
import * as v from "valibot";
import { Order } from "./order.ts";
import { readItem } from "./read-orders.ts";
import { store } from "./store.ts";
import type { Store } from "./store.ts";

/** Why an order was not placed: a code, and a sentence for the clerk. */
const Refused = v.object({ error: v.string(), message: v.string() });

/** The protocol of the desk's WebSocket. */
export const deskProtocol = Socket.protocol({ client: Socket.text, server: Socket.json(v.union([Order, Refused])) });

/** The client sends an item as a text message; the server answers with the order or a refusal. */
export const desk = get(
  Path.of("orders", "desk"),
  {
    summary: "Place orders over a WebSocket",
    description:
      "Each text message is an item. The server places an order of one and answers with it, or with what is wrong.",
    tags: ["Live"],
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
