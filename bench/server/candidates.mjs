/** The servers: `start` runs in a process of its own and resolves with the port. */
import { createServer } from "node:http";
import { logLine } from "./by-hand-line.mjs";

const host = "127.0.0.1";

/**
 * @typedef {object} Candidate
 * @property {string} name
 * @property {boolean} logs Whether it writes a line for each request to standard error.
 * @property {() => Promise<number>} start
 */

/** @type {Readonly<Record<string, Candidate>>} */
export const candidates = {
  raw: { name: "`node:http` by hand", logs: false, start: () => byHand(undefined) },
  usher: { name: "usher", logs: false, start: () => usher("off") },
  fastify: {
    name: "Fastify",
    logs: false,
    async start() {
      const app = (await import("../apps/fastify.mjs")).app();
      await app.listen({ host, port: 0 });
      return app.server.address().port;
    },
  },
  hono: {
    name: "Hono, node-server",
    logs: false,
    async start() {
      const app = (await import("../apps/hono.mjs")).app();
      const { serve } = await import("@hono/node-server");
      const serverOptions = { keepAliveTimeout: 60_000 };
      return new Promise((resolve) => {
        serve({ fetch: app.fetch, hostname: host, port: 0, serverOptions }, ({ port }) => resolve(port));
      });
    },
  },
  h3: {
    name: "h3",
    logs: false,
    async start() {
      const { toNodeHandler } = await import("h3/node");
      return listening(toNodeHandler((await import("../apps/h3.mjs")).app()));
    },
  },
  express: {
    name: "Express",
    logs: false,
    start: async () => listening((await import("../apps/express.mjs")).app()),
  },
  orpc: {
    name: "oRPC",
    logs: false,
    start: async () => listening((await import("../apps/orpc.mjs")).listener()),
  },
  effect: {
    name: "Effect",
    logs: false,
    async start() {
      const server = createServer({ keepAliveTimeout: 60_000 });
      await (await import("../apps/effect.mjs")).serveBy(server, host);
      return server.address().port;
    },
  },
  "raw-logged": { name: "`node:http` by hand, access line", logs: true, start: () => byHand(logLine) },
  "usher-logged": { name: "usher, access line", logs: true, start: () => usher("stderr") },
};

async function byHand(logLine) {
  return listening((await import("../apps/by-hand.mjs")).listener(logLine));
}

function listening(listener) {
  const server = createServer({ keepAliveTimeout: 60_000 }, listener);
  return new Promise((resolve) => server.listen(0, host, () => resolve(server.address().port)));
}

async function usher(lines) {
  const { logTo, routes } = await import("../apps/usher.mjs");
  const { serve } = await import("usher-http/node");
  logTo(lines);
  return (await serve(routes, { host, port: 0 })).port;
}
