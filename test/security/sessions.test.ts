/** Sign-in sessions (contract 5.9; facts 10.4; rows SE). SE-13 is with the database. */
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { App, Dep, Openapi, Path, Returns, Sessions, Test, get, param, post, setCookie } from "usher-http";
import type { SessionEntry, SessionStore, SetCookie } from "usher-http";
import * as v from "valibot";
import { logWith, logged, messages } from "../support/logs.ts";
import { mapSteps } from "../support/map-steps.ts";
import { internal, invalid } from "../support/refusals.ts";

/** A store that shows what it is told. */
class Watched implements SessionStore {
  readonly inner = Sessions.memory();
  readonly entries = new Map<string, SessionEntry>();
  readonly told: string[] = [];

  async find(digest: string): Promise<SessionEntry | undefined> {
    this.told.push(`find ${digest}`);
    return this.inner.find(digest);
  }
  async save(...[digest, entry, change]: Parameters<SessionStore["save"]>): Promise<void> {
    this.told.push(`${change} ${digest}`);
    this.entries.set(digest, entry);
    await this.inner.save(digest, entry, change);
  }
  async replace(digest: string, next: string, entry: SessionEntry): Promise<boolean> {
    this.told.push(`replace ${digest}`);
    this.entries.set(next, entry);
    return this.inner.replace(digest, next, entry);
  }
  async delete(digest: string): Promise<void> {
    this.told.push(`delete ${digest}`);
    await this.inner.delete(digest);
  }
  sweep(now: Date): Promise<number> {
    return this.inner.sweep(now);
  }
}

const begin = Date.parse("2026-11-21T12:00:00.000Z");
const name = Path.str("name");
const Who = v.object({ name: v.string(), visits: v.optional(v.number()) });

/** A server with sessions, one client of it with its cookie, and its clock in seconds. */
class Client {
  readonly store: Watched;
  readonly sessions: Sessions<v.InferOutput<typeof Who>>;
  readonly app: Test.TestApp;
  cookie: string | undefined = undefined;
  line = "";

  constructor(store = new Watched(), limits = { idleMs: 3_600_000, absoluteMs: 86_400_000 }) {
    this.store = store;
    const sessions = Sessions.create({ store, shape: Who, ...limits });
    this.sessions = sessions;
    this.app = Test.app([
      post(
        Path.of("start", name),
        { inputs: { name: param(name), setCookie }, returns: Returns.text },
        async ({ name, setCookie }) => (await sessions.start(setCookie, { name })).data.name,
      ),
      get(
        Path.of("me"),
        { inputs: { session: sessions.optional, again: sessions.optional }, returns: Returns.text },
        ({ session, again }) => (session === again ? (session?.data.name ?? "nobody") : "another"),
      ),
      get(
        Path.of("mine"),
        { inputs: { session: sessions.required }, returns: Returns.text },
        ({ session }) => session.data.name,
      ),
      post(
        Path.of("rename", name),
        { inputs: { name: param(name), session: sessions.required }, returns: Returns.text },
        async ({ name, session }) => {
          await session.update({ name });
          return session.data.name;
        },
      ),
      post(
        Path.of("renew"),
        { inputs: { session: sessions.required, setCookie }, returns: Returns.text },
        async ({ session, setCookie }) => (await session.renew(setCookie)).data.name,
      ),
      post(
        Path.of("close"),
        { inputs: { session: sessions.required, setCookie }, returns: Returns.empty() },
        ({ session, setCookie }) => session.close(setCookie),
      ),
    ]);
  }

  async call(method: string, target: string, seconds = 0): Promise<string> {
    const headers = this.cookie === undefined ? {} : { cookie: `session=${this.cookie}` };
    const now = new Date(begin + seconds * 1000);
    const answered = await Test.call(this.app, method, target, { headers, now });
    const [line] = answered.headers.getSetCookie();
    if (line !== undefined) {
      this.line = line;
      this.cookie = /^session=([^;]*)/.exec(line)?.[1];
    }
    return answered.body;
  }

  get digest(): string {
    return createHash("sha256")
      .update(this.cookie ?? "")
      .digest("hex");
  }
}

let client = new Client();
beforeEach(() => {
  client = new Client();
});

