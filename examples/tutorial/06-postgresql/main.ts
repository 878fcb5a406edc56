import { Dep } from "usher-http";
import { serve } from "usher-http/node";
import { Pool, Statement, migrate } from "usher-http/postgres";
import { database, statements } from "./database.ts";
import { routes } from "./routes.ts";

const { DATABASE_URL = "postgres://postgres:demo@localhost/postgres" } = process.env;

await Pool.run(DATABASE_URL, {}, async (pool) => {
  await migrate(DATABASE_URL, { directory: "migrations" });
  await Statement.verify(pool, Object.values(statements));
  const server = await serve(routes, { port: 8080, resources: [Dep.resource(database, pool)] });
  await server.stopped;
});
