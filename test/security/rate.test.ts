/** Rate limits (facts 14; rows RL). The store that processes share is tested with Redis. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { App, Codec, Dep, Header, Openapi, Path, Rate, Returns, Test, body, client, get, post } from "usher-http";
import type { RateOptions, RateStore } from "usher-http";
import "../support/logs.ts";
import { mapSteps } from "../support/map-steps.ts";
import { internal } from "../support/refusals.ts";

const begin = Date.parse("2026-11-21T12:00:00.000Z");
const limited = '{"error":"rate_limited","message":"That was asked too often. Please try again in a moment."}';

/** A rate-limited route, and a client of it with a clock in milliseconds. */
function asking(options: RateOptions) {
  const rate = Rate.make(options);
  const route = get(
    Path.root,
    { inputs: { slowly: Rate.limit(rate, { key: client }) }, returns: Returns.text },
    ({ slowly }) => String(slowly),
  );
  const app = Test.app([route]);
  return async (ms = 0, peer = "192.0.2.1"): Promise<readonly [status: number, retryAfter: string | null]> => {
    const { status, headers } = await Test.call(app, "GET", "/", { now: new Date(begin + ms), peer });
    return [status, headers.get("retry-after")];
  };
}

async function statuses(ask: ReturnType<typeof asking>, times: number, ms = 0): Promise<readonly number[]> {
  const all: number[] = [];
  for (let i = 0; i < times; i++) all.push((await ask(ms))[0]);
  return all;
}

const ok = (times: number): readonly number[] => Array.from({ length: times }, () => 200);

describe("a rate limit: counting", () => {
  it("RL-01, RL-02, RL-03, RL-04 of ten a second counts by client", async () => {
    const ask = asking({ limit: 10, perMs: 1000 });
    expect(await statuses(ask, 10)).toEqual(ok(10));
    expect(await ask()).toEqual([429, "1"]);
    expect(await ask(0, "192.0.2.2")).toEqual([200, null]);
    expect(await ask(99)).toEqual([429, "1"]);
    expect(await ask(100)).toEqual([200, null]);
    expect(await ask(100)).toEqual([429, "1"]);
  });

  it("RL-05, RL-06 of two a second may allow a burst of five", async () => {
    const ask = asking({ limit: 2, perMs: 1000, burst: 5 });
    expect(await statuses(ask, 6)).toEqual([...ok(5), 429]);
    expect((await ask(400))[0]).toBe(429);
    expect((await ask(500))[0]).toBe(200);
    expect((await ask(500))[0]).toBe(429);
  });

  it("RL-07 sends Retry-After in whole seconds, rounded up", async () => {
    const ask = asking({ limit: 10, perMs: 60_000 });
    expect(await statuses(ask, 10)).toEqual(ok(10));
    expect(await ask()).toEqual([429, "6"]);
    expect(await ask(1)).toEqual([429, "6"]);
    expect(await ask(1000)).toEqual([429, "5"]);
    expect(await ask(5999)).toEqual([429, "1"]);
    expect(await ask(6000)).toEqual([200, null]);
  });

  it("RL with a fractional interval allows as many requests", async () => {
    const ask = asking({ limit: 3, perMs: 1000 });
    expect(await statuses(ask, 4)).toEqual([200, 200, 200, 429]);
    expect(await statuses(ask, 4, 1000)).toEqual([200, 200, 200, 429]);
  });

  it("RL reports a wrong option once", async () => {
    const rate = Rate.make({ limit: 1, perMs: 1000 });
    const key = Dep.return("everybody");
    const slowly = Rate.limit(rate, { key });
    const route = post(
      Path.root,
      { inputs: { slowly, again: slowly, body, name: Header.required("x-name", Codec.string) }, returns: Returns.text },
      () => "",
    );
    const app = Test.app([route]);
    expect((await Test.call(app, "POST", "/", { headers: { "x-name": "kim" } })).status).toBe(200);
    // A request that is refused here is reported before anything else is checked.
    expect(await Test.call(app, "POST", "/")).toMatchObject({ status: 429, body: limited });
  });
});

