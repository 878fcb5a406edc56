/**
 * A store is given in one way: itself, as a resource, or by another input. Each function that takes a store takes all three, with each
 * store that there is.
 */
import { once } from "node:events";
import * as v from "valibot";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  ApiKeys,
  App,
  Codec,
  Dep,
  Event,
  Header,
  Idempotency,
  Openapi,
  Path,
  Rate,
  Refusal,
  Returns,
  Sessions,
  Test,
  Webhook,
  clientGone,
  get,
  param,
  post,
  refuse,
  setCookie,
} from "usher-http";
import type { ApiKeyStore, AppOptions, Route } from "usher-http";
import { serve } from "usher-http/node";
import { ApiKeyTable, IdempotencyTable, SessionTable } from "usher-http/postgres";
import { idempotencyStore, rateStore } from "usher-http/redis";
import { gate } from "../support/gate.ts";
import "../support/logs.ts";
import { observer, startPostgres } from "../support/postgres/database.ts";
import { RedisServer, ownRedis, redis, redisUrl } from "../support/redis.ts";
import { pools } from "./postgres/pools.ts";

const postgres = await startPostgres();
const outside = observer(postgres);
const pool = pools(postgres);
let made = 0;
/** A table or a prefix that no other store has. */
const fresh = (): string => `stores_${process.pid}_${++made}`;

let url: string;
beforeAll(async () => {
  if (redis.isSkipped) return;
  url = ownRedis.isSkipped && redisUrl !== undefined ? redisUrl : (await RedisServer.start()).url;
});

async function table<A>(
  schema: (o: { table: string }) => string,
  open: (o: { table: string }) => Promise<A>,
): Promise<A> {
  const options = { table: fresh() };
  await outside.unsafe(schema(options));
  return open(options);
}

async function inRedis<A extends { close(): Promise<void> }>(
  open: (url: string, options: { prefix: string; waitMs: number }) => Promise<A>,
): Promise<A> {
  const store = await open(url, { prefix: `${fresh()}:`, waitMs: 60_000 });
  onTestFinished(() => store.close());
  return store;
}

type Fields = Readonly<Record<string, string>>;
interface Answered {
  readonly status: number;
  readonly body: string;
  readonly headers: Headers;
}
/** Sends one request, to an app without a socket or to a server. */
type Ask = (method: "GET" | "POST", path: string, headers?: Fields) => Promise<Answered>;

/** What takes a store, in routes that leave something in it and look for that. */
interface Taker {
  readonly stores: Readonly<Record<string, () => Promise<object>>>;
  readonly routes: (from: never) => readonly Route[];
  /** Leaves something in the store. Returns the answer, and the fields by which it is found. */
  readonly leave: (ask: Ask, more: Fields) => Promise<readonly [Answered, Fields]>;
  /** Whether an answer to these fields shows that it is there. */
  readonly isFound: (answered: Answered) => boolean;
  /** The error for what is no store. */
  readonly wrong: string;
}

const everybody = Dep.return("everybody");
const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const json = { "content-type": "application/json" };

const routeOf = (used: Dep<unknown, string, unknown>): Route =>
  post(Path.root, { inputs: { used }, returns: Returns.text }, () => "done");

const rateStores = { memory: async () => Rate.memory(), redis: () => inRedis(rateStore) };

