/** API keys: which keys are accepted, what a store holds of them, and their scopes. */
import fc from "fast-check";
import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { ApiKeys, Deadline, Dep, Meta, Openapi, Path, Returns, Test, get, post, refuse } from "usher-http";
import type { ApiKey, ApiKeyStore, Inputs } from "usher-http";
import { Jwt } from "usher-http/jwt";
import { operation } from "../openapi/described.ts";
import { eventually } from "../support/eventually.ts";
import { gate } from "../support/gate.ts";
import { logWith, logged, messages } from "../support/logs.ts";
import { digestOf } from "../../src/security/session-store.ts";

const keysOf = (store = ApiKeys.memory()) => ApiKeys.make({ prefix: "shop_live", store });
const signedOut = '{"error":"signed_out","message":"Please sign in."}';
const wrong = [401, 'Bearer error="invalid_token"', signedOut];

function asking(caller: Dep<unknown, string, unknown>, header = "authorization") {
  const app = Test.app([
    get(Path.root, { inputs: { caller }, returns: Returns.text }, ({ caller }) => JSON.stringify(caller ?? null)),
  ]);
  return async (value: string | undefined, now = new Date()) => {
    const headers = value === undefined ? {} : { [header]: value };
    const answer = await Test.call(app, "GET", "/", { headers, now });
    return [answer.status, answer.headers.get("www-authenticate"), answer.body] as const;
  };
}

describe("an API key", () => {
  it("has its prefix, 190 random bits, and a checksum that GitHub's secret scanning could verify", async () => {
    const keys = keysOf();
    const made = await Promise.all(Array.from({ length: 50 }, () => ApiKeys.create(keys, { owner: "ada" })));
    for (const { key } of made) expect(key).toMatch(/^shop_live_[0-9A-Za-z]{38}$/);
    expect(new Set(made.map(({ key }) => key)).size).toBe(50);
  });

  it("is stored only as its digest", async () => {
    const store = ApiKeys.memory();
    const { key, entry } = await ApiKeys.create(keysOf(store), { owner: "ada", name: "CI", scopes: ["read"] });
    const found = await store.find(await digestOf(key));
    expect(found).toEqual({ ...entry, digest: await digestOf(key) });
    expect(JSON.stringify([found, entry])).not.toContain(key.slice(10));
    expect(JSON.stringify(entry)).not.toContain(await digestOf(key));
  });

  it("gives its owner and scopes to the handler", async () => {
    const keys = keysOf();
    const { key, entry } = await ApiKeys.create(keys, { owner: "ada", scopes: ["read", "write"] });
    const [status, , body] = await asking(ApiKeys.input(keys))(`Bearer ${key}`);
    expect([status, JSON.parse(body)]).toEqual([200, JSON.parse(JSON.stringify(entry))]);
  });

  it("may be read from a header of its own", async () => {
    const keys = keysOf();
    const { key } = await ApiKeys.create(keys, { owner: "ada" });
    const ask = asking(ApiKeys.input(keys, { header: "X-API-Key" }), "x-api-key");
    expect((await ask(key))[0]).toBe(200);
    expect(await ask(undefined)).toEqual([401, 'ApiKey header="x-api-key"', signedOut]);
    expect(await ask("x")).toEqual([401, 'ApiKey header="x-api-key"', signedOut]);
    expect((await asking(ApiKeys.input(keys, { header: "X-API-Key" }))(`Bearer ${key}`))[0]).toBe(401);
  });

  it("needs the scopes of the route", async () => {
    const keys = keysOf();
    const caller = ApiKeys.input(keys).scope("write", "read");
    const [all, one, more] = await Promise.all(
      [["read", "write"], ["read"], ["reads", "write"]].map((scopes) => ApiKeys.create(keys, { owner: "ada", scopes })),
    );
    expect((await asking(caller)(`Bearer ${all?.key}`))[0]).toBe(200);
    const challenge = 'Bearer error="insufficient_scope", scope="write read"';
    for (const made of [one, more]) {
      expect((await asking(caller)(`Bearer ${made?.key}`)).slice(0, 2)).toEqual([403, challenge]);
    }
    expect(messages("warn").at(0)).toBe("GET /: not_allowed: the key has no scope write");
  });
});