describe("a rate limit: its keys and declarations", () => {
  it("RL is shared by the routes that use it, and by no others", async () => {
    const rate = Rate.make({ limit: 1, perMs: 1000 });
    const route = (name: string, rate: Rate) =>
      get(Path.of(name), { inputs: { slowly: Rate.limit(rate, { key: client }) }, returns: Returns.text }, () => "");
    const app = Test.app([route("a", rate), route("b", rate), route("c", Rate.make({ limit: 1, perMs: 1000 }))]);
    const now = new Date(begin);
    const of = async (target: string) => (await Test.call(app, "GET", target, { now })).status;
    expect([await of("/a"), await of("/b"), await of("/c")]).toEqual([200, 429, 200]);
  });

  it("RL with a name has keys of its own in a shared store, also if its name is the start of another name", async () => {
    const store = Rate.memory();
    const key = Header.required("x-key", Codec.string);
    const asks = (name: string, chosen: string) => {
      const slowly = Rate.limit(Rate.make({ limit: 1, perMs: 1000, store, name }), { key });
      const app = Test.app([get(Path.root, { inputs: { slowly }, returns: Returns.text }, () => "")]);
      return Test.call(app, "GET", "/", { now: new Date(begin), headers: { "x-key": chosen } });
    };
    // A client that can choose its key is not counted for another rate limit.
    const answers = [await asks("a", "b x"), await asks("a%20b", "x"), await asks("a b", "x"), await asks("a b", "x")];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  });

  it("RL sends the refusal of its key function, and counts no request", async () => {
    const rate = Rate.make({ limit: 1, perMs: 1000 });
    const key = Header.required("x-key", Codec.string);
    const route = get(Path.root, { inputs: { slowly: Rate.limit(rate, { key }) }, returns: Returns.text }, () => "");
    expect((await Test.call(Test.app([route]), "GET", "/")).status).toBe(400);
  });

  it("RL declares its code in the API document", () => {
    const rate = Rate.make({ limit: 1, perMs: 1000 });
    const route = get(
      Path.root,
      { inputs: { slowly: Rate.limit(rate, { key: client }) }, returns: Returns.text },
      () => "",
    );
    const told = JSON.stringify(Openapi.document([route]));
    expect(told).toContain('"429":{"description":"rate_limited: The caller asked more often than the route allows;');
    expect(() => App.make([route])).not.toThrow();
  });

  it.each([
    [{ limit: 0, perMs: 1 }, "Rate.make: limit must be more than 0, not 0"],
    [{ limit: Number.POSITIVE_INFINITY, perMs: 1 }, "Rate.make: limit must be more than 0, not Infinity"],
    [{ limit: 1, perMs: 1, name: 5 } as never, "Rate.make: name is a number, and not a text"],
    [{ limit: 1, perMs: Number.NaN }, "Rate.make: perMs must be milliseconds, more than 0, not NaN"],
    [{ limit: 0.5, perMs: 1 }, "Rate.make: burst must be 1 or more, not 0.5"],
    [{ limit: 1, perMs: 1, burst: 0 }, "Rate.make: burst must be 1 or more, not 0"],
  ])("ST %j", (options, why) => {
    expect(() => Rate.make(options)).toThrow(why);
  });
});

/** The keys that a store counts for each of these clients. */
async function keysOf(clients: readonly string[], ipv6Prefix?: number): Promise<readonly string[]> {
  const keys: string[] = [];
  const store: RateStore = { take: (key) => (keys.push(key), 0) };
  const rate = Rate.make({ limit: 1, perMs: 1000, store });
  const slowly = Rate.limit(rate, { key: client, ...(ipv6Prefix === undefined ? {} : { ipv6Prefix }) });
  const app = Test.app([get(Path.root, { inputs: { slowly }, returns: Returns.empty() }, () => {})]);
  for (const peer of clients) expect((await Test.call(app, "GET", "/", { peer })).status).toBe(204);
  return keys;
}

describe("the address of a client as a key", () => {
  it.each([
    [
      "IPv4",
      "192.0.2.1",
      [
        "192.0.2.1",
        "192.0.2.1:8080",
        "[192.0.2.1]",
        "::ffff:192.0.2.1",
        "::FFFF:192.0.2.1",
        "::ffff:c000:201",
        "0:0:0:0:0:ffff:192.0.2.1",
        "[::ffff:192.0.2.1]:443",
        "::ffff:c000:0201%eth0",
      ],
    ],
    [
      "IPv4 of an IPv6 network that translates it (RFC 6052)",
      "192.0.2.1",
      ["64:ff9b::192.0.2.1", "64:FF9B:0:0:0:0:c000:201"],
    ],
    [
      "IPv6",
      "2001:db8:0:1::/64",
      [
        "2001:db8:0:1::1",
        "2001:DB8::1:0:0:0:1",
        "2001:0db8:0000:0001:0000:0000:0000:0001",
        "[2001:db8:0:1::1]",
        "[2001:db8:0:1::1]:443",
        "2001:db8:0:1::1%eth0",
        "[2001:db8:0:1::1%25en0]:1",
        "2001:db8:0:1:ffff:ffff:255.255.255.255",
      ],
    ],
    ["another network", "2001:db8:0:2::/64", ["2001:db8:0:2::1"]],
    ["the machine itself", "0:0:0:0::/64", ["::1", "0:0:0:0:0:0:0:1"]],
  ])("RL is the same in every spelling: %s", async (_, key, spellings) => {
    expect(await keysOf(spellings)).toEqual(spellings.map(() => key));
  });

  it("RL of IPv6 counts by its network of 64 bits: another address of it is the same client", async () => {
    const ask = asking({ limit: 5, perMs: 1000 });
    const statuses: number[] = [];
    for (let i = 1; i <= 50; i++) statuses.push((await ask(0, `2001:db8::${i.toString(16)}:${i}`))[0]);
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
  });
});

