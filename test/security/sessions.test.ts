/** Sign-in sessions (contract 5.9; facts 10.4; rows SE). SE-13 is with the database. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Openapi } from "usher-http";
import type { SessionEntry } from "usher-http";
import { logWith, logged, messages } from "../support/logs.ts";
import { internal, invalid } from "../support/refusals.ts";
import { Watched, begin, Client } from "./session-client.ts";

let client = new Client();
beforeEach(() => {
  client = new Client();
});

describe("a session: its start", () => {
  it("SE-01 has an id of 128 random bits, of which the store gets only the digest", async () => {
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

  it("SE works with a cookie that is not an id, and the store is not queried", async () => {
    for (const cookie of ["x", "a".repeat(23), "b".repeat(21)]) {
      client.cookie = cookie;
      expect(await client.call("POST", "/start/kim")).toBe("kim");
    }
    expect(client.store.told.map((call) => call.split(" ")[0])).toEqual(["started", "started", "started"]);
  });

  it("SE-01 has a new id each time, whatever cookie the request has", async () => {
    client.cookie = "AAAAAAAAAAAAAAAAAAAAAA";
    const ids = new Set<string | undefined>();
    for (let i = 0; i < 50; i++) {
      await client.call("POST", "/start/kim");
      ids.add(client.cookie);
    }
    expect(ids.size).toBe(50);
    expect(ids.has("AAAAAAAAAAAAAAAAAAAAAA")).toBe(false);
  });

  it("SE ends the session that the browser had, and no other", async () => {
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

  it("SE fails if the browser's old session cannot be ended", async () => {
    await client.call("POST", "/start/kim");
    client.store.inner.delete = () => Promise.reject(new Error("away"));
    const { cookie } = client;
    expect(await client.call("POST", "/start/ann")).toBe(internal);
    expect(client.cookie).toBe(cookie);
  });
});

describe("a session: reading and renewing", () => {
  it("SE-03 is read by its cookie, once per request and before the handler", async () => {
    await client.call("POST", "/start/kim");
    expect(await client.call("GET", "/me")).toBe("kim");
    expect(await client.call("GET", "/mine")).toBe("kim");
    expect(client.store.told.slice(1)).toEqual([`find ${client.digest}`, `find ${client.digest}`]);
  });

  it("SE-04 keeps its id and its start time when its data is updated", async () => {
    await client.call("POST", "/start/kim");
    const { cookie } = client;
    expect(await client.call("POST", "/rename/ann", 10)).toBe("ann");
    expect(client.cookie).toBe(cookie);
    expect(await client.call("GET", "/me", 10)).toBe("ann");
    const entry = client.store.entries.get(client.digest);
    expect([entry?.createdAt, entry?.seenAt]).toEqual([new Date(begin), new Date(begin + 10_000)]);
  });

  it("SE gets a new id when it is renewed, with both limits from the start", async () => {
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

describe("a session: of a long request, such as a stream or a WebSocket", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
  afterEach(() => void vi.useRealTimers());

  it.each(["update", "renew"] as const)("SE counts as used when it is changed: %s", async (change) => {
    client = new Client(new Watched(), { idleMs: 100_000, absoluteMs: 86_400_000 });
    await client.call("POST", "/start/kim");
    const session = await client.sessions.find(client.cookie, new Date(begin));
    expect(await client.call("GET", "/me", 90)).toBe("kim");
    vi.advanceTimersByTime(150_000);
    if (change === "update") await session?.update({ name: "ann" });
    else await session?.renew(({ value }) => (client.cookie = value));
    expect(await client.call("GET", "/me", 180)).toBe(change === "update" ? "ann" : "kim");
    expect(await client.call("GET", "/me", 281)).toBe("nobody");
  });
});

describe("a session: of a request that read it before another request changed it", () => {
  const found = () => client.sessions.find(client.cookie, new Date(begin));

  it("SE changes the data that is stored now", async () => {
    await client.call("POST", "/start/kim");
    const session = await found();
    await client.call("POST", "/rename/ann");
    await session?.update(({ name }) => ({ name: `${name}a` }));
    expect([session?.data, (await found())?.data]).toEqual([{ name: "anna" }, { name: "anna" }]);
  });

  it("SE writes nothing when the data is unchanged", async () => {
    await client.call("POST", "/start/kim");
    const session = await found();
    await client.call("POST", "/rename/ann");
    const { length } = client.store.told;
    await session?.update((data) => data);
    expect(session?.data).toEqual({ name: "ann" });
    expect(client.store.told.slice(length).map((call) => call.split(" ")[0])).not.toContain("updated");
  });
});

describe("a session: sign-out", () => {
  it("SE-06 closes it, and a copy of its cookie is not valid", async () => {
    await client.call("POST", "/start/kim");
    const copy = client.cookie;
    await client.call("POST", "/close");
    expect(client.line).toBe("session=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
    client.cookie = copy;
    expect(await client.call("GET", "/me")).toBe("nobody");
  });

  it("SE is not undone by a request that still had the session", async () => {
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

  it("SE a request that only reads the session does not overwrite data of another request", async () => {
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

describe("a request without a valid session", () => {
  it.each([undefined, "AAAAAAAAAAAAAAAAAAAAAA", "", "x", "A".repeat(23), "AAAAAAAAAAAAAAAAAAAA==", "%00"])(
    "SE-07 has the id %j",
    async (id) => {
      client.cookie = id;
      expect(await client.call("GET", "/me")).toBe("nobody");
      expect(await client.call("GET", "/mine")).toBe(invalid(["cookie.session", "required", "This is required."]));
    },
  );

  it("SE-07 with a malformed id does not query the store", async () => {
    client.cookie = "AAAAAAAAAAAAAAAAAAAA==";
    await client.call("GET", "/me");
    expect(client.store.told).toEqual([]);
  });

  it("SE-09 has a session that was idle for too long, and it is deleted", async () => {
    client = new Client(new Watched(), { idleMs: 100_000, absoluteMs: 86_400_000 });
    await client.call("POST", "/start/kim");
    expect(await client.call("GET", "/me", 99)).toBe("kim");
    expect(await client.call("GET", "/me", 198)).toBe("kim");
    expect(await client.call("GET", "/me", 299)).toBe("nobody");
    expect(client.store.told.at(-1)).toBe(`delete ${client.digest}`);
  });

  it("SE-09 has a session that reached its maximum age, however often it was used", async () => {
    client = new Client(new Watched(), { idleMs: 100_000, absoluteMs: 250_000 });
    await client.call("POST", "/start/kim");
    for (const seconds of [90, 180, 249]) expect(await client.call("GET", "/me", seconds)).toBe("kim");
    expect(await client.call("GET", "/me", 250)).toBe("nobody");
  });

  it("SE has a session whose data an older release wrote in another shape", async () => {
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

it("SE-12 the API document has the scheme of sessions, and the routes that need it", () => {
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
