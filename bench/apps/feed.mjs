/** An event stream at `/feed`, and what publishes to it. */
import { Broadcast, Event, Path, Returns, clientGone, get } from "usher-http";

const tick = Event.text("tick");

/** A hub, and the route of its event stream. */
export function feed() {
  const hub = Broadcast.create();
  const route = get(
    Path.of("feed"),
    { inputs: { clientGone }, returns: Returns.events([tick]) },
    ({ clientGone: until }) =>
      async (send) => {
        const subscription = hub.subscribe("all");
        await send(Event.comment("open"));
        for (;;) {
          const event = await subscription.next({ until });
          if (event === undefined || !(await send(event)).ok) return;
        }
      },
  );
  return { route, publish: (/** @type {string} */ text) => hub.publish("all", Event.make(tick, text)) };
}