describe("a session: starting", () => {
  it("SE-01 starts with an id of 128 random bits, which the store knows by its digest alone", async () => {
    expect(await client.call("POST", "/start/kim")).toBe("kim");
    expect(client.line).toMatch(/^session=[A-Za-z0-9_-]{22}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=86400$/);
    expect(Buffer.from(client.cookie ?? "", "base64url")).toHaveLength(16);
    expect([...client.store.entries]).toEqual([
      [
        client.digest,
        {
          data: '{"name":"kim"}',
          createdAt: new Date(begin),
          seenAt: new Date(begin),
          expiresAt: new Date(begin + 3_600_000),
        },
      ],
    ]);
    expect(client.store.told.length).toBeGreaterThan(0);
    expect(client.store.told.join()).not.toContain(client.cookie);
  });

  it("SE starts beside a cookie that is no id, of which the store is told nothing", async () => {
    for (const cookie of ["x", "a".repeat(23), "b".repeat(21)]) {
      client.cookie = cookie;
      expect(await client.call("POST", "/start/kim")).toBe("kim");
    }
    expect(client.store.told.map((call) => call.split(" ")[0])).toEqual(["started", "started", "started"]);
  });

  it("SE-01 each with an id of its own, whatever the request came with", async () => {
    client.cookie = "AAAAAAAAAAAAAAAAAAAAAA";
    const ids = new Set<string | undefined>();
    for (let i = 0; i < 50; i++) {
      await client.call("POST", "/start/kim");
      ids.add(client.cookie);
    }
    expect(ids.size).toBe(50);
    expect(ids.has("AAAAAAAAAAAAAAAAAAAAAA")).toBe(false);
  });

  it("SE ends, where it starts, the one that the browser came with, and no other", async () => {
    await client.call("POST", "/start/kim");
    const first = client.cookie;
    client.cookie = undefined;
    await client.call("POST", "/start/bob");
    const second = client.cookie;
    await client.call("POST", "/start/ann");
    const third = client.cookie;
    const found = [];
    for (const cookie of [first, second, third]) {
      client.cookie = cookie;
      found.push(await client.call("GET", "/me"));
    }
    expect(found).toEqual(["kim", "nobody", "ann"]);
  });

  it("SE that could not end the one that the browser came with does not start", async () => {
    await client.call("POST", "/start/kim");
    client.store.inner.delete = () => Promise.reject(new Error("away"));
    const { cookie } = client;
    expect(await client.call("POST", "/start/ann")).toBe(internal);
    expect(client.cookie).toBe(cookie);
  });
});

describe("a session: found and renewed", () => {
  it("SE-03 is found by its cookie, once a request and before the handler", async () => {
    await client.call("POST", "/start/kim");
    expect(await client.call("GET", "/me")).toBe("kim");
    expect(await client.call("GET", "/mine")).toBe("kim");
    expect(client.store.told.slice(1)).toEqual([`find ${client.digest}`, `find ${client.digest}`]);
  });

  it("SE-04 is updated under the same id, and keeps when it was started", async () => {
    await client.call("POST", "/start/kim");
    const { cookie } = client;
    expect(await client.call("POST", "/rename/ann", 10)).toBe("ann");
    expect(client.cookie).toBe(cookie);
    expect(await client.call("GET", "/me", 10)).toBe("ann");
    const entry = client.store.entries.get(client.digest);
    expect([entry?.createdAt, entry?.seenAt]).toEqual([new Date(begin), new Date(begin + 10_000)]);
  });

  it("SE is renewed under another id, with both limits from the start", async () => {
    await client.call("POST", "/start/kim");
    const { cookie, digest } = client;
    expect(await client.call("POST", "/renew", 100)).toBe("kim");
    expect(client.cookie).not.toBe(cookie);
    expect(await client.call("GET", "/me", 100)).toBe("kim");
    expect(client.store.entries.get(client.digest)).toMatchObject({
      createdAt: new Date(begin + 100_000),
      expiresAt: new Date(begin + 3_700_000),
    });
    expect(client.store.told).toContain(`replace ${digest}`);
    client.cookie = cookie;
    expect(await client.call("GET", "/me", 100)).toBe("nobody");
  });
});