describe("a request without a valid API key", () => {
  const keys = keysOf();
  const { input } = ApiKeys;

  it.each([
    ["no header", undefined, [401, "Bearer", signedOut], 200],
    ["another scheme", "Basic YTpi", [401, "Bearer", signedOut], 200],
    ["the scheme alone", "Bearer", wrong, 401],
    ["another text", "Bearer x", wrong, 401],
    ["another prefix", "Bearer shop_test_0123456789ABCDEFGHIJKLMNOPQRSTUVabcdef", wrong, 401],
  ])("is refused: %s", async (_what, value, answer, optional) => {
    expect(await asking(input(keys))(value)).toEqual(answer);
    expect((await asking(input(keys).optional)(value))[0]).toBe(optional);
  });

  it("does not query the store when the checksum is wrong", async () => {
    let finds = 0;
    const memory = ApiKeys.memory();
    const keys = keysOf({ ...bound(memory), find: (digest) => (finds++, memory.find(digest)) });
    const { key } = await ApiKeys.create(keys, { owner: "ada" });
    const ask = asking(input(keys));
    await fc.assert(
      fc.asyncProperty(fc.nat(key.length - 1), fc.constantFrom(..."0aZ_-"), async (at, letter) => {
        const other = key.slice(0, at) + letter + key.slice(at + 1);
        if (other !== key) expect((await ask(`Bearer ${other}`))[0]).toBe(401);
      }),
    );
    for (const other of [key.slice(1), key.slice(0, -1), `${key}0`, key.toLowerCase(), `${key}${"x".repeat(4000)}`]) {
      expect((await ask(`Bearer ${other}`))[0]).toBe(401);
    }
    expect(finds).toBe(0);
    expect((await ask(`Bearer ${key}`))[0]).toBe(200);
    expect(finds).toBe(1);
  });

  it("has no text of the key in the log or the answer", async () => {
    logWith({ levels: { default: "debug" } });
    const { key, entry } = await ApiKeys.create(keys, { owner: "ada" });
    await ApiKeys.revoke(keys, entry.id);
    const answer = await asking(input(keys))(`Bearer ${key}`);
    expect(answer).toEqual(wrong);
    expect(logged().join("\n")).toContain("it has expired, or was revoked");
    expect(logged().join("\n")).not.toContain(key.slice(10));
  });
});

/** The methods of a store as members, so that a test can replace some. */
function bound(store: ApiKeyStore): ApiKeyStore {
  return {
    add: (entry) => store.add(entry),
    find: (digest) => store.find(digest),
    get: (id) => store.get(id),
    list: (owner) => store.list(owner),
    expire: (id, at) => store.expire(id, at),
    used: (id, at) => store.used(id, at),
    sweep: (before) => store.sweep(before),
  };
}

