/** Event streams: how they are written, and how they end (contract 6; facts 6; rows EV). */
import * as v from "valibot";
import { Broadcast, Codec, Event, Header, Path, Returns, clientGone, get, param } from "usher-http";
import type { Route } from "usher-http";
import { aWhile, note, passed } from "./state.ts";

const state = Event.json("state", v.pipe(v.number(), v.integer()));
const token = Event.text("token");
const count = Event.json("count", v.number());

const key = Path.str("key");
const keyed = { key: param(key) };

/** Continues until a send returns that the client has gone. */
function sendsOn(name: string, between?: () => Promise<unknown>): Route {
  return get(
    Path.of("events", name, key),
    { inputs: keyed, returns: Returns.events([state]) },
    ({ key }) =>
      async (send) => {
        for (let n = 1; ; n++) {
          const sent = await send(Event.make(state, n));
          if (!sent.ok) return note(`${key} sent`, sent.error);
          if (between !== undefined) await between();
        }
      },
  );
}

export const events: readonly Route[] = [
  get(Path.of("events", "all"), { returns: Returns.events([state, token]) }, () => async (send) => {
    await send(Event.retry({ ms: 1000 }));
    await send(Event.make(state, 7, { id: "7" }));
    await send(Event.make(token, "two\r\nlines"));
    await send(Event.comment("keep-alive"));
    await send(Event.make(token, ""));
  }),
  get(Path.of("events", "none"), { returns: Returns.events([state]) }, () => () => {}),
  get(
    Path.of("events", "resumed"),
    { inputs: { last: Header.default("last-event-id", Codec.int, 0) }, returns: Returns.events([count]) },
    ({ last }) =>
      async (send) =>
        void (await send(Event.make(count, last + 1, { id: `${last + 1}` }))),
  ),
  get(
    Path.of("events", "after"),
    { inputs: { last: Header.required("last-event-id", Codec.string) }, returns: Returns.events([token]) },
    ({ last }) =>
      async (send) =>
        void (await send(Event.make(token, `after ${last}`))),
  ),
  // Sends one event, and another when the gate opens; it records the results of its sends, and its end.
  get(
    Path.of("events", "wait", key),
    { inputs: keyed, returns: Returns.events([state]) },
    ({ key }) =>
      async (send) => {
        await send(Event.make(state, 1));
        await passed(key);
        const sent = await send(Event.make(state, 2));
        note(`${key} sent`, sent.ok ? "yes" : sent.error);
      },
  ),
  sendsOn("ticks", aWhile),
  // As fast as its client reads, without waiting for anything else.
  sendsOn("flood"),
  // Quiet: sends keep-alives until its client disconnects, which ends its subscription.
  get(
    Path.of("events", "quiet", key),
    { inputs: { ...keyed, clientGone }, returns: Returns.events([state], { keepAliveMs: 50 }) },
    ({ key, clientGone }) =>
      async () => {
        note(`${key} began`, "yes");
        const hub = Broadcast.create<typeof state>();
        const subscription = hub.subscribe("topic");
        // A Worker may wait only for a timer and for its client.
        const next = subscription.next({ until: clientGone });
        await passed(`${key} never`, clientGone);
        note(`${key} heard`, (await next) === undefined ? "nothing" : "something");
        note(`${key} left`, hub.topics().join() || "nobody");
      },
  ),
];
