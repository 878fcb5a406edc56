import { Dep } from "usher-http";
import { serve } from "usher-http/node";
import { Pool, migrate } from "usher-http/postgres";
import { database } from "./database.ts";
import { routes } from "./routes.ts";

const { DATABASE_URL = "postgres://postgres:demo@localhost/shop" } = process.env;

await migrate(DATABASE_URL, { directory: "migrations" });
await Pool.run(DATABASE_URL, {}, async (pool) => {
  const server = await serve(routes, { port: 8080, resources: [Dep.resource(database, pool)] });
  await server.stopped;
});
