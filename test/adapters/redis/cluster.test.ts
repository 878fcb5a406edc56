/** Idempotency keys, rates and hubs over a real Redis Cluster of six servers: slots, moves of slots, and a failover. */
import { createCluster } from "redis";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Broadcast, Dep, Event, Idempotency, Path, Returns, Test, post } from "usher-http";
import type { Hub, IdempotencyStore } from "usher-http";
import { idempotencyStore, rateStore, relay } from "usher-http/redis";
import { eventually } from "../../support/eventually.ts";
import { messages } from "../../support/logs.ts";
import { ownRedis } from "../../support/redis.ts";
import { RedisCluster } from "../../support/redis-cluster.ts";

let cluster: RedisCluster;
beforeAll(async () => {
  if (!ownRedis.isSkipped) cluster = await RedisCluster.start();
});

let prefixes = 0;
const prefix = (): string => `usher-test-${prefixes++}:`;
const first = () => cluster.primaries[0] as RedisCluster["primaries"][number];

const placed = Event.text("placed");
type PlacedHub = Hub<typeof placed>;

/** The ways to name a cluster. */
const ways = [
  ["the URL of a node", () => Promise.resolve(first().server.url)],
  ["the URL of a replica", () => Promise.resolve(cluster.replicas[0]?.server.url ?? "")],
  [
    "a client of createCluster",
    async () => {
      const client = createCluster({
        rootNodes: [{ url: first().server.url }],
        defaults: { disableOfflineQueue: true },
        topologyRefreshOnReconnectionAttemptStrategy: 500,
      });
      client.on("error", () => {});
      await client.connect();
      onTestFinished(() => client.destroy());
      return client;
    },
  ],
] as const;

function orders(store: IdempotencyStore) {
  let done = 0;
  const once = Idempotency.by(store, { caller: Dep.return("everybody") });
  const order = post(Path.root, { inputs: { once }, returns: Returns.text }, () => `order ${++done}`);
  const app = Test.app([order]);
  return {
    send: async (key: string) => {
      const answer = await Test.call(app, "POST", "/", { headers: { "idempotency-key": `"${key}"` } });
      return [answer.status, answer.body] as const;
    },
    done: () => done,
  };
}

describe.skipIf(ownRedis.isSkipped).each(ways)(`a cluster by %s${ownRedis.why}`, (_way, server) => {
  it("keeps the answer of each idempotency key, in whichever slot it is", async () => {
    const store = await idempotencyStore(await server(), { prefix: prefix(), waitMs: 60_000 });
    onTestFinished(() => store.close());
    const shop = orders(store);
    const keys = Array.from({ length: 60 }, (_, i) => `key-${i}`);
    const answers = await Promise.all(keys.map(shop.send));
    expect(answers.map(([status]) => status)).toEqual(keys.map(() => 200));
    expect(await Promise.all(keys.map(shop.send))).toEqual(answers);
    expect(shop.done()).toBe(60);
  });

  it("counts a rate for all processes", async () => {
    const shared = prefix();
    const stores = [await rateStore(await server(), { prefix: shared, waitMs: 60_000 })];
    stores.push(await rateStore(await server(), { prefix: shared, waitMs: 60_000 }));
    onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))));
    const rule = { intervalMs: 3_600_000, burst: 1 };
    for (let i = 0; i < 40; i++) {
      const waits = [];
      // A client may choose a hash tag: all of these are in one slot, which is no more than slow.
      for (const store of stores)
        waits.push(await store.take(i % 2 === 0 ? `client ${i}` : `{x}${i}`, rule, new Date()));
      expect([waits[0], (waits[1] ?? 0) > 0]).toEqual([0, true]);
    }
    expect(messages("warn").filter((line) => String(line).includes("by this process alone"))).toEqual([]);
  });
});

