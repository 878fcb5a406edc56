/** Event streams of the servers in other runtimes' processes, fed by one hub. They tell when each begins and ends. */
import { Broadcast, Event, Path, Returns, clientGone, get, param, post } from "../../../src/index.ts";
import type { Route } from "../../../src/index.ts";

const size = Path.int("size");
const name = Path.str("name");
const inText = { returns: Returns.text };

export function feedRoutes(tell: (what: string) => void, opened: Promise<void>): readonly Route[] {
  const hub = Broadcast.create<never, string>();
  const inputs = { clientGone, name: param(name) };
  // A keep-alive is soon due: one that comes late must not hold a stream that has ended.
  const returns = Returns.events([], { keepAliveMs: 100 });
  return [
    get(Path.of("feed", name), { inputs, returns }, ({ clientGone, name }) => async (send) => {
      const subscription = hub.subscribe("feed", name);
      tell(`${name}: began`);
      try {
        for (;;) {
          const event = await subscription.next({ until: clientGone });
          if (event === undefined || !(await send(event)).ok) return;
        }
      } finally {
        subscription.unsubscribe();
        tell(`${name}: ended`);
      }
    }),
    // Listens to nothing but what its sends answer.
    get(Path.of("ticks", name), { inputs: { name: param(name) }, returns }, ({ name }) => async (send) => {
      tell(`${name}: began`);
      while ((await send(Event.comment("tick"))).ok) await new Promise((resolve) => setTimeout(resolve, 20));
      tell(`${name}: ended`);
    }),
    get(Path.of("late-feed", name), { inputs: { name: param(name) }, returns }, async ({ name }) => {
      tell(`${name}: asked`);
      await opened;
      return async (send) => {
        tell(`${name}: began`);
        while ((await send(Event.comment("tick"))).ok) await new Promise((resolve) => setTimeout(resolve, 20));
        tell(`${name}: ended`);
      };
    }),
    post(Path.of("publish", size), { inputs: { size: param(size) }, returns: Returns.text }, ({ size }) => {
      hub.publish("feed", Event.comment("x".repeat(size)));
      return "published";
    }),
    get(Path.of("followers"), inText, () => hub.subscribers("feed").toSorted().join()),
  ];
}
