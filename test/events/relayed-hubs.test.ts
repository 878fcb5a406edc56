/** A hub over a relay (contract 2.9): a missed message ends its subscriptions, and unsent messages are counted. */
import { beforeEach, expect, it } from "vitest";
import { Broadcast, Event } from "usher-http";
import type { Relay } from "usher-http";
import { relayOver } from "../../src/events/relay.ts";
import { lines, messages } from "../support/logs.ts";
import { HeldEngine } from "../support/relays/held-engine.ts";

let engine: HeldEngine;
beforeEach(() => {
  engine = new HeldEngine();
});

const text = Event.text("text");
const turn = () => new Promise(setImmediate);

it("ends its subscriptions when a message was missed, after delivering the queued events", async () => {
  const far = await relayOver(engine);
  const hub = Broadcast.create<typeof text>({ relay: await relayOver(engine) });
  const subscription = hub.subscribe("t");
  await far.publish("t", Event.make(text, "1").wire);
  engine.dies();
  hub.publish("t", Event.make(text, "here"));
  await engine.pass(500);
  const heard: (string | undefined)[] = [];
  for await (const { wire } of subscription) heard.push(/data: (.*)/.exec(wire)?.[1]);
  expect(heard).toEqual(["1", "here"]);
  expect(hub.topics()).toEqual([]);
  const again = hub.subscribe("t");
  await far.publish("t", Event.make(text, "2").wire);
  expect((await again.next())?.wire).toBe(Event.make(text, "2").wire);
  expect(messages("warn")).toContain(
    "a broadcast may have missed events of the other processes, so its subscriptions are ended",
  );
});

it("ends its subscriptions before it delivers messages of a new connection", async () => {
  const hub = Broadcast.create<typeof text>({ relay: await relayOver(engine) });
  const subscription = hub.subscribe("t");
  engine.dies();
  const { open } = engine;
  engine.open = async (listener) => {
    const connection = await open.call(engine, listener);
    // As from a broker that sends its confirmation and the next message in one packet.
    listener.received(`00000000000000ff 1 1 t${Event.make(text, "after").wire}`);
    return connection;
  };
  await engine.pass(500);
  expect(await subscription.next()).toBeUndefined();
  expect(messages("warn").filter((message) => String(message).includes("may have missed"))).toHaveLength(1);
});

it("logs once that it cannot publish, and later the number of unpublished events, each time", async () => {
  const hub = Broadcast.create<typeof text>({ relay: await relayOver(engine) });
  for (const lost of [100, 1]) {
    engine.dies();
    for (let i = 0; i < lost; i++) hub.publish("t", Event.make(text, "lost"));
    await engine.pass(500);
    for (let i = 0; i < 2; i++) hub.publish("t", Event.make(text, "sent"));
    await turn();
  }
  const cannot = "a broadcast could not publish to the other processes: there is no connection";
  expect(messages("error")).toEqual([]);
  expect(messages("warn").filter((message) => String(message).startsWith("a broadcast could not"))).toEqual([
    cannot,
    cannot,
  ]);
  const again = "a broadcast publishes to the other processes again;";
  expect(messages("info").filter((message) => String(message).startsWith(again))).toEqual([
    `${again} 100 events may not have reached them`,
    `${again} 1 event may not have reached them`,
  ]);
  hub.close();
});

it("says that its relay lost the connection while the event was on its way", async () => {
  const hub = Broadcast.create<typeof text>({ relay: await relayOver(engine) });
  engine.held = [];
  hub.publish("t", Event.make(text, "1"));
  const { held } = engine;
  engine.held = undefined;
  engine.dies();
  for (const go of held) go();
  await turn();
  expect(messages("warn")).toContain("a broadcast could not publish to the other processes: the connection was lost");
  expect(messages("error")).toEqual([]);
  hub.close();
});

it("names the channel of the relay that lost its connection", async () => {
  await relayOver(engine);
  engine.dies();
  await engine.pass(500);
  const relays = lines().filter(({ message }) => String(message).startsWith("a relay "));
  expect(relays.map((line) => line["framework.relay.channel"])).toEqual(["news", "news"]);
});

it("receives nothing from its relay after it is closed, also if it is closed twice", async () => {
  const far = await relayOver(engine);
  const hub = Broadcast.create<typeof text>({ relay: await relayOver(engine) });
  hub.close();
  hub.close();
  await turn();
  const late = hub.subscribe("t");
  await far.publish("t", Event.make(text, "far").wire);
  hub.publish("t", Event.make(text, "near"));
  expect((await late.next())?.wire).toBe(Event.make(text, "near").wire);
});

it("logs a relay that fails to unsubscribe, and ends its subscriptions anyway", async () => {
  const clinging: Relay = {
    publish: async () => {},
    subscribe: async () => () => Promise.reject(new TypeError("secret")),
  };
  const hub = Broadcast.create<typeof text>({ relay: clinging });
  const subscription = hub.subscribe("t");
  hub.close();
  expect(await subscription.next()).toBeUndefined();
  await turn();
  expect(messages("error")).toEqual(["a broadcast could not leave the other processes"]);
});

it.each<[string, () => unknown]>([
  [
    "throws at once",
    () => {
      throw new TypeError("secret");
    },
  ],
  ["rejects", () => Promise.reject(new TypeError("secret"))],
])("delivers to its own subscribers when the relay %s, and logs it once", async (_how, publish) => {
  const broken: Relay = { publish: publish as Relay["publish"], subscribe: async () => async () => {} };
  const hub = Broadcast.create<typeof text>({ relay: broken });
  const subscription = hub.subscribe("t");
  hub.publish("t", Event.make(text, "1"));
  hub.publish("t", Event.make(text, "2"));
  expect((await subscription.next())?.wire).toBe(Event.make(text, "1").wire);
  expect((await subscription.next())?.wire).toBe(Event.make(text, "2").wire);
  await turn();
  expect(messages("error")).toEqual(["a broadcast could not publish to the other processes"]);
});

it("accepts a relay whose publish returns no promise", async () => {
  const plain: Relay = { publish: (() => undefined) as never, subscribe: async () => async () => {} };
  const hub = Broadcast.create<typeof text>({ relay: plain });
  expect(() => hub.publish("t", Event.make(text, "1"))).not.toThrow();
  await turn();
  expect(messages("error")).toEqual([]);
});
