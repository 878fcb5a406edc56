import { Event, Path, Returns, clientGone, get } from "usher-http";
import * as v from "valibot";
import { database, statements } from "./database.ts";
import { news } from "./news.ts";
import { Order } from "./orders.ts";

const Newest = Event.json("orders", v.array(Order));

/** Sends the newest orders at once, and again whenever the orders have changed. */
export const followOrders = get(
  Path.of("orders", "feed"),
  { inputs: { database, clientGone }, returns: Returns.events([Newest]) },
  ({ database, clientGone }) =>
    async (send) => {
      const changes = news.subscribe("orders");
      try {
        do {
          const sent = await send(Event.make(Newest, await database.exec(statements.listOrders)));
          if (!sent.ok) return;
        } while ((await changes.next({ until: clientGone })) !== undefined);
      } finally {
        changes.unsubscribe();
      }
    },
);
