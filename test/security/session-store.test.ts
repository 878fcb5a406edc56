/** The stores of sign-in sessions (contract 5.9; facts 10.4; rows SE). */
import { beforeEach, describe, expect, it } from "vitest";
import { App, Dep, Path, Returns, Sessions, Test, get, post, setCookie } from "usher-http";
import type { SessionStore, SetCookie } from "usher-http";
import { logged } from "../support/logs.ts";
import { mapSteps } from "../support/map-steps.ts";
import { internal, invalid } from "../support/refusals.ts";
import { Watched, begin, Who, Client } from "./session-client.ts";

let client = new Client();
beforeEach(() => {
  client = new Client();
});

describe("a session store: of the application", () => {
  it("SE is written at most once in a tenth of the idle time", async () => {
    client = new Client(new Watched(), { idleMs: 100_000, absoluteMs: 86_400_000 });
    await client.call("POST", "/start/kim");
    for (const seconds of [1, 5, 10, 10.001, 11, 20, 20.002]) await client.call("GET", "/me", seconds);
    expect(client.store.told.filter((told) => told.startsWith("seen"))).toHaveLength(2);
  });

  it("SE-10 has expired sessions swept, and returns their number", async () => {
    client = new Client(new Watched(), { idleMs: 100_000, absoluteMs: 86_400_000 });
    for (const [name, seconds] of [
      ["kim", 0],
      ["ann", 0],
      ["bob", 950],
    ] as const) {
      client.cookie = undefined;
      await client.call("POST", `/start/${name}`, seconds);
    }
    expect(await client.sessions.sweep(new Date(begin + 1_000_000))).toBe(2);
    expect(await client.sessions.sweep(new Date(begin + 1_000_000))).toBe(0);
    expect(await client.call("GET", "/me", 1000)).toBe("bob");
  });

  it("SE that fails is a 500 without details", async () => {
    class Failing extends Watched {
      override async find(): Promise<never> {
        throw new Error("password rejected");
      }
    }
    client = new Client(new Failing());
    await client.call("POST", "/start/kim");
    expect(await client.call("GET", "/me")).toBe(internal);
    expect(logged().join()).not.toContain("password");
  });
});

describe("a session store: of one process", () => {
  it("SE evicts the session that was idle longest, when it is full", async () => {
    const store = Sessions.memory({ most: 3 });
    const entry = {
      data: "{}",
      createdAt: new Date(begin),
      seenAt: new Date(begin),
      expiresAt: new Date(begin + 1000),
    };
    for (const digest of ["a", "b", "c"]) await store.save(digest, entry, "started");
    await store.save("a", entry, "seen");
    await store.save("d", entry, "started");
    const found = await Promise.all(["a", "b", "c", "d"].map((digest) => store.find(digest)));
    expect(found.map((entry) => entry !== undefined)).toEqual([true, false, true, true]);
  });

  it("SE takes the same number of steps for a new session at any size", async () => {
    const stepsOf = async (most: number) => {
      const store = Sessions.memory({ most });
      const seenAt = new Date(begin);
      const entry = { data: "{}", createdAt: seenAt, seenAt, expiresAt: new Date(begin + 1e9) };
      // One more than it holds: the first eviction puts the callers in their order.
      for (let i = 0; i <= most; i++) await store.save(`held ${i}`, entry, "started");
      return mapSteps(async () => {
        for (let i = 0; i < 3000; i++) await store.save(`new ${i}`, entry, "started");
      });
    };
    const [one, twice] = [await stepsOf(1000), await stepsOf(2000)];
    expect(one.walks).toBe(0);
    expect(twice).toEqual(one);
  });

  it("SE sweeps itself from time to time", async () => {
    const store = Sessions.memory();
    const at = (ms: number) => ({
      data: "{}",
      createdAt: new Date(ms),
      seenAt: new Date(ms),
      expiresAt: new Date(ms + 1),
    });
    for (let i = 0; i < 999; i++) await store.save(`old ${i}`, at(i), "started");
    await store.save("new", at(10_000), "started");
    expect(await store.sweep(new Date(10_000))).toBe(0);
    expect(await store.find("old 0")).toBeUndefined();
  });

  it.each([0, -1, 1.5, Number.NaN])("ST a size of %d is refused", (most) => {
    expect(() => Sessions.memory({ most })).toThrow(
      `Sessions.memory: most must be a whole number, 1 or more, not ${most}`,
    );
  });
});

