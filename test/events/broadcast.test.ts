/** The broadcast hub (contract 2.9, 3, 6.8; facts 6.3; rows BC, ST-39). */
import { getEventListeners } from "node:events";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Broadcast, Event, Path, Returns, Test, post } from "usher-http";
import type { Hub, Relay, Subscription } from "usher-http";
import { lines } from "../support/logs.ts";

const n = Event.json("n", v.number());
type Kind = typeof n;
const event = (value: number) => Event.make(n, value);
const hubOf = (depth?: number): Hub<Kind, string> =>
  Broadcast.create<Kind, string>(depth === undefined ? {} : { depth });

const told = async (subscription: Subscription<Kind>, times: number): Promise<readonly string[]> => {
  const all: string[] = [];
  for (let i = 0; i < times; i++) {
    const next = await subscription.next();
    all.push(next === undefined ? "none" : (/data: (.*)/.exec(next.wire)?.[1] ?? "?"));
  }
  return all;
};

describe("a broadcast hub: depth and end", () => {
  it("BC-01 drops a subscription that is more than its depth behind, and reports it each time", async () => {
    const hub = hubOf(2);
    const quick = hub.subscribe("t", "quick");
    const slow = hub.subscribe("t", "slow");
    const heard: string[] = [];
    for (const value of [1, 2, 3]) {
      hub.publish("t", event(value));
      heard.push(...(await told(quick, 1)));
    }
    expect(heard).toEqual(["1", "2", "3"]);
    expect(hub.subscribers("t")).toEqual(["quick"]);
    expect(await told(slow, 4)).toEqual(["1", "2", "none", "none"]);
  });

  it("tells once for a publication how many it dropped, and neither the topic nor a request", () => {
    const hub = hubOf(1);
    for (const tag of ["a", "b"]) hub.subscribe("zq9_", tag);
    hub.publish("zq9_", event(1));
    expect(lines()).toEqual([]);
    hub.publish("zq9_", event(2));
    hub.subscribe("zq9_", "c");
    for (const value of [3, 4]) hub.publish("zq9_", event(value));
    expect(lines().map((line) => [line["level"], line["logger.name"], line["message"]])).toEqual([
      ["info", "framework.http", "a broadcast dropped 2 subscribers: more than 1 event waited for each"],
      ["info", "framework.http", "a broadcast dropped 1 subscriber: more than 1 event waited for it"],
    ]);
    expect(JSON.stringify(lines())).not.toContain("zq9_");
  });

  it("leaves out the oldest event for a subscription that is behind, where the hub skips", async () => {
    const hub = Broadcast.create<Kind, string>({ depth: 2, behind: "skip" });
    const slow = hub.subscribe("t", "slow");
    for (const value of [1, 2, 3, 4, 5]) hub.publish("t", event(value));
    expect(await told(slow, 2)).toEqual(["4", "5"]);
    expect(hub.subscribers("t")).toEqual(["slow"]);
    const waiting = told(slow, 1);
    hub.publish("t", event(6));
    expect(await waiting).toEqual(["6"]);
    hub.publish("t", event(7));
    hub.close();
    expect(await told(slow, 2)).toEqual(["7", "none"]);
  });

  it("wakes a loop once for all that was published while it read, where one event waits", async () => {
    const hub = Broadcast.create<Kind>({ depth: 1, behind: "skip" });
    const woken = hub.subscribe("t");
    const written: number[] = [];
    const read: number[] = [];
    const write = (value: number): void => {
      written.push(value);
      hub.publish("t", event(value));
    };
    for (let times = 0; times < 3; times++) {
      for (let value = 0; value < 1000; value++) write(times * 1000 + value);
      expect(await woken.next()).toBeDefined();
      // What is written while it reads wakes it again.
      await Promise.resolve();
      read.push(...written.splice(0));
      write(-1);
      expect(await woken.next()).toBeDefined();
      read.push(...written.splice(0));
    }
    expect(read).toHaveLength(3003);
    hub.close();
    expect(await woken.next()).toBeUndefined();
  });

  it("BC-03 ends every subscription when it is closed", async () => {
    const hub = hubOf();
    const [a, b] = [hub.subscribe("t", "a"), hub.subscribe("u", "b")];
    const waiting = a.next();
    hub.publish("u", event(1));
    hub.close();
    expect(await waiting).toBeUndefined();
    expect(await told(b, 2)).toEqual(["1", "none"]);
    expect([hub.topics(), hub.subscribers("t")]).toEqual([[], []]);
  });

  it("BC-04 stops waiting when the client disconnects", async () => {
    const hub = hubOf();
    const going = new AbortController();
    const subscription = hub.subscribe("t", "a");
    const waiting = subscription.next({ until: going.signal });
    going.abort();
    expect(await waiting).toBeUndefined();
    expect(hub.subscribers("t")).toEqual([]);
    const late = hub.subscribe("t", "b");
    hub.publish("t", event(1));
    expect(await late.next({ until: going.signal })).toBeUndefined();
    expect(hub.subscribers("t")).toEqual([]);
  });

  it.each(["while it waits for nothing", "before it is read again"])(
    "BC-04 discards what is queued once the client has disconnected, %s",
    async (when) => {
      const hub = hubOf();
      const going = new AbortController();
      const subscription = hub.subscribe("t", "a");
      for (let i = 0; i < 3; i++) hub.publish("t", event(i));
      if (when === "while it waits for nothing") await subscription.next({ until: going.signal });
      going.abort();
      if (when === "before it is read again") await subscription.next({ until: going.signal });
      expect(await subscription.next()).toBeUndefined();
      expect(hub.subscribers("t")).toEqual([]);
    },
  );

  it.each([0, 1])("BC-04 stops waiting at each of several signals: %i", async (which) => {
    const hub = hubOf();
    const going = [new AbortController(), new AbortController()];
    const subscription = hub.subscribe("t", "a");
    const waiting = going.map(({ signal }) => subscription.next({ until: signal }));
    going[which]?.abort();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined]);
    expect(hub.subscribers("t")).toEqual([]);
  });

  it("BC-06 queues exactly its depth for a subscription that never reads", async () => {
    const hub = hubOf();
    const subscription = hub.subscribe("t", "a");
    for (let i = 0; i < 1000; i++) hub.publish("t", event(i));
    const heard = await told(subscription, 18);
    expect(heard).toEqual([...Array.from({ length: 16 }, (_, i) => `${i}`), "none", "none"]);
  });
});