describe("the life of an API key", () => {
  const later = (ms: number): Date => new Date(Date.now() + ms);
  const minute = 60_000;

  it("ends when it expires", async () => {
    const keys = keysOf();
    const expiresAt = later(minute);
    const { key } = await ApiKeys.create(keys, { owner: "ada", expiresAt });
    const ask = asking(ApiKeys.input(keys));
    expect((await ask(`Bearer ${key}`, new Date(expiresAt.getTime() - 1)))[0]).toBe(200);
    expect(await ask(`Bearer ${key}`, expiresAt)).toEqual(wrong);
  });

  it("can be rotated: the old and the new key are both valid for a time", async () => {
    const keys = keysOf();
    const { key, entry } = await ApiKeys.create(keys, { owner: "ada", name: "CI", scopes: ["read"] });
    const newer = await ApiKeys.rotate(keys, entry.id, { overlapMs: minute });
    expect(newer?.entry).toMatchObject({ owner: "ada", name: "CI", scopes: ["read"], expiresAt: undefined });
    const ask = asking(ApiKeys.input(keys).scope("read"));
    const statuses = async (ms: number) =>
      [await ask(`Bearer ${key}`, later(ms)), await ask(`Bearer ${newer?.key}`, later(ms))].map(([status]) => status);
    expect(await statuses(0)).toEqual([200, 200]);
    expect(await statuses(minute + 1)).toEqual([401, 200]);
    const listed = (await ApiKeys.list(keys, "ada")).map(({ id }) => id);
    expect(new Set(listed)).toEqual(new Set([entry.id, newer?.entry.id]));
  });

  it("stays revoked", async () => {
    const keys = keysOf();
    const { key, entry } = await ApiKeys.create(keys, { owner: "ada" });
    expect(await ApiKeys.revoke(keys, entry.id)).toBe(true);
    expect(await ApiKeys.revoke(keys, "another")).toBe(false);
    for (const id of [entry.id, "another"])
      expect(await ApiKeys.rotate(keys, id, { overlapMs: minute })).toBeUndefined();
    await keys.store.expire(entry.id, later(minute));
    expect((await asking(ApiKeys.input(keys))(`Bearer ${key}`))[0]).toBe(401);
    expect(await keys.store.sweep(later(0))).toBe(1);
    expect(await ApiKeys.list(keys, "ada")).toEqual([]);
  });

  it("is swept if it has expired by then, and no other key is", async () => {
    const keys = keysOf(ApiKeys.memory({ most: 3 }));
    const { entry: lasting } = await ApiKeys.create(keys, { owner: "ada" });
    const { entry: longer } = await ApiKeys.create(keys, { owner: "ada", expiresAt: later(2 * minute) });
    const { key, entry } = await ApiKeys.create(keys, { owner: "ada", expiresAt: later(minute) });
    const found = async () => [await keys.store.get(entry.id), await keys.store.find(await digestOf(key))];
    expect(await found()).toMatchObject([{ id: entry.id }, { id: entry.id }]);
    expect(await keys.store.sweep(later(minute))).toBe(1);
    expect(await found()).toEqual([undefined, undefined]);
    const left = (await ApiKeys.list(keys, "ada")).map(({ id }) => id);
    expect(new Set(left)).toEqual(new Set([lasting.id, longer.id]));
  });

  it("has its last use stored once in usedEveryMs, and a failure of that is only a log line", async () => {
    const memory = ApiKeys.memory();
    const stored: Date[] = [];
    let fails = true;
    const used: ApiKeyStore["used"] = async (id, at) => {
      if (fails) throw new Error("the table is locked");
      stored.push(at);
      await memory.used(id, at);
    };
    const keys = keysOf({ ...bound(memory), used });
    const { key, entry } = await ApiKeys.create(keys, { owner: "ada" });
    const ask = asking(ApiKeys.input(keys));
    const start = later(0);
    const at = (ms: number): Date => new Date(start.getTime() + ms);
    expect((await ask(`Bearer ${key}`, at(0)))[0]).toBe(200);
    expect(messages("warn")).toEqual(["the last use of an API key could not be stored"]);
    fails = false;
    for (const ms of [1, 2, minute, minute + 1, 2 * minute + 1])
      expect((await ask(`Bearer ${key}`, at(ms)))[0]).toBe(200);
    expect(stored).toEqual([at(1), at(minute + 1), at(2 * minute + 1)]);
    expect((await memory.get(entry.id))?.usedAt).toEqual(at(2 * minute + 1));
  });
});

it("an API key whose last use is stored late does not delay the answer", async () => {
  const memory = ApiKeys.memory();
  const answers = gate();
  const find: ApiKeyStore["find"] = async (digest) => {
    await answers.passed;
    return memory.find(digest);
  };
  const keys = keysOf({ ...bound(memory), find });
  const { key, entry } = await ApiKeys.create(keys, { owner: "ada" });
  const inputs = { caller: ApiKeys.input(keys) };
  const meta = Meta.empty.add(Meta.deadline, Deadline.make(1));
  const app = Test.app([get(Path.root, { meta, inputs, returns: Returns.text }, () => "")], { maxAfter: 1 });
  const asked = await Test.call(app, "GET", "/", { headers: { authorization: `Bearer ${key}` } });
  expect(asked.status).toBe(503);
  answers.open();
  // A task that does not run keeps its place of `maxAfter`, and no later request would store the use.
  await eventually(async () => expect((await memory.get(entry.id))?.usedAt).toBeInstanceOf(Date));
});

