/** Rates that processes share, over a real Redis or Valkey (facts 14; rows RL). */
import { once } from "node:events";
import net, { Socket, connect, createServer } from "node:net";
import fc from "fast-check";
import { createClient } from "redis";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { Path, Rate, Returns, Test, client, get } from "usher-http";
import { rateStore } from "usher-http/redis";
import { adapterTimers } from "../../support/adapter-timers.ts";
import { eventually } from "../../support/eventually.ts";
import { lines, messages } from "../../support/logs.ts";
import { runs } from "../../support/runs.ts";
import { RedisServer, ownRedis, redis, redisUrl } from "../../support/redis.ts";
import { Wire } from "../../support/wire.ts";

const now = new Date();
const hour = 3_600_000;
/** What is left of an hour while a test runs, which ends after five minutes. */
const soonAfter = hour - 300_000;
const rule = { intervalMs: hour, burst: 1 };
/** Of a store that asks the server, however slow the machine is. */
const waits = { waitMs: 60_000 };
let keys = 0;
const freshKey = (): string => `usher-test-${process.pid}-${keys++}`;

/** A user of the server's that is gone with the test, and how many connections it has. */
async function userOf(url: string) {
  const user = freshKey();
  const admin = await createClient({ url }).connect();
  await admin.sendCommand(["ACL", "SETUSER", user, "on", "nopass", "~*", "+@all"]);
  onTestFinished(async () => {
    await admin.sendCommand(["ACL", "DELUSER", user]);
    await admin.close();
  });
  return {
    user,
    async connections(): Promise<number> {
      return String(await admin.sendCommand(["CLIENT", "LIST"])).split(`user=${user} `).length - 1;
    },
  };
}

/**
 * Until the test is over, no socket of this process ends by an idle time limit: the client of `redis` would close, after 15
 * seconds, a connection that a store left open.
 */
function keepSilentSockets(): void {
  const timeout = vi.spyOn(Socket.prototype, "setTimeout").mockReturnThis();
  onTestFinished(() => timeout.mockRestore());
}