describe("a session: closed", () => {
  it("SE-06 is closed, and a copy of its cookie is nobody's", async () => {
    await client.call("POST", "/start/kim");
    const copy = client.cookie;
    await client.call("POST", "/close");
    expect(client.line).toBe("session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
    client.cookie = copy;
    expect(await client.call("GET", "/me")).toBe("nobody");
  });

  it("SE that was closed is not brought back by a request that still had it", async () => {
    await client.call("POST", "/start/kim");
    const { digest } = client;
    const now = new Date(begin);
    const [one, other] = [
      await client.sessions.find(client.cookie, now),
      await client.sessions.find(client.cookie, now),
    ];
    await one?.close(() => {});
    await other?.update({ name: "ann" });
    expect(await client.store.inner.find(digest)).toBeUndefined();
    await expect(one?.update({ name: "ann" })).rejects.toThrow("a session that was closed cannot be updated");
    const entry = client.store.entries.get(digest) as SessionEntry;
    await client.store.inner.save(digest, entry, "seen");
    expect(await client.store.inner.find(digest)).toBeUndefined();
  });

  it("SE that was seen writes back no data that another request has changed", async () => {
    await client.call("POST", "/start/kim");
    const old = client.store.entries.get(client.digest) as SessionEntry;
    await client.call("POST", "/rename/ann");
    await client.store.inner.save(client.digest, { ...old, seenAt: new Date(begin + 1000) }, "seen");
    expect(await client.store.inner.find(client.digest)).toMatchObject({
      data: '{"name":"ann"}',
      seenAt: new Date(begin + 1000),
    });
  });
});

describe("nobody's", () => {
  it.each([undefined, "AAAAAAAAAAAAAAAAAAAAAA", "", "x", "A".repeat(23), "AAAAAAAAAAAAAAAAAAAA==", "%00"])(
    "SE-07 is the id %j",
    async (id) => {
      client.cookie = id;
      expect(await client.call("GET", "/me")).toBe("nobody");
      expect(await client.call("GET", "/mine")).toBe(invalid(["cookie.session", "required", "This is required."]));
    },
  );

  it("SE-07 what can be no id is not looked for", async () => {
    client.cookie = "AAAAAAAAAAAAAAAAAAAA==";
    await client.call("GET", "/me");
    expect(client.store.told).toEqual([]);
  });

  it("SE-09 is one that was left alone for too long, and it is deleted", async () => {
    client = new Client(new Watched(), { idleMs: 100_000, absoluteMs: 86_400_000 });
    await client.call("POST", "/start/kim");
    expect(await client.call("GET", "/me", 99)).toBe("kim");
    expect(await client.call("GET", "/me", 198)).toBe("kim");
    expect(await client.call("GET", "/me", 299)).toBe("nobody");
    expect(client.store.told.at(-1)).toBe(`delete ${client.digest}`);
  });

  it("SE-09 is one that lasted as long as any may, however much it was used", async () => {
    client = new Client(new Watched(), { idleMs: 100_000, absoluteMs: 250_000 });
    await client.call("POST", "/start/kim");
    for (const seconds of [90, 180, 249]) expect(await client.call("GET", "/me", seconds)).toBe("kim");
    expect(await client.call("GET", "/me", 250)).toBe("nobody");
  });

  it("SE is one whose data an older release wrote in another shape", async () => {
    logWith({ level: "debug" });
    await client.call("POST", "/start/kim");
    const entry = client.store.entries.get(client.digest) as SessionEntry;
    await client.store.inner.save(client.digest, { ...entry, data: '{"nickname":"secret"}' }, "updated");
    expect(await client.call("GET", "/me")).toBe("nobody");
    expect(client.store.told.at(-1)).toBe(`delete ${client.digest}`);
    expect(messages("debug")).toEqual(["a session's data is in no shape to be read, and the session is ended"]);
    expect(logged().join()).not.toMatch(/secret|nickname/);
  });
});

describe("the store: of the application", () => {
  it("SE is written at most once in a tenth of how long a session may be left alone", async () => {
    client = new Client(new Watched(), { idleMs: 100_000, absoluteMs: 86_400_000 });
    await client.call("POST", "/start/kim");
    for (const seconds of [1, 5, 10, 10.001, 11, 20, 20.002]) await client.call("GET", "/me", seconds);
    expect(client.store.told.filter((told) => told.startsWith("seen"))).toHaveLength(2);
  });

  it("SE-10 is swept of what has expired, which is counted", async () => {
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

  it("SE that fails is a 500, and nobody is told why", async () => {
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

describe("the store: of one process", () => {
  it("SE of one process gives up the one that was left alone for longest, where it is full", async () => {
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

  it("SE of one process takes as many steps for a new one however many it holds", async () => {
    const stepsOf = async (most: number) => {
      const store = Sessions.memory({ most });
      const seenAt = new Date(begin);
      const entry = { data: "{}", createdAt: seenAt, seenAt, expiresAt: new Date(begin + 1e9) };
      for (let i = 0; i < most; i++) await store.save(`held ${i}`, entry, "started");
      return mapSteps(async () => {
        for (let i = 0; i < 3000; i++) await store.save(`new ${i}`, entry, "started");
      });
    };
    const [one, twice] = [await stepsOf(1000), await stepsOf(2000)];
    expect(one.walks).toBe(0);
    expect(twice).toEqual(one);
  });

  it("SE of one process sweeps itself now and then", async () => {
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

  it.each([0, -1, 1.5, Number.NaN])("ST of one process does not hold %d", (most) => {
    expect(() => Sessions.memory({ most })).toThrow(
      `Sessions.memory: most must be a whole number, 1 or more, not ${most}`,
    );
  });
});

describe("what makes none", () => {
  const store = Sessions.memory();
  it.each([
    [{ idleMs: 0, absoluteMs: 1 }, "Sessions.create: idleMs must be milliseconds, more than 0, not 0"],
    [{ idleMs: 1, absoluteMs: Number.NaN }, "Sessions.create: absoluteMs must be milliseconds, more than 0, not NaN"],
    [
      { idleMs: 1, absoluteMs: 1e300 },
      "Sessions.create: absoluteMs must be milliseconds, more than 0, not 1e+300: 8000000000000000 at most",
    ],
    [{ idleMs: 1, absoluteMs: 1, cookie: "a b" }, 'Cookie.named: "a b" is not a cookie name'],
  ])("ST %j", (limits, why) => {
    expect(() => Sessions.create({ store, shape: Who, ...limits })).toThrow(why);
  });

  it("SE is under another name where it is given one", async () => {
    const sessions = Sessions.create({ store, shape: Who, idleMs: 1000, absoluteMs: 1000, cookie: "clerk" });
    const route = get(Path.root, { inputs: { session: sessions.required }, returns: Returns.empty() }, () => {});
    const { body } = await Test.call(Test.app([route]), "GET", "/");
    expect(body).toBe(invalid(["cookie.clerk", "required", "This is required."]));
    const set: SetCookie[] = [];
    await sessions.start((cookie) => set.push(cookie), { name: "kim" });
    expect(set[0]).toMatchObject({ name: "clerk", httpOnly: true, sameSite: "lax", maxAgeMs: 1000 });
  });
});

describe("a store that is a resource", () => {
  const kept = Dep.ofResource<SessionStore>("sessions");
  const sessions = Sessions.create({ store: kept, shape: Who, idleMs: 60_000, absoluteMs: 60_000 });
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

  it("SE is each app's own", async () => {
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

  it("ST is missed before it listens, and outside of a request", async () => {
    expect(() => App.make([me])).toThrow("GET / reads the resource sessions, which is not supplied");
    expect(() => sessions.find("AAAAAAAAAAAAAAAAAAAAAA", new Date())).toThrow(
      "is a resource, which only a request has",
    );
    expect(() => sessions.sweep(new Date())).toThrow("is a resource, which only a request has");
    await expect(sessions.start(() => {}, { name: "kim" })).rejects.toThrow("is not a resource of this request's app");
  });
});

it("SE-12 the API document has its scheme, and which routes need it", () => {
  const { app, sessions } = client;
  const document = JSON.parse(JSON.stringify(Openapi.document(app.app.routes))) as {
    readonly paths: {
      readonly [path: string]: { readonly get?: { readonly security?: unknown; readonly parameters?: unknown } };
    };
    readonly components: { readonly securitySchemes: unknown };
  };
  expect(document.components.securitySchemes).toEqual({
    session: {
      type: "apiKey",
      in: "cookie",
      name: "session",
      description: "A session the server keeps, by the id its cookie holds.",
    },
  });
  expect(document.paths["/me"]?.get).toMatchObject({ security: [{ session: [] }, {}] });
  expect(document.paths["/mine"]?.get).toMatchObject({ security: [{ session: [] }] });
  expect(document.paths["/me"]?.get?.parameters).toBeUndefined();
  expect(sessions.required).not.toBe(sessions.optional);
});
