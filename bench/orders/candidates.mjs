/** Two routes of the orders example. Each server has a pool of eight connections to its own database. */
const host = "127.0.0.1";
const size = 8;

/** @type {Readonly<Record<string, { name: string, start: (url: string) => Promise<number> }>>} */
export const candidates = {
  usher: {
    name: "usher, the example",
    async start(url) {
      const { Dep, Log } = await import("usher-http");
      const { serve } = await import("usher-http/node");
      const { Pool, SessionTable } = await import("usher-http/postgres");
      const { postgresStore } = await import("../../dist/examples/orders/postgres-store.js");
      const { routes } = await import("../../dist/examples/orders/routes.js");
      const { sessionStore } = await import("../../dist/examples/orders/clerks.js");
      const { store } = await import("../../dist/examples/orders/store.js");
      Log.setup({ level: undefined });
      const pool = await Pool.create(url, { size });
      const sessions = SessionTable.store(pool, { table: "sessions" });
      const resources = [Dep.resource(store, postgresStore(pool)), Dep.resource(sessionStore, sessions)];
      return (await serve(routes, { host, port: 0, resources })).port;
    },
  },
  fastify: {
    name: "Fastify, `postgres`",
    async start(url) {
      const app = (await import("./fastify.mjs")).app(url, size);
      await app.listen({ host, port: 0 });
      return app.server.address().port;
    },
  },
};
