import { Broadcast, Dep, Openapi } from "usher-http";
import { serve } from "usher-http/node";
import { Pool, SessionTable, Statement, migrate } from "usher-http/postgres";
import { database, statements } from "./database.ts";
import { news } from "./news.ts";
import { routes } from "./routes.ts";
import { sessionStore } from "./sign-in.ts";

const { DATABASE_URL = "postgres://postgres:demo@localhost/postgres" } = process.env;
const sessionTable = { table: "sessions" };

await Pool.run(DATABASE_URL, {}, async (pool) => {
  await migrate(DATABASE_URL, { directory: "migrations" });
  await Statement.verify(pool, [...Object.values(statements), ...SessionTable.statements(sessionTable)]);
  const resources = [
    Dep.resource(database, pool),
    Dep.resource(sessionStore, SessionTable.store(pool, sessionTable)),
    Dep.resource(news, Broadcast.create<never>()),
  ];
  const docs = Openapi.docs(routes, { title: "Shop", version: "1", description: "Pens and ink, by the piece." });
  const server = await serve([...routes, ...docs], { port: 8080, resources });
  await server.stopped;
});
