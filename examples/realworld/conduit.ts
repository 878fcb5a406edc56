import { fileURLToPath } from "node:url";
import { Cors, Dep, Health, Openapi, RefusalFormat, Shape } from "usher-http";
import { Mcp } from "usher-http/mcp";
import type { serve as Serve } from "usher-http/node";
import { Pool, Statement, migrate } from "usher-http/postgres";
import * as v from "valibot";
import { secret } from "./accounts.ts";
import { articleRoutes } from "./articles.ts";
import { commentRoutes } from "./comments.ts";
import * as statements from "./statements.ts";
import { database } from "./database.ts";
import { userRoutes } from "./users.ts";

export const routes = [...userRoutes, ...articleRoutes, ...commentRoutes] as const;

/** What RealWorld answers in place of the framework's own errors, and 422 for a request that does not fit. */
export const refusalFormat = RefusalFormat.json({
  shape: Shape.named("Errors", v.object({ errors: v.object({ body: v.array(v.string()) }) })),
  statuses: { invalid: 422 },
  write: ({ message, problems }) => ({
    errors: { body: problems.length === 0 ? [message] : problems.map(({ at, message }) => `${at}: ${message}`) },
  }),
});

/** Serves Conduit until a signal stops it. Each runtime has a `serve` of its own, with the same options. */
export async function run(serve: typeof Serve): Promise<void> {
  const { DATABASE_URL, JWT_SECRET = "", PORT = "8080" } = process.env;
  if (DATABASE_URL === undefined) throw new Error("DATABASE_URL is not set: postgres://user@host/database");
  if (JWT_SECRET.length < 32)
    throw new Error("JWT_SECRET is shorter than 32 characters: openssl rand -hex 32 makes one");
  await Pool.run(DATABASE_URL, {}, async (pool) => {
    await migrate(DATABASE_URL, { directory: fileURLToPath(new URL("migrations", import.meta.url)) });
    await Statement.verify(pool, Object.values(statements));
    // The pages of any site may call it: they send a token, and no cookie.
    const cors = Cors.make({ origins: "any", headers: ["authorization", "content-type", "x-requested-with"] });
    const docs = Openapi.docs(routes, { title: "Conduit", version: "1", cors });
    const health = Health.routes([pool.check("database")]);
    // Every operation is a tool of an agent, whose token is that of its requests.
    const tools = Mcp.routes(routes, { name: "conduit", version: "1" });
    const server = await serve([...routes, ...docs, ...tools, ...health], {
      port: Number(PORT),
      refusalFormat,
      cors,
      resources: [Dep.resource(database, pool), Dep.resource(secret, new TextEncoder().encode(JWT_SECRET))],
    });
    await server.stopped;
  });
}