const takers: Readonly<Record<string, Taker>> = {
  "Rate.make": {
    stores: rateStores,
    routes: (store) => [routeOf(Rate.limit(Rate.make({ limit: 1, perMs: 3_600_000, store }), { key: everybody }))],
    leave: async (ask, more) => [await ask("POST", "/", more), {}],
    isFound: ({ status }) => status === 429,
    wrong: "Rate.make: store is another object, and not a store with take",
  },
  "Webhook.verify": {
    stores: rateStores,
    routes: (seen) => [routeOf(Webhook.verify(v.object({}), { scheme: "standard", secrets: [secret], seen }))],
    leave: async (ask, more) => {
      const signed = { ...json, ...(await Webhook.sign("{}", { scheme: "standard", secrets: [secret] })) };
      return [await ask("POST", "/", { ...signed, ...more }), signed];
    },
    isFound: ({ status }) => status === 403,
    wrong: "Webhook.verify: seen is another object, and not a store with take",
  },
  "Idempotency.by": {
    stores: {
      memory: async () => Idempotency.memory(),
      redis: () => inRedis(idempotencyStore),
      postgres: () => table(IdempotencyTable.schema, async (o) => IdempotencyTable.store(await pool(), o)),
    },
    routes: (store) => [routeOf(Idempotency.by(store, { caller: everybody }))],
    leave: async (ask, more) => {
      const key = { "idempotency-key": Idempotency.key() };
      return [await ask("POST", "/", { ...key, ...more }), key];
    },
    isFound: ({ headers }) => headers.get("idempotent-replayed") === "true",
    wrong: "Idempotency.by: its store is another object, and not a store with claim, keep, extend and free",
  },
  "ApiKeys.make": {
    stores: {
      memory: async () => ApiKeys.memory(),
      postgres: () => table(ApiKeyTable.schema, async (o) => ApiKeyTable.store(await pool(), o)),
    },
    routes: (store) => {
      const keys = ApiKeys.make({ prefix: "shop", store });
      const create = post(
        Path.of("keys"),
        { inputs: { keys: ApiKeys.withStore(keys) }, returns: Returns.text },
        async ({ keys }) => (await ApiKeys.create(keys, { owner: "ada" })).key,
      );
      return [routeOf(ApiKeys.input(keys)), create];
    },
    leave: async (ask, more) => {
      const answered = await ask("POST", "/keys", more);
      return [answered, { authorization: `Bearer ${answered.body}` }];
    },
    isFound: ({ status }) => status === 200,
    wrong: "ApiKeys.make: store is another object, and not a store of API keys",
  },
  "Sessions.make": {
    stores: {
      memory: async () => Sessions.memory(),
      postgres: () => table(SessionTable.schema, async (o) => SessionTable.store(await pool(), o)),
    },
    routes: (store) => {
      const shape = v.object({ name: v.string() });
      const sessions = Sessions.make({ store, shape, idleMs: 3_600_000, absoluteMs: 3_600_000 });
      const start = post(
        Path.of("start"),
        { inputs: { sessions: sessions.withStore, setCookie }, returns: Returns.empty() },
        async ({ sessions, setCookie }) => {
          await sessions.start(setCookie, { name: "ada" });
        },
      );
      return [routeOf(sessions.required), start];
    },
    leave: async (ask, more) => {
      const answered = await ask("POST", "/start", more);
      return [answered, { cookie: answered.headers.get("set-cookie")?.split(";")[0] ?? "" }];
    },
    isFound: ({ status }) => status === 200,
    wrong: "Sessions.make: store is another object, and not a store of sessions",
  },
};

/** Another object that behaves as a store does. */
function over<Store extends object>(store: Store, call = (method: () => unknown): unknown => method): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      // A proxy has no private members, so its methods are called on the store.
      return typeof member === "function" ? call(member.bind(target) as () => unknown) : member;
    },
  });
}

const Said = Event.text("said");

function askApp(routes: readonly Route[], options: AppOptions = {}): Ask {
  const app = Test.app(routes, options);
  return (method, path, headers = {}) => Test.call(app, method, path, { body: "{}", headers });
}

const wholes = Object.entries(takers).flatMap(([name, taker]) =>
  Object.entries(taker.stores).map(([kind, open]) => ({ name, kind, taker, open })),
);
const stored = Dep.ofResource<object>("stored");
const noTenant = Refusal.code("no_tenant", { status: 422, doc: "It names no tenant." });
const tenantOf = (stores: Readonly<Record<string, object>>): Dep<object, "no_tenant", unknown> =>
  Dep.join(
    { tenant: Header.optional("x-tenant", Codec.string) },
    ({ tenant = "" }) => stores[tenant] ?? refuse(noTenant),
    { refuses: [noTenant] },
  );