describe.skipIf(ownRedis.isSkipped)(`a cluster that changes${ownRedis.why}`, () => {
  it("is followed by MOVED and ASK while a slot moves", async () => {
    const shared = prefix();
    const store = await idempotencyStore(first().server.url, { prefix: shared, waitMs: 60_000 });
    onTestFinished(() => store.close());
    const shop = orders(store);
    const [from, to] = [first(), cluster.primaries[1] ?? first()];
    // The middle of a move: the old node answers for a key that it has, and says ASK for any other.
    const texts = await textsOf(from);
    const slots = texts.map(([slot]) => slot);
    for (const slot of slots) {
      await to.send("CLUSTER", "SETSLOT", slot, "IMPORTING", from.id);
      await from.send("CLUSTER", "SETSLOT", slot, "MIGRATING", to.id);
    }
    const rates = await rateStore(first().server.url, { prefix: prefix(), waitMs: 60_000 });
    onTestFinished(() => rates.close());
    const rule = { intervalMs: 3_600_000, burst: 1 };
    // ASK: the keys are new, so that the new node gets them.
    for (const [, text] of texts) expect(await rates.take(`{${text}}`, rule, new Date())).toBe(0);
    for (const slot of slots) {
      for (const node of cluster.primaries) await node.send("CLUSTER", "SETSLOT", slot, "NODE", to.id);
    }
    // MOVED: they are counted where they are now.
    for (const [, text] of texts) expect(await rates.take(`{${text}}`, rule, new Date())).toBeGreaterThan(0);
    const keys = Array.from({ length: 40 }, (_, i) => `moved-${i}`);
    for (const key of keys) expect((await shop.send(key))[0]).toBe(200);
    expect(messages("warn")).toEqual([]);
  });

  it("is a 503 for the keys of a primary that dies, until its replica takes over; no order is made twice", async () => {
    const shared = prefix();
    const store = await idempotencyStore(cluster.primaries[1]?.server.url ?? "", { prefix: shared, waitMs: 5000 });
    const rates = await rateStore(cluster.primaries[1]?.server.url ?? "", { prefix: prefix(), waitMs: 5000 });
    onTestFinished(async () => void (await Promise.all([store.close(), rates.close()])));
    const shop = orders(store);
    const keys = Array.from({ length: 60 }, (_, i) => `failover-${i}`);
    const before = await Promise.all(keys.map(shop.send));
    expect(shop.done()).toBe(60);
    await eventually(async () => expect(await first().send("WAIT", "1", "1000")).toBe(1));
    await first().server.stop();
    const answers = await Promise.all(keys.map(shop.send));
    for (const [i, answer] of answers.entries()) {
      if (answer[0] !== 503) expect(answer).toEqual(before[i]);
    }
    await eventually(async () => {
      for (const [i, key] of keys.entries()) expect(await shop.send(key)).toEqual(before[i]);
    });
    expect(shop.done()).toBe(60);
    for (let i = 0; i < 20; i++) expect(await rates.take(`c${i}`, { intervalMs: 1000, burst: 1 }, new Date())).toBe(0);
  });

  it("carries the events of a hub between nodes, and past a node that dies", async () => {
    const urls = [...cluster.primaries.slice(1), ...cluster.replicas].map(({ server }) => server.url);
    const relays = [await relay(urls, { channel: "c" }), await relay(urls.toReversed(), { channel: "c" })];
    onTestFinished(async () => void (await Promise.all(relays.map((one) => one.close()))));
    const [here, there] = relays.map((one) => Broadcast.create<typeof placed>({ relay: one })) as [
      PlacedHub,
      PlacedHub,
    ];
    const hears = async () => {
      const subscription = there.subscribe("orders");
      here.publish("orders", Event.make(placed, "7"));
      expect(
        await Promise.race([subscription.next(), new Promise((resolve) => setTimeout(resolve, 500))]),
      ).toBeDefined();
      subscription.unsubscribe();
    };
    await eventually(hears);
    await cluster.primaries[1]?.server.stop();
    await eventually(hears);
  });
});

/** Texts whose slots are of that node: those below 5461. */
async function textsOf(
  node: RedisCluster["primaries"][number],
): Promise<readonly (readonly [slot: string, text: string])[]> {
  const found: (readonly [string, string])[] = [];
  for (let i = 0; found.length < 5; i++) {
    const slot = Number(await node.send("CLUSTER", "KEYSLOT", `t${i}`));
    if (slot < 5461) found.push([String(slot), `t${i}`]);
  }
  return found;
}