describe("a broadcast hub: delivery", () => {
  it("BC-07 never waits: every subscription gets every event", async () => {
    const hub = hubOf();
    const slow = hub.subscribe("t", "slow");
    const waits = hub.subscribe("t", "waits");
    const waiting = [waits.next(), waits.next()];
    expect(hub.publish("t", event(1))).toBeUndefined();
    hub.publish("t", event(2));
    expect((await Promise.all(waiting)).map((next) => next?.wire)).toEqual([event(1).wire, event(2).wire]);
    expect(await told(slow, 2)).toEqual(["1", "2"]);
  });

  it("BC-09 lists tags and topics, the newest first", () => {
    const hub = hubOf();
    const [a] = [hub.subscribe("t", "a"), hub.subscribe("t", "b"), hub.subscribe("u", "c")];
    expect([hub.subscribers("t"), hub.subscribers("u"), hub.subscribers("none")]).toEqual([["b", "a"], ["c"], []]);
    expect(hub.topics()).toEqual(["u", "t"]);
    a?.unsubscribe();
    a?.unsubscribe();
    expect(hub.subscribers("t")).toEqual(["b"]);
  });

  it("delivers the events of a topic only to its subscribers, and not to a subscription that ended", async () => {
    const hub = hubOf();
    const [t, u] = [hub.subscribe("t", "t"), hub.subscribe("u", "u")];
    hub.publish("t", event(1));
    t.unsubscribe();
    hub.publish("t", event(2));
    hub.publish("u", event(3));
    expect([await told(t, 2), await told(u, 1)]).toEqual([["1", "none"], ["3"]]);
  });

  it("gives the same event object to all: it is encoded once", async () => {
    const hub = hubOf();
    const [a, b] = [hub.subscribe("t", "a"), hub.subscribe("t", "b")];
    hub.publish("t", event(1));
    const [one, other] = [await a.next(), await b.next()];
    expect(one?.bytes).toBe(other?.bytes);
  });
});

