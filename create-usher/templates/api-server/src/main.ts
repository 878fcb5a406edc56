import { Dep, Health, Openapi } from "usher-http";
import { serve } from "usher-http/node";
import { Pool, Statement, migrate } from "usher-http/postgres";
import { onError } from "./errors.ts";
import { routes } from "./orders.ts";
import { postgresStore, statements } from "./postgres-store.ts";
import { store } from "./store.ts";

// In a container, HOST is 0.0.0.0: it must listen on every interface.
const { DATABASE_URL, HOST = "localhost", PORT } = process.env;
if (DATABASE_URL === undefined) throw new Error("DATABASE_URL is not set: .env.example has an example");

// Ends the process with status 1 if the database cannot be reached.
await Pool.run(DATABASE_URL, {}, async (pool) => {
  await migrate(DATABASE_URL, { directory: "migrations" });
  await Statement.verify(pool, statements);
  // /docs describes the API; /livez and /readyz answer health checks.
  const docs = Openapi.docs(routes, { title: "my-api", version: "1" });
  const server = await serve([...routes, ...docs, ...Health.routes([pool.check("database")])], {
    host: HOST,
    port: Number(PORT || 8080),
    resources: [Dep.resource(store, postgresStore(pool))],
    onError,
  });
  // SIGTERM and Ctrl-C stop it: it finishes the requests that it has, and then the pool is closed.
  await server.stopped;
});
