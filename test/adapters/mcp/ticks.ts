/** Numbers that are published to each client that follows them. */
import { Broadcast, Event } from "usher-http";
import type { Producer } from "usher-http";
import * as v from "valibot";

export const Tick = Event.json("tick", v.object({ n: v.number() }));
const news = Broadcast.create<typeof Tick>();

/** Sends a number to each follower; a negative one ends them. */
export function publish(n: number): void {
  news.publish("ticks", n < 0 ? Event.comment("end") : Event.make(Tick, { n }));
}

export function following(): number {
  return news.subscribers("ticks").length;
}

/** Sends published numbers, until its client disconnects or a negative number ends it. */
export function ticksUntil(gone: AbortSignal): Producer<typeof Tick> {
  return async (send) => {
    const ticks = news.subscribe("ticks");
    try {
      for (;;) {
        const tick = await ticks.next({ until: gone });
        if (tick?.name === undefined || !(await send(tick)).ok) return;
      }
    } finally {
      ticks.unsubscribe();
    }
  };
}