it("an API key has a valid prefix and length, or is an error", async () => {
  const keys = keysOf(ApiKeys.memory({ most: 1 }));
  await ApiKeys.create(keys, { owner: "ada" });
  await expect(ApiKeys.create(keys, { owner: "ada" })).rejects.toThrow("ApiKeys.memory: there are 1 keys");
});

it("is described in the API document as http bearer, or as a header", () => {
  const keys = keysOf();
  const routes = [
    get(Path.of("a"), { inputs: { caller: ApiKeys.input(keys).scope("read") }, returns: Returns.text }, () => ""),
    get(
      Path.of("b"),
      { inputs: { caller: ApiKeys.input(keys, { header: "x-api-key" }) }, returns: Returns.text },
      () => "",
    ),
  ];
  expect(Openapi.document(routes, { title: "Shop", version: "1" })).toMatchObject({
    components: {
      securitySchemes: {
        bearerKey: { type: "http", scheme: "bearer" },
        apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
      },
    },
    paths: {
      "/a": { get: { security: [{ bearerKey: ["read"] }], responses: { 401: {}, 403: {} } } },
      "/b": { get: { security: [{ apiKey: [] }] } },
    },
  });
});

it("is described with the scopes that the route needs, each once", () => {
  const securityBy = (inputs: Inputs) =>
    operation(get(Path.root, { inputs, returns: Returns.text }, () => "")).security;
  const caller = ApiKeys.input(keysOf());
  const byHeader = ApiKeys.input(keysOf(), { header: "x-api-key" });
  expect(securityBy({ caller })).toEqual([{ bearerKey: [] }]);
  expect(securityBy({ caller: caller.optional })).toEqual([{ bearerKey: [] }, {}]);
  expect(securityBy({ caller: caller.scope("read", "write") })).toEqual([{ bearerKey: ["read", "write"] }]);
  expect(securityBy({ reads: caller.scope("read"), writes: caller.scope("write", "read") })).toEqual([
    { bearerKey: ["read", "write"] },
  ]);
  expect(securityBy({ caller: byHeader.scope("read") })).toEqual([{ apiKey: ["read"] }]);
});

it("has a security scheme of its own for each header", () => {
  const keys = keysOf();
  const byHeader = (header: string) =>
    get(
      Path.of(`of-${header.charCodeAt(1)}${header}`),
      { inputs: { caller: ApiKeys.input(keys, { header }) }, returns: Returns.text },
      () => "",
    );
  const headers = ["x-api-key", "X-Partner-Key", "x_key", "x!key"];
  const securitySchemes = {
    apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
    "apiKey-x-partner-key": { type: "apiKey", in: "header", name: "x-partner-key" },
    "apiKey-x_key": { type: "apiKey", in: "header", name: "x_key" },
    "apiKey-x_21key": { type: "apiKey", in: "header", name: "x!key" },
  };
  for (const order of [headers, headers.toReversed()]) {
    const { components, paths } = Openapi.document(order.map(byHeader), { title: "Shop", version: "1" });
    expect(components?.securitySchemes).toEqual(securitySchemes);
    expect(paths).toMatchObject({ "/of-45X-Partner-Key": { get: { security: [{ "apiKey-x-partner-key": [] }] } } });
  }
});