describe.each(wholes)("the store of $name, $kind", ({ kind, taker, open }) => {
  const { routes, leave, isFound } = taker;
  const isSkipped = kind === "redis" && redis.isSkipped;
  const found = async (ask: Ask, fields: Fields) => isFound(await ask("POST", "/", fields));

  it.skipIf(isSkipped)("is given itself: the apps of one store share it, and those of another do not", async () => {
    const [one, other] = [await open(), await open()];
    const [first, second, third] = [one, one, other].map((store) => askApp(routes(store as never)));
    const [{ status }, fields] = await leave(first as Ask, {});
    expect(status).toBeLessThan(300);
    expect(await found(first as Ask, fields)).toBe(true);
    expect(await found(second as Ask, fields)).toBe(true);
    expect(await found(third as Ask, fields)).toBe(false);
  });

  it.skipIf(isSkipped)("is a resource: each app has the one that it is supplied with", async () => {
    const [one, other] = [await open(), await open()];
    const shared = routes(stored as never);
    const [first, second, third] = [one, one, other].map((store) =>
      askApp(shared, { resources: [Dep.resource(stored, store)] }),
    );
    const [{ status }, fields] = await leave(first as Ask, {});
    expect(status).toBeLessThan(300);
    expect(await found(first as Ask, fields)).toBe(true);
    expect(await found(second as Ask, fields)).toBe(true);
    expect(await found(third as Ask, fields)).toBe(false);
  });

  it.skipIf(isSkipped)("comes by an input: each request has its own, or the refusal of the input", async () => {
    const stores = { a: await open(), b: await open() };
    const ask = askApp(routes(tenantOf(stores) as never));
    const [{ status }, fields] = await leave(ask, { "x-tenant": "a" });
    expect(status).toBeLessThan(300);
    expect(await found(ask, { ...fields, "x-tenant": "a" })).toBe(true);
    expect(await found(ask, { ...fields, "x-tenant": "b" })).toBe(false);
    for (const path of routes(tenantOf(stores) as never).map(({ path }) => path)) {
      const refused = await ask("POST", `/${path.segments.join("/")}`, { ...fields, ...json });
      expect([refused.status, refused.body.slice(0, 20)]).toEqual([422, '{"error":"no_tenant"']);
    }
  });

  it.skipIf(isSkipped)("is that of a server which is stopped and started again", async () => {
    const store = await open();
    const onServer = async <A>(use: (ask: Ask) => Promise<A>): Promise<A> => {
      const resources = [Dep.resource(stored, store)];
      const server = await serve(routes(stored as never), { port: 0, host: "127.0.0.1", resources });
      const ask: Ask = async (method, path, headers = {}) => {
        const answered = await fetch(`http://127.0.0.1:${server.port}${path}`, {
          method,
          body: "{}",
          headers: { ...headers, connection: "close" },
        });
        return { status: answered.status, headers: answered.headers, body: await answered.text() };
      };
      try {
        return await use(ask);
      } finally {
        await server.stop();
      }
    };
    const fields = await onServer(async (ask) => (await leave(ask, {}))[1]);
    expect(await onServer((ask) => found(ask, fields))).toBe(true);
  });
});

describe.each(Object.entries(takers))("%s", (name, { stores, routes, leave, isFound, wrong }) => {
  const sourcesOf = (store: object): Readonly<Record<string, readonly [object, AppOptions]>> => ({
    "a store": [store, {}],
    "a resource": [stored, { resources: [Dep.resource(stored, store)] }],
    "an input": [Dep.map(everybody, () => store), {}],
  });

  it.each(["a store", "a resource", "an input"])("does not let a request pass where %s rejects", async (source) => {
    const memory = await stores["memory"]?.();
    let isAway = false;
    const store = over(memory as object, (method) =>
      isAway ? () => Promise.reject(new Error("the store is away")) : method,
    );
    const [given, options] = sourcesOf(store)[source] as readonly [object, AppOptions];
    const raised: unknown[] = [];
    const ask = askApp(routes(given as never), { ...options, onError: (error) => raised.push(error) });
    const [, fields] = await leave(ask, {});
    isAway = true;
    const answers = [await ask("POST", "/", fields), (await leave(ask, {}))[0]];
    expect(answers.map(({ status }) => status)).toEqual([500, 500]);
    expect(raised.map(String)).toEqual(["Error: the store is away", "Error: the store is away"]);
    isAway = false;
    expect(isFound(await ask("POST", "/", fields))).toBe(true);
  });

  it("names a resource that is missing, at start", () => {
    expect(() => App.make(routes(stored as never))).toThrow(
      /^App\.make: POST \/.* reads? the resource stored, which the option resources lacks: add Dep\.resource\(…, value\)$/,
    );
  });

  it("takes a store that has a member node", async () => {
    const memory = over((await stores["memory"]?.()) as object);
    const store = new Proxy(memory, { get: (target, name) => (name === "node" ? {} : Reflect.get(target, name)) });
    const ask = askApp(routes(store as never));
    const [, fields] = await leave(ask, {});
    expect(isFound(await ask("POST", "/", fields))).toBe(true);
  });

  it("refuses what is no store at once", () => {
    expect(() => routes({} as never)).toThrow(`${wrong}, a resource, or another input that gives one`);
    expect(() => routes(Promise.resolve(Rate.memory()) as never)).toThrow("is a promise, and not");
  });

  it.each(["a resource", "an input"])("answers 500 where %s gives what is no store", async (source) => {
    const [given, options] = sourcesOf({})[source] as readonly [object, AppOptions];
    const raised: unknown[] = [];
    const made = (): Ask => askApp(routes(given as never), { ...options, onError: (error) => raised.push(error) });
    // The plan of a route that reads a body is made with its app.
    if (name === "Webhook.verify" && source === "a resource") {
      expect(made).toThrow(wrong);
      return;
    }
    expect((await leave(made(), {}))[0].status).toBe(500);
    expect(raised.map(String)).toEqual([`TypeError: ${wrong}`]);
  });

  it("shows in the API document what an input of its store reads and refuses with", () => {
    const { paths } = Openapi.document(routes(tenantOf({}) as never));
    for (const path of Object.values(paths ?? {})) {
      expect(JSON.stringify(path)).toContain('"x-tenant"');
      expect(JSON.stringify(path)).toContain("no_tenant");
    }
    expect(Object.keys(paths ?? {})).toHaveLength(routes(tenantOf({}) as never).length);
  });

  it("reads the input of its store once for a request", async () => {
    const memory = await stores["memory"]?.();
    let reads = 0;
    const input = Dep.map(everybody, () => (reads++, memory as object));
    const ask = askApp(routes(input as never));
    await leave(ask, {});
    expect(reads).toBe(1);
  });
});

