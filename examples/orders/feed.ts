import { Codec, Event, Header, Meta, Path, Returns, clientGone, get } from "usher-http";
import * as v from "valibot";
import { Order } from "./order.ts";
import { store } from "./store.ts";
import type { Change, Store } from "./store.ts";

/** The most orders that a new client gets: as many as the page shows. */
const maxOrders = 100;

const Listed = Event.json("list", v.object({ orders: v.array(Order) }));
const Placed = Event.json("placed", Order);
const Changed = Event.json("changed", Order);
const Removed = Event.json("removed", v.object({ id: Order.entries.id }));
type FeedEvent = Event<typeof Listed | typeof Placed | typeof Changed | typeof Removed>;

/**
 * The events are read from the store's numbered changes; `news` only wakes the loop. So a client that reconnects gets what
 * it missed, a slow one continues where it is, and none gets a change twice. A client that missed more than the store keeps
 * gets the newest orders instead.
 */
export const followOrders = get(
  Path.of("orders", "feed"),
  {
    summary: "Follow the orders",
    meta: Meta.tool({ name: "follow_orders", events: "progress" }),
    description:
      "An event for each order that is placed, changed or removed. A client that reconnects with `last-event-id` gets what it " +
      "missed; a new one, and one that missed more than a thousand changes, first gets the newest orders.",
    tags: ["Live"],
    inputs: { last: Header.optional("last-event-id", Codec.int), clientGone, store },
    returns: Returns.events([Listed, Placed, Changed, Removed]),
  },
  ({ last, clientGone, store }) =>
    async (send) => {
      // Subscribe before the first read, so that no change is lost in between.
      const news = store.news.subscribe("orders");
      try {
        await send(Event.retry({ ms: 1000 }));
        let known = last;
        do {
          const { events, number } = await eventsAfter(known, store);
          known = number;
          for (const event of events) if (!(await send(event)).ok) return;
        } while ((await news.next({ until: clientGone })) !== undefined);
      } finally {
        news.unsubscribe();
      }
    },
);

/** The events after a change number, and the number of the last one. */
async function eventsAfter(known: number | undefined, store: Store) {
  const changes = await store.changesAfter(known);
  if (changes !== undefined) return { events: changes.map(eventOf), number: changes.at(-1)?.number ?? known };
  const { orders, number } = await store.newest(maxOrders);
  return { events: [Event.make(Listed, { orders: [...orders] }, { id: `${number}` })], number };
}

const made = new WeakMap<Change, FeedEvent>();

/** Encoded once for all clients. */
function eventOf(change: Change): FeedEvent {
  const event = made.get(change) ?? eventMade(change);
  made.set(change, event);
  return event;
}

function eventMade({ number, what, order }: Change): FeedEvent {
  const id = `${number}`;
  if (what === "placed") return Event.make(Placed, order, { id });
  if (what === "changed") return Event.make(Changed, order, { id });
  return Event.make(Removed, order, { id });
}
