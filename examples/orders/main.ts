import { Broadcast, Dep, Health, Openapi, SecureHeaders } from "usher-http";
import { serve } from "usher-http/node";
import { Pool, SessionTable, Statement, migrate, relay } from "usher-http/postgres";
import { about } from "./about.ts";
import { sessionStore, sweepHourly } from "./clerks.ts";
import { migrations, openDatabase } from "./database.ts";
import { maxBody } from "./import.ts";
import { pageFiles, sourceFiles } from "./page-files.ts";
import { postgresStore } from "./postgres-store.ts";
import { routes } from "./routes.ts";
import * as statements from "./statements.ts";
import { store } from "./store.ts";

const { DATABASE_URL, DATA_DIR, PORT = "8080" } = process.env;
const sessionTable = { table: "sessions" };

const database = await openDatabase(DATABASE_URL, DATA_DIR);
await Pool.run(database.url, {}, async (pool) => {
  await migrate(database.url, { directory: migrations });
  await Statement.verify(pool, [...Object.values(statements), ...SessionTable.statements(sessionTable)]);
  const others = await relay(database.url, { channel: "orders" });
  const news = Broadcast.create<never>({ relay: others });
  const sessions = SessionTable.store(pool, sessionTable);
  const stopSweeping = sweepHourly(sessions);
  const health = Health.routes([pool.check("database")]);
  const docs = Openapi.docs(routes, about);
  const server = await serve([...routes, ...docs, ...health, ...pageFiles(), ...sourceFiles()], {
    port: Number(PORT),
    maxBody,
    deadlineMs: 10_000,
    resources: [Dep.resource(store, postgresStore(pool, news)), Dep.resource(sessionStore, sessions)],
    secureHeaders: SecureHeaders.make(),
  });
  await server.stopped;
  stopSweeping();
  news.close();
  await others.close();
});
await database.close();
