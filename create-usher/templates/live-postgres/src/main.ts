import { Broadcast, Dep, Health, Openapi, SecureHeaders } from "usher-http";
import { serve } from "usher-http/node";
import { Pool, Statement, migrate, relay } from "usher-http/postgres";
import { onError } from "./errors.ts";
import { routes } from "./messages.ts";
import { pageRoutes } from "./page.ts";
import { postgresWall, statements } from "./postgres-wall.ts";
import { wall } from "./wall.ts";

// In a container, HOST is 0.0.0.0: it must listen on every interface.
const { DATABASE_URL, HOST = "localhost", PORT } = process.env;
if (DATABASE_URL === undefined) throw new Error("DATABASE_URL is not set: .env.example has an example");

// Ends the process with status 1 if the database cannot be reached.
await Pool.run(DATABASE_URL, {}, async (pool) => {
  await migrate(DATABASE_URL, { directory: "migrations" });
  await Statement.verify(pool, statements);
  // Carries news between the processes that serve this page.
  const others = await relay(DATABASE_URL, { channel: "wall" });
  const news = Broadcast.create<never>({ depth: 1, behind: "skip", relay: others });
  // /docs describes the API; /livez and /readyz answer health checks.
  const docs = Openapi.docs(routes, { title: "my-api", version: "1" });
  const health = Health.routes([pool.check("database")]);
  const server = await serve([...routes, ...pageRoutes, ...docs, ...health], {
    host: HOST,
    port: Number(PORT || 8080),
    resources: [Dep.resource(wall, postgresWall(pool, news))],
    secureHeaders: SecureHeaders.make(),
    onError,
  });
  // SIGTERM and Ctrl-C stop it: it finishes the requests that it has, and then the rest is closed.
  await server.stopped;
  news.close();
  await others.close();
});