describe("a broadcast hub: iteration", () => {
  it("can be iterated to its end, and a `break` ends the subscription", async () => {
    const hub = hubOf();
    const subscription = hub.subscribe("t", "a");
    for (const value of [1, 2, 3]) hub.publish("t", event(value));
    const heard: string[] = [];
    for await (const { wire } of subscription) {
      heard.push(wire);
      if (heard.length === 2) break;
    }
    expect([heard, hub.subscribers("t")]).toEqual([[event(1).wire, event(2).wire], []]);
  });

  it("adds one listener to a signal, for any number of waits", async () => {
    const hub = hubOf();
    const going = new AbortController();
    let listeners = 0;
    const { signal } = going;
    const add = signal.addEventListener.bind(signal);
    Object.assign(signal, { addEventListener: (...given: Parameters<typeof add>) => (listeners++, add(...given)) });
    const subscription = hub.subscribe("t", "a");
    for (let i = 0; i < 50; i++) {
      hub.publish("t", event(i));
      await subscription.next({ until: signal });
    }
    expect(listeners).toBe(1);
    subscription.unsubscribe();
  });

  it("removes its listeners from the signals of earlier calls when a call has its own signal", async () => {
    const hub = hubOf();
    const subscription = hub.subscribe("t", "a");
    const going = Array.from({ length: 50 }, () => new AbortController());
    for (const [i, { signal }] of going.entries()) {
      hub.publish("t", event(i));
      await subscription.next({ until: signal });
    }
    const listening = going.filter(({ signal }) => getEventListeners(signal, "abort").length > 0);
    expect(listening).toEqual(going.slice(-1));
    going[0]?.abort();
    expect(hub.subscribers("t")).toEqual(["a"]);
    going.at(-1)?.abort();
    expect(hub.subscribers("t")).toEqual([]);
  });

  it.each<[string, (subscription: Subscription<Kind>, hub: Hub<Kind, string>, going: AbortController) => void]>([
    ["left", (subscription) => subscription.unsubscribe()],
    ["dropped", (_, hub) => Array.from({ length: 20 }, (_, i) => hub.publish("t", event(i)))],
    ["closed with its hub", (_, hub) => hub.close()],
    ["ended by one of its signals", (_subscription, _hub, going) => going.abort()],
  ])("leaves no listener at its signals when it is %s", async (_, end) => {
    const hub = hubOf();
    const going = [new AbortController(), new AbortController(), new AbortController()];
    const subscription = hub.subscribe("t", "a");
    const waiting = going.map(({ signal }) => subscription.next({ until: signal }));
    expect(going.map(({ signal }) => getEventListeners(signal, "abort").length)).toEqual([1, 1, 1]);
    end(subscription, hub, going[1] as AbortController);
    await Promise.all(waiting);
    expect(hub.topics()).toEqual([]);
    await Promise.all(going.map(({ signal }) => subscription.next({ until: signal })));
    const left = going.filter(({ signal }) => !signal.aborted);
    expect(left.map(({ signal }) => getEventListeners(signal, "abort").length)).toEqual(left.map(() => 0));
  });
});