describe("the network of a client's address as a key", () => {
  it.each([
    [48, "2001:db8:ffff::/48"],
    [56, "2001:db8:ffff:ff00::/56"],
    [60, "2001:db8:ffff:fff0::/60"],
    [113, "2001:db8:ffff:ffff:ffff:ffff:ffff:8000/113"],
    [128, "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff/128"],
    [1, "0::/1"],
  ])("RL of IPv6 counts by the number of bits in the option: %d", async (bits, key) => {
    expect(await keysOf(["2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"], bits)).toEqual([key]);
    expect(await keysOf(["::ffff:192.0.2.1"], bits)).toEqual(["192.0.2.1"]);
  });

  it.each([
    "",
    "kim",
    "kim:secret",
    "unix:/run/proxy.sock",
    "1:2",
    "[",
    "[]",
    "[]:1",
    "::g",
    ":::",
    "1.2.3.4.5:6",
    "[1.2.3.4",
    `${"a:".repeat(1000)}:`,
  ])("RL leaves a key that is not an address unchanged: %j", async (key) => {
    const keys: string[] = [];
    const store: RateStore = { take: (key) => (keys.push(key), 0) };
    const slowly = Rate.limit(Rate.make({ limit: 1, perMs: 1000, store }), { key: Dep.return(key) });
    const app = Test.app([get(Path.root, { inputs: { slowly }, returns: Returns.empty() }, () => {})]);
    await Test.call(app, "GET", "/");
    expect(keys).toEqual([key]);
  });

  it.each([0, -1, 129, 63.5, Number.NaN])("ST %d bits are refused", (ipv6Prefix) => {
    const rate = Rate.make({ limit: 1, perMs: 1000 });
    expect(() => Rate.limit(rate, { key: client, ipv6Prefix })).toThrow(
      `Rate.limit: ipv6Prefix must be a whole number from 1 to 128, not ${ipv6Prefix}`,
    );
  });
});

const rule = { intervalMs: 1000, burst: 2 };

/** Return values of a store that a program in JavaScript may have. */
async function statusOf(take: () => unknown): Promise<number> {
  const rate = Rate.make({ limit: 1, perMs: 1000, store: { take: take as RateStore["take"] } });
  const slowly = Rate.limit(rate, { key: Dep.return("everybody") });
  const app = Test.app([get(Path.root, { inputs: { slowly }, returns: Returns.empty() }, () => {})]);
  return (await Test.call(app, "GET", "/")).status;
}

describe("a rate limit store of the application", () => {
  const thenable = (value: unknown) => ({
    then(resolve: (value: unknown) => void): void {
      resolve(value);
    },
  });

  it.each<[string, () => unknown, number]>([
    ["0", () => 0, 204],
    ["a number above 0", () => 1, 429],
    ["a promise", () => Promise.resolve(1), 429],
    // Its `then` returns undefined, which let every request pass.
    ["a thenable that is no promise", () => thenable(1), 429],
    ["such a thenable of 0", () => thenable(0), 204],
    ["nothing", () => undefined, 500],
    ["null", () => null, 500],
    ["NaN", () => Number.NaN, 500],
    ["a text", () => "0", 500],
    ["Infinity", () => Number.POSITIVE_INFINITY, 500],
    ["a promise of nothing", () => Promise.resolve(undefined), 500],
    ["a rejected promise", () => Promise.reject(new Error("the store is away")), 500],
  ])("RL is a 500 when it returns %s", async (_what, take, status) => {
    expect(await statusOf(take)).toBe(status);
  });
});

describe("the memory store of a rate limit: counting", () => {
  it("RL never allows more than a burst and the refill of the elapsed time", async () => {
    const request = fc.record({ after: fc.nat(3000), key: fc.constantFrom("a", "b") });
    const bounds = fc.record({ intervalMs: fc.integer({ min: 1, max: 2000 }), burst: fc.integer({ min: 1, max: 5 }) });
    fc.assert(
      fc.property(fc.array(request, { maxLength: 60 }), bounds, (requests, rule) => {
        const store = Rate.memory();
        const passed = new Map<string, number[]>();
        let now = begin;
        for (const { after, key } of requests) {
          now += after;
          const wait = store.take(key, rule, new Date(now));
          const times = passed.get(key) ?? [];
          passed.set(key, times);
          if (wait === 0) times.push(now);
          else {
            // A request just before the reported time does not pass: the time is not longer than necessary.
            expect(store.take(key, rule, new Date(now + Math.ceil(wait) - 1))).not.toBe(0);
          }
          for (const from of times) {
            const since = times.filter((time) => time >= from).length;
            expect(since).toBeLessThanOrEqual(rule.burst + (now - from) / rule.intervalMs + 1e-6);
          }
        }
      }),
    );
  });
});