describe("options that make no session", () => {
  const store = Sessions.memory();
  it.each([
    [{ idleMs: 0, absoluteMs: 1 }, "Sessions.make: idleMs must be milliseconds, more than 0, not 0"],
    [{ idleMs: 1, absoluteMs: Number.NaN }, "Sessions.make: absoluteMs must be milliseconds, more than 0, not NaN"],
    [
      { idleMs: 1, absoluteMs: 1e300 },
      "Sessions.make: absoluteMs must be milliseconds, more than 0, not 1e+300: 8000000000000000 at most",
    ],
    [{ idleMs: 1, absoluteMs: 1, cookie: "a b" }, 'Sessions.make: "a b" is not a cookie name'],
  ])("ST %j", (limits, why) => {
    expect(() => Sessions.make({ store, shape: Who, ...limits })).toThrow(why);
  });

  it("SE may have another cookie name", async () => {
    const sessions = Sessions.make({ store, shape: Who, idleMs: 1000, absoluteMs: 1000, cookie: "clerk" });
    const route = get(Path.root, { inputs: { session: sessions.required }, returns: Returns.empty() }, () => {});
    const { body } = await Test.call(Test.app([route]), "GET", "/");
    expect(body).toBe(invalid(["cookie.clerk", "required", "This is required."]));
    const set: SetCookie[] = [];
    await sessions.start((cookie) => set.push(cookie), { name: "kim" });
    expect(set[0]).toMatchObject({ name: "clerk", httpOnly: true, sameSite: "lax", maxAgeMs: 1000 });
  });
});

describe("a session store that is a resource", () => {
  const kept = Dep.ofResource<SessionStore>("sessions");
  const sessions = Sessions.make({ store: kept, shape: Who, idleMs: 60_000, absoluteMs: 60_000 });
  const start = post(Path.root, { inputs: { setCookie }, returns: Returns.empty() }, async ({ setCookie }) => {
    await sessions.start(setCookie, { name: "kim" });
  });
  const me = get(
    Path.root,
    { inputs: { session: sessions.required, setCookie }, returns: Returns.text },
    async ({ session, setCookie }) => {
      await session.update({ name: "ann" });
      return (await session.renew(setCookie)).data.name;
    },
  );

  it("SE belongs to each app", async () => {
    const [one, other] = [new Watched(), new Watched()];
    const browser = Test.browser(Test.app([start, me], { resources: [Dep.resource(kept, one)] }));
    await browser.call("POST", "/");
    expect((await browser.call("GET", "/")).body).toBe("ann");
    expect((await browser.call("GET", "/")).body).toBe("ann");
    expect(one.entries.size).toBe(3);
    const headers = { cookie: `session=${browser.cookies().get("session")}` };
    const elsewhere = Test.app([start, me], { resources: [Dep.resource(kept, other)] });
    expect((await Test.call(elsewhere, "GET", "/", { headers })).status).toBe(400);
  });

  it("ST is reported as missing before the server listens, and outside of a request", async () => {
    expect(() => App.make([me])).toThrow("GET / reads the resource sessions, which the option resources lacks");
    const { find, sweep } = sessions as unknown as Sessions<unknown>;
    expect(() => find.call(sessions, "AAAAAAAAAAAAAAAAAAAAAA", new Date())).toThrow("use their input withStore");
    expect(() => sweep.call(sessions, new Date())).toThrow("use their input withStore");
    await expect(sessions.start(() => {}, { name: "kim" })).rejects.toThrow("is not a resource of this request's app");
  });
});
