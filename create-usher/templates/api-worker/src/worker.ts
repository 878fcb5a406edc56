import { Dep, Health, Openapi } from "usher-http";
import { Pool } from "usher-http/postgres";
import { worker } from "usher-http/workers";
import { onError } from "./errors.ts";
import { routes } from "./orders.ts";
import { postgresStore } from "./postgres-store.ts";
import { store } from "./store.ts";
import type { Store } from "./store.ts";

/** The bindings of wrangler.jsonc. */
interface Env {
  readonly HYPERDRIVE: { readonly connectionString: string };
}

/**
 * On Workers a connection belongs to the request that opened it, so each call opens one and closes it. Hyperdrive keeps the
 * connections to the database itself open, near to it.
 */
function storeAt(url: string): Store {
  const withStore = async <A>(work: (store: Store) => Promise<A>): Promise<A> => {
    const pool = await Pool.create(url, { size: 1 });
    try {
      return await work(postgresStore(pool));
    } finally {
      await pool.close();
    }
  };
  return {
    place: (order) => withStore((store) => store.place(order)),
    find: (id) => withStore((store) => store.find(id)),
    list: (page) => withStore((store) => store.list(page)),
    remove: (id) => withStore((store) => store.remove(id)),
  };
}

// /docs describes the API; /livez and /readyz answer health checks.
const all = [...routes, ...Openapi.docs(routes, { title: "my-api", version: "1" }), ...Health.routes()];

export default worker<Env>(all, ({ HYPERDRIVE }) => ({
  resources: [Dep.resource(store, storeAt(HYPERDRIVE.connectionString))],
  onError,
}));