describe("API keys next to JWTs", () => {
  const secret = "a secret of thirty-two bytes, 1!";
  const user = Jwt.bearer({
    issuer: "https://a.example/",
    audience: "a",
    keys: Jwt.secrets([secret]),
    algorithms: ["HS256"],
  });
  const keys = keysOf();
  const either = (header: "authorization" | "x-api-key") =>
    get(
      Path.of(header),
      {
        inputs: { user: user.optional, caller: ApiKeys.input(keys, { header }).optional },
        returns: Returns.text,
        refuses: [ApiKeys.signedOut],
      },
      ({ user, caller }) =>
        user === undefined && caller === undefined ? refuse(ApiKeys.signedOut, "Please sign in.") : "in",
    );

  it("have a security scheme each, and either is enough", () => {
    const routes = [either("authorization"), either("x-api-key")];
    expect(Openapi.document(routes, { title: "Shop", version: "1" })).toMatchObject({
      components: {
        securitySchemes: {
          bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
          bearerKey: { type: "http", scheme: "bearer" },
          apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
        },
      },
      paths: {
        "/authorization": { get: { security: [{ bearer: [] }, { bearerKey: [] }, {}] } },
        "/x-api-key": { get: { security: [{ bearer: [] }, { apiKey: [] }, {}] } },
      },
    });
  });

  it("may use a header each, and either is enough", async () => {
    const app = Test.app([either("x-api-key")]);
    const { key } = await ApiKeys.create(keys, { owner: "ada" });
    const at = Math.floor(Date.now() / 1000);
    const claims = { iss: "https://a.example/", aud: "a", sub: "ada", iat: at, exp: at + 60 };
    const jwt = await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode(secret));
    const ask = async (headers: { readonly [name: string]: string }) =>
      (await Test.call(app, "GET", "/x-api-key", { headers })).status;
    expect(await ask({})).toBe(401);
    expect(await ask({ "x-api-key": key })).toBe(200);
    expect(await ask({ authorization: `Bearer ${jwt}` })).toBe(200);
    expect(await ask({ authorization: `Bearer ${key}` })).toBe(401);
  });
});

describe("API keys as a resource", () => {
  const keys = Dep.ofResource<ApiKeys>("keys");
  const caller = ApiKeys.input(keys);
  const whose = get(Path.root, { inputs: { caller }, returns: Returns.text }, ({ caller }) => caller.owner);
  const appOf = (made: ApiKeys) => Test.app([whose], { resources: [Dep.resource(keys, made)] });
  const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

  it("are looked up in the store of the app that answers, and in no other one", async () => {
    const [ours, theirs] = [keysOf(), keysOf()];
    const { key } = await ApiKeys.create(ours, { owner: "ada" });
    const [app, other] = [appOf(ours), appOf(theirs)];
    const both = () => Promise.all([app, other].map((app) => Test.call(app, "GET", "/", bearer(key))));
    expect((await both()).map(({ status, body }) => [status, body])).toEqual([
      [200, "ada"],
      [401, signedOut],
    ]);
    expect((await ApiKeys.list(ours, "ada"))[0]?.usedAt).toBeInstanceOf(Date);
    await ApiKeys.revoke(ours, (await ApiKeys.list(ours, "ada"))[0]?.id ?? "");
    expect((await both()).map(({ status }) => status)).toEqual([401, 401]);
  });

  it("are made by a handler, which lists the resource", async () => {
    const make = post(Path.root, { inputs: { keys }, returns: Returns.text }, async ({ keys }) => {
      return (await ApiKeys.create(keys, { owner: "eve" })).key;
    });
    const app = Test.app([whose, make], { resources: [Dep.resource(keys, keysOf())] });
    const { body } = await Test.call(app, "POST", "/");
    expect((await Test.call(app, "GET", "/", bearer(body))).body).toBe("eve");
  });

  it("have the same scheme in the API document, and must be supplied", () => {
    const about = { title: "Shop", version: "1" };
    const route = (caller: Dep<ApiKey, string, unknown>) =>
      get(Path.root, { inputs: { caller }, returns: Returns.text }, ({ caller }) => caller.owner);
    expect(Openapi.document([whose], about)).toEqual(Openapi.document([route(ApiKeys.input(keysOf()))], about));
    expect(() => Test.app([whose])).toThrow(/keys/);
  });
});
