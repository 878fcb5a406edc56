import { Broadcast, Dep, Health, Log, Openapi, Trace } from "usher-http";
import { serve } from "usher-http/node";
import { Pool, SessionTable, Statement, migrate, relay } from "usher-http/postgres";
import { database, statements } from "./database.ts";
import { news } from "./news.ts";
import { routes } from "./routes.ts";
import { sessionStore } from "./sign-in.ts";

const {
  DATABASE_URL = "postgres://postgres:demo@localhost/postgres",
  HOST = "localhost",
  PORT = "8080",
  LOG_LEVELS = "info",
  OTLP_ENDPOINT,
} = process.env;
const sessionTable = { table: "sessions" };

const levels = Log.configure({ levels: LOG_LEVELS });
if (!levels.ok) throw new Error(`LOG_LEVELS: ${levels.error}`);

await Pool.run(DATABASE_URL, {}, async (pool) => {
  await migrate(DATABASE_URL, { directory: "migrations" });
  await Statement.verify(pool, [...Object.values(statements), ...SessionTable.statements(sessionTable)]);
  const others = await relay(DATABASE_URL, { channel: "orders" });
  const resources = [
    Dep.resource(database, pool),
    Dep.resource(sessionStore, SessionTable.store(pool, sessionTable)),
    Dep.resource(news, Broadcast.create<never>({ relay: others })),
  ];
  const docs = Openapi.docs(routes, { title: "Shop", version: "1", description: "Pens and ink, by the piece." });
  const health = Health.routes([pool.check("database")]);
  const server = await serve([...routes, ...docs, ...health], {
    host: HOST,
    port: Number(PORT),
    resources,
    ...(OTLP_ENDPOINT && { trace: Trace.otlp({ endpoint: OTLP_ENDPOINT, service: "shop" }) }),
  });
  await server.stopped;
  await others.close();
});
