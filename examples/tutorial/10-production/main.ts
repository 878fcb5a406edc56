import { Dep, Health, Log, Openapi, Trace } from "usher-http";
import { serve } from "usher-http/node";
import { Pool, Statement, migrate } from "usher-http/postgres";
import { database, statements } from "./database.ts";
import { routes } from "./routes.ts";

const {
  DATABASE_URL = "postgres://postgres:demo@localhost/shop",
  HOST = "localhost",
  PORT,
  LOG_LEVELS = "info",
  OTLP_ENDPOINT,
} = process.env;

const levels = Log.configure({ levels: LOG_LEVELS });
if (!levels.ok) throw new Error(`LOG_LEVELS: ${levels.error}`);

await migrate(DATABASE_URL, { directory: "migrations" });
await Pool.run(DATABASE_URL, {}, async (pool) => {
  await Statement.verify(pool, Object.values(statements));
  const docs = Openapi.docs(routes, { title: "Shop", version: "1", description: "Pens and ink, by the piece." });
  const health = Health.routes([pool.check("database")]);
  const server = await serve([...routes, ...docs, ...health], {
    host: HOST,
    port: Number(PORT || 8080),
    resources: [Dep.resource(database, pool)],
    ...(OTLP_ENDPOINT && { trace: Trace.otlp({ endpoint: OTLP_ENDPOINT, service: "shop" }) }),
  });
  await server.stopped;
});