describe("without a store of its own", () => {
  it.each(["Rate.make", "Webhook.verify"])(
    "%s counts in a memory of each app, which its routes share",
    async (name) => {
      const { routes, leave, isFound } = takers[name] as Taker;
      const [route] = routes(undefined as never) as [Route];
      const [one, other] = [askApp([route]), askApp([route])];
      const [, fields] = await leave(one, {});
      expect(isFound(await one("POST", "/", fields))).toBe(true);
      expect(isFound(await other("POST", "/", fields))).toBe(false);
    },
  );

  it("two routes of one app share a rate", async () => {
    const rate = Rate.make({ limit: 1, perMs: 3_600_000 });
    const at = (segment: string): Route =>
      post(
        Path.of(segment),
        { inputs: { slowly: Rate.limit(rate, { key: everybody }) }, returns: Returns.empty() },
        () => {},
      );
    const ask = askApp([at("a"), at("b")]);
    expect([(await ask("POST", "/a")).status, (await ask("POST", "/b")).status]).toEqual([204, 429]);
  });

  it("a rate that is chosen in a request counts in its app, too", async () => {
    const slowly = Rate.limit(Rate.make({ limit: 1, perMs: 3_600_000 }), { key: everybody });
    const route = routeOf(Dep.bind(everybody, () => slowly));
    const ask = askApp([route]);
    expect([(await ask("POST", "/")).status, (await ask("POST", "/")).status]).toEqual([200, 429]);
    expect((await askApp([route])("POST", "/")).status).toBe(200);
  });
});

describe("the keys of a store that an input makes for each request", () => {
  it("end at once what is open by them, and a key of another store ends nothing", async () => {
    const kept: Readonly<Record<string, ApiKeyStore>> = { a: ApiKeys.memory(), b: ApiKeys.memory() };
    const tenant = Header.required("x-tenant", Codec.string);
    const store = Dep.map(tenant, (tenant) => over(kept[tenant] as ApiKeyStore));
    const keys = ApiKeys.make({ prefix: "shop", store, recheckMs: 3_600_000 });
    const id = Path.str("id");
    const stored = ApiKeys.withStore(keys);
    const revoke = post(
      Path.of("revoke", id),
      { inputs: { keys: stored, id: param(id) }, returns: Returns.text },
      async ({ keys, id }) => String(await ApiKeys.revoke(keys, id)),
    );
    const follow = get(
      Path.of("follow"),
      { inputs: { key: ApiKeys.input(keys), clientGone }, returns: Returns.events([Said]) },
      ({ key, clientGone }) =>
        async (send) => {
          await send(Event.make(Said, key.owner));
          await once(clientGone, "abort");
        },
    );
    const app = Test.app([revoke, follow]);
    const { key, entry } = await ApiKeys.create(ApiKeys.make({ prefix: "shop", store: kept["a"] as ApiKeyStore }), {
      owner: "ada",
    });
    const heard = gate();
    let isOpen = true;
    const headers = { authorization: `Bearer ${key}`, "x-tenant": "a" };
    const followed = Test.events(app, "/follow", () => heard.open(), { headers }).then(() => (isOpen = false));
    await heard.passed;
    const revokedBy = async (tenant: string) =>
      (await Test.call(app, "POST", `/revoke/${entry.id}`, { headers: { "x-tenant": tenant } })).body;
    expect([await revokedBy("b"), isOpen]).toEqual(["false", true]);
    expect(await revokedBy("a")).toBe("true");
    await followed;
    expect((await Test.events(app, "/follow", () => {}, { headers })).ok).toBe(false);
  });
});
