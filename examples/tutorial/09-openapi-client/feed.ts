import { Event, Path, Returns, clientGone, get } from "usher-http";
import * as v from "valibot";
import { database, statements } from "./database.ts";
import { news } from "./news.ts";
import { Order } from "./orders.ts";

const Newest = Event.json("orders", v.array(Order));

/** Sends the newest orders at once, and again whenever the orders have changed. */
export const followOrders = get(
  Path.of("orders", "feed"),
  {
    summary: "Follow the newest orders",
    inputs: { database, news, clientGone },
    returns: Returns.events([Newest]),
  },
  ({ database, news, clientGone }) =>
    async (send) => {
      const changes = news.subscribe("orders");
      try {
        do {
          const newest = await database.exec(statements.listOrders);
          const sent = await send(Event.make(Newest, newest));
          if (!sent.ok) return;
        } while ((await changes.next({ until: clientGone })) !== undefined);
      } finally {
        changes.unsubscribe();
      }
    },
);