describe("a broadcast hub: options", () => {
  it.each([0, -1, 1.5, Number.NaN])("ST-39 refuses a depth of %d", (depth) => {
    expect(() => hubOf(depth)).toThrow(`Broadcast.create: depth must be a whole number from 1, not ${depth}`);
  });

  it("refuses another word for what is behind", () => {
    expect(() => Broadcast.create({ behind: "wait" as "skip" })).toThrow(
      'Broadcast.create: behind must be "drop" or "skip", not "wait"',
    );
  });

  it("ST-39 accepts a depth of 1", async () => {
    const hub = hubOf(1);
    const subscription = hub.subscribe("t", "a");
    hub.publish("t", event(1));
    hub.publish("t", event(2));
    expect(await told(subscription, 2)).toEqual(["1", "none"]);
  });
});

describe("a broadcast hub with a relay", () => {
  /** The connections of two processes to one broker. */
  function engine(): [Relay, Relay] {
    const receivers: ((topic: string, wire: string) => void)[] = [];
    const end = (mine: number): Relay => ({
      publish: async (topic, wire) => receivers[1 - mine]?.(topic, wire),
      subscribe: async (receive) => {
        receivers[mine] = receive;
        return async () => {
          receivers[mine] = () => {};
        };
      },
    });
    return [end(0), end(1)];
  }

  it("reaches the subscribers of every process once", async () => {
    const [here, there] = engine();
    const [hub, far] = [
      Broadcast.create<Kind, string>({ relay: here }),
      Broadcast.create<Kind, string>({ relay: there }),
    ];
    const [near, away] = [hub.subscribe("t", "near"), far.subscribe("t", "away")];
    hub.publish("t", Event.make(n, 1, { id: "é" }));
    const [one, other] = [await near.next(), await away.next()];
    expect([other?.name, other?.wire]).toEqual(["n", one?.wire]);
    far.publish("t", event(2));
    expect([(await near.next())?.wire, (await away.next())?.wire]).toEqual([event(2).wire, event(2).wire]);
    hub.close();
    far.close();
    expect(await near.next()).toBeUndefined();
  });

  it("leaves out the oldest event that it brings, where the hub skips", async () => {
    const [here, there] = engine();
    const from = Broadcast.create<Kind>({ relay: here });
    const slow = Broadcast.create<Kind>({ depth: 1, behind: "skip", relay: there }).subscribe("t");
    for (const value of [1, 2, 3]) from.publish("t", event(value));
    expect(await told(slow, 1)).toEqual(["3"]);
    expect(lines()).toEqual([]);
  });

  it("logs a failure of the relay by its kind, and still delivers in this process", async () => {
    const failing: Relay = {
      publish: () => Promise.reject(new TypeError("secret")),
      subscribe: () => Promise.reject(new RangeError("secret")),
    };
    const hub = Broadcast.create<Kind, string>({ relay: failing });
    const subscription = hub.subscribe("t", "a");
    hub.publish("t", event(1));
    expect(await told(subscription, 1)).toEqual(["1"]);
    await new Promise(setImmediate);
    expect(lines().map((line) => [line["level"], line["message"], line["error.kind"]])).toEqual([
      ["error", "a broadcast could not receive from the other processes", "RangeError"],
      ["error", "a broadcast could not publish to the other processes", "TypeError"],
    ]);
  });

  it("logs a failure of the relay during a request with the request's id", async () => {
    const failing: Relay = {
      publish: () => Promise.reject(new TypeError("no")),
      subscribe: async () => async () => {},
    };
    const hub = Broadcast.create<Kind, string>({ relay: failing });
    const route = post(Path.root, { returns: Returns.empty() }, () => hub.publish("t", event(1)));
    const { headers } = await Test.call(Test.app([route]), "POST", "/");
    await new Promise(setImmediate);
    const line = lines().find(({ level }) => level === "error");
    expect(line).toMatchObject({
      message: "a broadcast could not publish to the other processes",
      request_id: headers.get("x-request-id"),
    });
  });
});
