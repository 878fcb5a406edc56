import { Broadcast, Dep, Health, Openapi } from "usher-http";
import { serve } from "usher-http/node";
import { Pool, Statement, migrate, relay } from "usher-http/postgres";
import { migrations, openDatabase } from "./database.ts";
import { maxBody } from "./import.ts";
import { postgresStore } from "./postgres-store.ts";
import { routes } from "./routes.ts";
import * as statements from "./statements.ts";
import { store } from "./store.ts";

const { DATABASE_URL, DATA_DIR, PORT = "8080" } = process.env;

const database = await openDatabase(DATABASE_URL, DATA_DIR);
await Pool.run(database.url, {}, async (pool) => {
  await migrate(database.url, { directory: migrations });
  await Statement.verify(pool, Object.values(statements));
  const others = await relay(database.url, { channel: "orders" });
  const news = Broadcast.create<never>({ relay: others });
  const described = [...routes, ...Health.routes([pool.check("database")])];
  const docs = Openapi.docs(described, { title: "Orders", version: "1" });
  const server = await serve([...described, ...docs], {
    port: Number(PORT),
    maxBody,
    resources: [Dep.resource(store, postgresStore(pool, news))],
  });
  await server.stopped;
  news.close();
  await others.close();
});
await database.close();
