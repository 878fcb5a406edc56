/** What each of the processes that share a port serves: what they have in common, and what each has alone. */
import process from "node:process";
import { Pool, SessionTable, migrate, relay as postgresRelay } from "../../../adapters/postgres/index.ts";
import { rateStore, relay as redisRelay } from "../../../adapters/redis/index.ts";
import {
  Broadcast,
  Codec,
  Cookie,
  Dep,
  Event,
  Keys,
  Path,
  Rate,
  Returns,
  Sessions,
  clientGone,
  get,
  post,
  setCookie,
} from "../../../src/index.ts";
import type { RateStore, Relay, Route } from "../../../src/index.ts";
import type { ServeOptions, Server } from "../../../src/server/options.ts";
import * as v from "valibot";

export interface Engines {
  readonly postgres: string;
  readonly migrations: string;
  /** Undefined where the machine has none. */
  readonly redis?: string;
}

/** How many requests a rate allows. */
const limit = 8;
const Said = Event.text("said");
const text = { returns: Returns.text };

/** A feed of a hub, and what publishes to it. */
function hubRoutes(name: string, relay?: Relay): readonly Route[] {
  const hub = Broadcast.create<typeof Said>(relay === undefined ? {} : { relay });
  const feed = get(
    Path.of("feed", name),
    { inputs: { clientGone }, returns: Returns.events([Said]) },
    ({ clientGone }) =>
      async (send) => {
        const subscription = hub.subscribe("all");
        await send(Event.make(Said, "subscribed"));
        for (;;) {
          const event = await subscription.next({ until: clientGone });
          if (event === undefined || !(await send(event)).ok) break;
        }
        subscription.unsubscribe();
      },
  );
  const publish = post(Path.of("publish", name), text, () => {
    hub.publish("all", Event.make(Said, `from ${process.pid}`));
    return "published";
  });
  return [feed, publish];
}

function rateRoute(name: string, store: RateStore): Route {
  const rate = Rate.make({ limit, perMs: 3_600_000, store });
  return get(
    Path.of("rate", name),
    { inputs: { rate: Rate.limit(rate, { key: Dep.return("all") }) }, ...text },
    () => "counted",
  );
}

function sessionRoutes(pool: Pool): readonly Route[] {
  const sealed = Cookie.encrypted(Keys.ring("a secret of thirty-two bytes, or a few more"), "sealed", Codec.string, {
    maxAgeMs: 60_000,
  });
  const sessions = Sessions.make({
    store: SessionTable.store(pool, { table: "sessions" }),
    shape: v.object({ name: v.string() }),
    idleMs: 60_000,
    absoluteMs: 60_000,
  });
  return [
    post(Path.of("sign-in"), { inputs: { setCookie }, ...text }, async ({ setCookie }) => {
      await sessions.start(setCookie, { name: `stored by ${process.pid}` });
      setCookie(Cookie.make(sealed, `sealed by ${process.pid}`));
      return String(process.pid);
    }),
    get(
      Path.of("session"),
      { inputs: { sealed: Cookie.optional(sealed), session: sessions.optional }, ...text },
      ({ sealed, session }) => `${sealed}, ${session?.data.name}`,
    ),
    post(
      Path.of("sign-out"),
      { inputs: { session: sessions.optional, setCookie }, ...text },
      async ({ session, setCookie }) => {
        await session?.close(setCookie);
        return "out";
      },
    ),
  ];
}

type Serve = (routes: readonly Route[], options: ServeOptions) => Promise<Server>;

/** Migrates, serves on the port of the first argument, and stops when it is asked to. */
export async function main(serve: Serve, options: Partial<ServeOptions> = {}): Promise<void> {
  const { port, engines } = JSON.parse(process.argv[2] as string) as {
    readonly port: number;
    readonly engines: Engines;
  };
  const { postgres, redis, migrations } = engines;
  await migrate(postgres, { directory: migrations });
  const pool = await Pool.create(postgres, { size: 2 });
  const inPostgres = await postgresRelay(postgres, { channel: "hub" });
  const inRedis = redis === undefined ? undefined : await redisRelay(redis, { channel: "hub" });
  const routes = [
    get(Path.of("who"), text, () => String(process.pid)),
    ...sessionRoutes(pool),
    ...hubRoutes("memory"),
    ...hubRoutes("postgres", inPostgres),
    rateRoute("memory", Rate.memory()),
  ];
  if (redis !== undefined)
    routes.push(...hubRoutes("redis", inRedis), rateRoute("redis", await rateStore(redis, { waitMs: 60_000 })));
  const server = await serve(routes, { ...options, port, host: "127.0.0.1" });
  console.log(JSON.stringify({ port: server.port, url: server.url }));
  await server.stopped;
  await Promise.all([inPostgres.close(), inRedis?.close(), pool.close()]);
  process.exit();
}
