import { Broadcast, Deadline, Dep, Health, Log, Openapi, SecureHeaders } from "usher-http";
import { Mcp } from "usher-http/mcp";
import { serve } from "usher-http/node";
import { IdempotencyTable, Pool, SessionTable, Statement, migrate, relay } from "usher-http/postgres";
import { about } from "./about.ts";
import { sessionStore } from "./clerks.ts";
import { migrations, openDatabase } from "./database.ts";
import { maxBody } from "./import.ts";
import { pageFiles, sourceFiles } from "./page-files.ts";
import { answersTable, postgresStore } from "./postgres-store.ts";
import { routes } from "./routes.ts";
import * as statements from "./statements.ts";
import { store } from "./store.ts";
import { sweepHourly } from "./sweeping.ts";

const { DATABASE_URL, DATA_DIR, PORT = "8080" } = process.env;
const sessionTable = { table: "sessions" };

const database = await openDatabase(DATABASE_URL, DATA_DIR);
await Pool.run(database.url, {}, async (pool) => {
  await migrate(database.url, { directory: migrations });
  const kept = [...SessionTable.statements(sessionTable), ...IdempotencyTable.statements(answersTable)];
  await Statement.verify(pool, [...Object.values(statements), ...kept]);
  const others = await relay(database.url, { channel: "orders" });
  const news = Broadcast.create<never>({ depth: 1, behind: "skip", relay: others });
  const sessions = SessionTable.store(pool, sessionTable);
  const answers = IdempotencyTable.store(pool, answersTable);
  const stops = [
    sweepHourly("sessions", () => sessions.sweep(new Date())),
    sweepHourly("answers", () => answers.sweep()),
  ];
  const health = Health.routes([pool.check("database")]);
  const docs = Openapi.docs(routes, about);
  const tools = Mcp.routes(routes, { name: "orders", version: about.version, title: about.title });
  const server = await serve([...routes, ...docs, ...tools, ...health, ...pageFiles(), ...sourceFiles()], {
    port: Number(PORT),
    maxBody,
    deadline: Deadline.make(10_000),
    resources: [Dep.resource(store, postgresStore(pool, news)), Dep.resource(sessionStore, sessions)],
    secureHeaders: SecureHeaders.make(),
  });
  const at = `http://localhost:${server.port}`;
  Log.source("orders").info(`to open: the page ${at}/, the API ${at}/docs, the probe ${at}/livez`);
  await server.stopped;
  for (const stop of stops) stop();
  news.close();
  await others.close();
});
await database.close();