describe("the memory store of a rate limit: eviction", () => {
  it("RL when it is full evicts the key that was counted longest ago", () => {
    const store = Rate.memory({ most: 2 });
    const take = (key: string) => store.take(key, { intervalMs: 1000, burst: 1 }, new Date(begin));
    expect([take("a"), take("b"), take("c")]).toEqual([0, 0, 0]);
    expect(take("b")).toBe(1000);
    expect(take("a")).toBe(0);
    const long = "x".repeat(128);
    expect([take(long), take("d")]).toEqual([0, 0]);
    expect(take(long)).toBe(0);
  });

  it.each([
    ["is full of live keys", 1000, 1000],
    ["has room", 4100, 1000],
  ])("RL takes the same number of steps for a new key at any size, when it %s", async (_, most, held) => {
    const times = 3000;
    const stepsOf = async (held: number, most: number) => {
      const store = Rate.memory({ most });
      const take = (key: string, ms: number) => store.take(key, { intervalMs: 1e9, burst: 1 }, new Date(begin + ms));
      // One more than it holds: the first eviction puts the callers in their order.
      for (let i = 0; i <= held; i++) take(`held ${i}`, i);
      return mapSteps(() => {
        for (let i = 0; i < times; i++) take(`new ${i}`, held + 1 + i);
      });
    };
    const [one, twice] = [await stepsOf(held, most), await stepsOf(2 * held, 2 * most)];
    // A fresh iterator of a Map first walks the entries that were deleted before the oldest.
    expect(one.walks).toBe(0);
    expect(one.lookUps).toBeLessThanOrEqual(9 * times);
    expect(twice).toEqual(one);
  });

  it("RL removes expired keys before it is full of them", () => {
    const store = Rate.memory({ most: 2500 });
    const take = (key: string, ms: number, intervalMs: number) =>
      store.take(key, { intervalMs, burst: 1 }, new Date(begin + ms));
    // The key that waits longest is the oldest, and all others expire after it.
    take("long", 0, 1e6);
    for (let i = 0; i < 20_000; i++) take(`short ${i}`, 10 * i, 1);
    expect(take("long", 200_000, 1e6)).toBe(800_000);
  });

  it("RL removes expired keys from time to time", () => {
    const store = Rate.memory();
    const take = (key: string, ms: number) => store.take(key, { intervalMs: 1, burst: 1 }, new Date(begin + ms));
    for (let i = 0; i < 999; i++) take(`key ${i}`, 0);
    take("one more", 10);
    expect(JSON.stringify(store)).toBe("{}");
    expect(take("key 0", 10)).toBe(0);
  });

  it("RL does not make requests wait when its clock is set back", () => {
    const store = Rate.memory();
    for (const _ of [1, 2]) store.take("a", rule, new Date(begin + 3_600_000));
    expect(store.take("a", rule, new Date(begin))).toBe(1000);
    const later = [400, 1000, 1000].map((ms) => store.take("a", rule, new Date(begin + ms)));
    expect(later).toEqual([600, 0, 1000]);
    const other = Rate.memory();
    other.take("b", rule, new Date(begin + 3_600_000));
    expect(other.take("b", rule, new Date(begin))).toBeLessThanOrEqual(1000);
  });

  it.each([0, 1.5, Number.NaN])("ST a size of %d is refused", (most) => {
    expect(() => Rate.memory({ most })).toThrow(`Rate.memory: most must be a whole number, 1 or more, not ${most}`);
  });
});

describe("a rate limit store: of the application", () => {
  it("RL may answer asynchronously, and fail", async () => {
    const later: RateStore = { take: async (key) => (key === "192.0.2.1" ? 0 : 1500) };
    const ask = asking({ limit: 1, perMs: 1, store: later });
    expect(await ask()).toEqual([200, null]);
    expect(await ask(0, "192.0.2.2")).toEqual([429, "2"]);
    const failing: RateStore = {
      take: async () => {
        throw new Error("away");
      },
    };
    const route = get(
      Path.root,
      {
        inputs: { a: Rate.limit(Rate.make({ limit: 1, perMs: 1, store: failing }), { key: client }) },
        returns: Returns.text,
      },
      () => "",
    );
    expect((await Test.call(Test.app([route]), "GET", "/")).body).toBe(internal);
  });
});