describe.skipIf(redis.isSkipped)(`rates over Redis${redis.why}`, () => {
  let url: string;
  beforeAll(async () => {
    url = ownRedis.isSkipped && redisUrl !== undefined ? redisUrl : (await RedisServer.start()).url;
  });

  it("RL are counted together, by all processes", async () => {
    const stores = await Promise.all([1, 2, 3].map(() => rateStore(url, waits)));
    const key = freshKey();
    const rule = { intervalMs: hour, burst: 10 };
    const taken = await Promise.all(
      Array.from({ length: 30 }, async (_, i) => stores[i % 3]?.take(key, rule, now) ?? -1),
    );
    expect(taken.filter((wait) => wait === 0)).toHaveLength(10);
    for (const wait of taken) expect(wait).toBeLessThanOrEqual(hour);
    expect(taken.filter((wait) => wait > soonAfter)).toHaveLength(20);
    await Promise.all(stores.map((store) => store.close()));
    expect(messages("warn")).toEqual([]);
  });

  it("RL let another request pass when its time has arrived, by the server's clock", async () => {
    const store = await rateStore(url, waits);
    const key = freshKey();
    const rule = { intervalMs: 50, burst: 1 };
    expect(await store.take(key, rule, new Date(0))).toBe(0);
    let wait = await store.take(key, rule, new Date(0));
    while (wait > 0) {
      await new Promise((resolve) => setTimeout(resolve, Math.ceil(wait)));
      wait = await store.take(key, rule, new Date(0));
    }
    await store.close();
  });

  it("RL do not make requests wait for a clock that was set back", async () => {
    const prefix = `${freshKey()}:`;
    const store = await rateStore(url, { prefix, ...waits });
    const looking = await createClient({ url }).connect();
    const rule = { intervalMs: hour, burst: 2 };
    await looking.set(`${prefix}a`, String(Date.now() + 24 * hour), { PX: 24 * hour });
    expect(await store.take("a", rule, now)).toBe(hour);
    const left = [Number(await looking.get(`${prefix}a`)) - Date.now(), await looking.pTTL(`${prefix}a`)];
    for (const ms of left) expect(Math.abs(ms - 2 * hour)).toBeLessThan(300_000);
    await looking.close();
    await store.close();
  });

  it("RL keep a key no longer than it matters", async () => {
    const store = await rateStore(url, { prefix: "usher-test:", ...waits });
    const key = freshKey();
    await store.take(key, { intervalMs: hour, burst: 3 }, now);
    const looking = await createClient({ url }).connect();
    const left = await looking.pTTL(`usher-test:${key}`);
    expect(left).toBeGreaterThan(soonAfter);
    expect(left).toBeLessThanOrEqual(hour);
    await looking.close();
    await store.close();
  });

  it("RL behave like their model, used up and refilled repeatedly, and leave no key after all have expired", async () => {
    const prefix = `${freshKey()}:`;
    const store = await rateStore(url, { prefix, ...waits });
    const looking = await createClient({ url }).connect();
    // The server's clock continues: its time at a count is between two reads of it.
    const clock = async (): Promise<number> => {
      const [seconds, micros] = (await looking.sendCommand(["TIME"])) as unknown as readonly [string, string];
      return Number(seconds) * 1000 + Number(micros) / 1000;
    };
    const rule = { intervalMs: 20, burst: 3 };
    const ahead = rule.intervalMs * (rule.burst - 1);
    const usedUp = new Map<string, readonly [least: number, most: number]>();
    const step = fc.record({
      key: fc.constantFrom("a", "b", "c"),
      times: fc.integer({ min: 1, max: 5 }),
      pauseMs: fc.constantFrom(0, 0, 0, 10, 30, 70),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
        for (const { key, times, pauseMs } of steps) {
          for (let i = 0; i < times; i++) {
            const before = await clock();
            const wait = await store.take(key, rule, now);
            const after = await clock();
            const [least, most] = usedUp.get(key) ?? [0, 0];
            // Within 0.01 ms: it is kept in thousandths.
            const waits = [
              Math.max(least - after, 0) - ahead - 0.01,
              Math.max(most - before, 0) - ahead + 0.01,
            ] as const;
            if (wait === 0) {
              expect(waits[0]).toBeLessThanOrEqual(0);
              usedUp.set(key, [Math.max(least, before) + rule.intervalMs, Math.max(most, after) + rule.intervalMs]);
            } else {
              expect(wait).toBeGreaterThanOrEqual(waits[0]);
              expect(wait).toBeLessThanOrEqual(waits[1]);
            }
          }
          if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
        }
      }),
      runs(15),
    );
    await eventually(async () => expect(await looking.keys(`${prefix}*`)).toEqual([]));
    await looking.close();
    await store.close();
    expect(messages("warn")).toEqual([]);
  });

  it("RL refuse the eleventh request of a route", async () => {
    const store = await rateStore(url, waits);
    const rate = Rate.make({ name: freshKey(), limit: 10, perMs: 10 * hour, store });
    const route = get(Path.root, { inputs: { a: Rate.limit(rate, { key: client }) }, returns: Returns.text }, () => "");
    const app = Test.app([route]);
    for (let i = 0; i < 10; i++) expect((await Test.call(app, "GET", "/")).status).toBe(200);
    const { status, headers } = await Test.call(app, "GET", "/");
    expect(status).toBe(429);
    const seconds = Number(headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(soonAfter / 1000);
    expect(seconds).toBeLessThanOrEqual(hour / 1000);
    await store.close();
  });

  it.skipIf(ownRedis.isSkipped)(
    `RL are counted by each process alone while the server is away${ownRedis.why}`,
    async () => {
      const own = await RedisServer.start();
      const store = await rateStore(own.url, waits);
      const rule = { intervalMs: hour, burst: 2 };
      const key = freshKey();
      expect(await store.take(key, rule, now)).toBe(0);
      await own.stop();
      const limited = get(Path.root, { returns: Returns.text }, async () => String(await store.take(key, rule, now)));
      const { body, headers } = await Test.call(Test.app([limited]), "GET", "/");
      const alone = [Number(body), await store.take(key, rule, now), await store.take(key, rule, now)];
      expect(alone.map((wait) => wait === 0)).toEqual([true, true, false]);
      expect(lines().filter(({ level }) => level === "warn")).toMatchObject([
        {
          message: "rates are counted by this process alone until the server answers",
          request_id: headers.get("x-request-id"),
        },
      ]);
      await own.start();
      // Its key went with the server, so that what passes again is what the server counts.
      while ((await store.take(key, rule, now)) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
      // Each outage is logged, and its end.
      const ends = () => messages("info").filter((line) => line === "rates are counted by the server again");
      expect(ends()).toHaveLength(1);
      await own.stop();
      await store.take(key, rule, now);
      expect([messages("warn").length, ends().length]).toEqual([2, 1]);
      await store.close();
    },
  );

  it("RL does not wait for a server that does not answer", async () => {
    const wire = await Wire.to(Number(new URL(url).port));
    const store = await rateStore(`redis://127.0.0.1:${wire.port}`, waits);
    const timers = adapterTimers();
    wire.holdAnswers();
    const key = freshKey();
    const late = store.take(key, rule, now);
    expect(timers.end(60_000)).toBe(1);
    // The second one does not even ask: the first is not answered yet.
    expect([await late, (await store.take(key, rule, now)) > 0, timers.end(60_000)]).toEqual([0, true, 0]);
    expect(messages("warn")).toEqual(["rates are counted by this process alone until the server answers"]);
    wire.passAnswers();
    // Once it has answered it counts again: what another process used up is used up here.
    const other = await rateStore(url, waits);
    for (let wait = 0; wait === 0;) {
      const used = freshKey();
      await other.take(used, rule, now);
      wait = await store.take(used, rule, now);
    }
    await Promise.all([store.close(), other.close()]);
  });

  it.skipIf(ownRedis.isSkipped)(`ST is not made where no server can be reached${ownRedis.why}`, async () => {
    const own = await RedisServer.start();
    await own.stop();
    await expect(rateStore(own.url)).rejects.toThrow("ECONNREFUSED");
  });

  it("ST rejects, and leaves no connection, when the server is reached too late", async () => {
    keepSilentSockets();
    const { user, connections } = await userOf(url);
    const timers = adapterTimers();
    const opening = rateStore(url.replace("redis://", `redis://${user}:any@`));
    // In the turn in which the package is loaded, its socket begins to connect.
    let ended = 0;
    for (let turn = 0; turn < 1000 && ended === 0; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      ended = timers.end(5000);
    }
    expect(ended).toBe(1);
    await expect(opening).rejects.toThrow("the server did not answer within 5000 ms");
    await eventually(async () => expect(await connections()).toBe(0));
  });

  it("RL are counted by the server again after a pause longer than a call's time limit", async () => {
    const timers = adapterTimers();
    const [store, other] = await Promise.all([rateStore(url, waits), rateStore(url, waits)]);
    const key = freshKey();
    await store.take(freshKey(), rule, now);
    // Nothing is left of the time for connecting, nor of the call's, whose end says that the server is slow.
    expect([timers.end(5000), timers.end(60_000)]).toEqual([0, 0]);
    expect(await other.take(key, rule, now)).toBe(0);
    expect(await store.take(key, rule, now)).toBeGreaterThan(0);
    await Promise.all([store.close(), other.close()]);
  });
});

it.skipIf(redis.isSkipped)(
  `RL a long key takes no more room than a short one, and counts alone${redis.why}`,
  async () => {
    const url = ownRedis.isSkipped && redisUrl !== undefined ? redisUrl : (await RedisServer.start()).url;
    const prefix = `${freshKey()}:`;
    const [store, admin] = [await rateStore(url, { ...waits, prefix }), await createClient({ url }).connect()];
    onTestFinished(async () => {
      await Promise.all([store.close(), admin.close()]);
    });
    const taken = async (key: string) => (await store.take(key, rule, now)) === 0;
    const [long, other] = ["a".repeat(16_000), `${"a".repeat(16_000)}b`];
    expect([await taken(long), await taken(long), await taken(other)]).toEqual([true, false, true]);
    const kept = (await admin.keys(`${prefix}*`)).map((key) => key.slice(prefix.length));
    for (const key of kept) expect(key.length).toBeLessThan(64);
    // No client can use up the rate of a long key by a short one.
    for (const key of kept) expect(await taken(key)).toBe(true);
  },
);

/** Whether a promise settles without anything of another process: by the next turn of the event loop. */
function settlesAtOnce(promise: Promise<void>): Promise<boolean> {
  return Promise.race([promise.then(() => true), new Promise<boolean>((resolve) => setImmediate(resolve, false))]);
}

describe.skipIf(redis.isSkipped)(`a rate store's end${redis.why}`, () => {
  let url: string;
  beforeAll(async () => {
    url = ownRedis.isSkipped && redisUrl !== undefined ? redisUrl : (await RedisServer.start()).url;
  });

  it("ST answers the pending calls, and closes the connection", async () => {
    keepSilentSockets();
    const { user, connections } = await userOf(url);
    const store = await rateStore(url.replace("redis://", `redis://${user}:any@`), waits);
    const key = freshKey();
    // The server has its script from then on.
    await store.take(freshKey(), rule, now);
    const taken = Promise.all([1, 2].map(async () => store.take(key, rule, now)));
    await store.close();
    await store.close();
    const [first = 1, second = 0] = await taken;
    expect([first, second > 0]).toEqual([0, true]);
    await eventually(async () => expect(await connections()).toBe(0));
    expect(messages("warn")).toEqual([]);
  });

  it("ST has no timer that keeps the process running", async () => {
    const set = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => set.mockRestore());
    const store = await rateStore(url, waits);
    await store.take(freshKey(), rule, now);
    expect(set.mock.calls.filter(([, ms]) => ms === 5000)).toEqual([]);
    await store.close();
  });

  it("ST leaves no connection when it is closed during a reconnect", async () => {
    const wire = await Wire.to(Number(new URL(url).port));
    const store = await rateStore(`redis://127.0.0.1:${wire.port}`, waits);
    const { createConnection } = net;
    const again = new Promise<net.Socket>((resolve) => {
      const connecting = vi.spyOn(net, "createConnection").mockImplementation((...given: unknown[]) => {
        const socket = Reflect.apply(createConnection, net, given) as net.Socket;
        resolve(socket);
        return socket;
      });
      onTestFinished(() => connecting.mockRestore());
    });
    wire.cut();
    wire.mend();
    const socket = await again;
    await store.close();
    expect(socket.connecting).toBe(true);
    await once(socket, "close");
    expect(socket.errored).toBe(null);
  });

  it("ST does not wait for a server that does not answer", async () => {
    keepSilentSockets();
    const wire = await Wire.to(Number(new URL(url).port));
    const store = await rateStore(`redis://127.0.0.1:${wire.port}`, { waitMs: 1 });
    wire.holdAnswers();
    await store.take(freshKey(), rule, now);
    expect([await settlesAtOnce(store.close()), wire.connections]).toEqual([true, 1]);
    await eventually(() => expect(wire.connections).toBe(0));
  });

  it.each(["a reset", "silence"])("ST ends when the answer of a call is lost, by %s", async (how) => {
    const wire = await Wire.to(Number(new URL(url).port));
    const store = await rateStore(`redis://127.0.0.1:${wire.port}`, waits);
    const timers = adapterTimers();
    wire.holdAnswers();
    const taken = store.take(freshKey(), rule, now);
    const closing = store.close();
    if (how === "a reset") wire.cut();
    else {
      expect(timers.end(60_000)).toBe(2);
      expect(await settlesAtOnce(closing)).toBe(true);
    }
    expect([await taken, await closing]).toEqual([0, undefined]);
    expect(timers.end(60_000)).toBe(0);
  });

  it.skipIf(ownRedis.isSkipped)(`ST gives up a server that is away${ownRedis.why}`, async () => {
    const own = await RedisServer.start();
    const store = await rateStore(own.url);
    await own.stop();
    let connections = 0;
    const listener = createServer((socket) => {
      connections++;
      socket.destroy();
    }).listen(own.port, "127.0.0.1");
    onTestFinished(() => void listener.close());
    await eventually(() => expect(connections).toBeGreaterThan(0));
    await store.close();
    // What it has connected before its end is accepted before this.
    await new Promise((resolve) => connect(own.port, "127.0.0.1").resume().once("close", resolve));
    const before = connections;
    // It would connect again within a tenth of a second, or two of them.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    expect(connections).toBe(before);
  });
});
