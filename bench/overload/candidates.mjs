/**
 * The servers under overload. `/waits` waits for one of eight connections and keeps it for 20 ms, as a statement does; `/computes`
 * computes for 20 ms. `start` resolves with the port.
 */
import { serve as serveHono } from "@hono/node-server";
import fastify from "fastify";
import { Hono } from "hono";
import { Log, Overload, Path, Returns, get } from "usher-http";
import { serve } from "usher-http/node";

/** How many requests are served at once, and how long each takes. */
export const connections = 8;
export const serviceMs = 20;

const maxInFlight = 12;
/** Above what one request takes: a bound below it refuses when a single request runs. */
const maxEventLoopDelayMs = 30;

/**
 * @typedef {object} Candidate
 * @property {string} name
 * @property {() => Promise<number>} start
 */

/** @type {Readonly<Record<string, Candidate>>} */
export const candidates = {
  usher: {
    name: `usher, \`maxInFlight: ${maxInFlight}\`, \`maxEventLoopDelayMs: ${maxEventLoopDelayMs}\``,
    start: () => usher({ overload: Overload.make({ maxInFlight, maxEventLoopDelayMs }) }),
  },
  fastify: {
    name: `Fastify, \`@fastify/under-pressure\` with \`maxEventLoopDelay: ${maxEventLoopDelayMs}\`, looked at each second`,
    start: () => underPressure({}),
  },
  often: { name: "the same, looked at each 20 ms", start: () => underPressure({ sampleInterval: 20 }) },
  hono: { name: "Hono", start: hono },
  unbounded: { name: "usher without bounds", start: () => usher({}) },
};

let used = 0;
/** @type {(() => void)[]} */
const queue = [];

async function waits() {
  if (used < connections) used++;
  else await /** @type {Promise<void>} */ (new Promise((resolve) => queue.push(resolve)));
  await new Promise((resolve) => setTimeout(resolve, serviceMs));
  const next = queue.shift();
  if (next === undefined) used--;
  else next();
  return "done";
}

function computes() {
  const end = performance.now() + serviceMs;
  while (performance.now() < end);
  return "done";
}

async function usher(options) {
  Log.setup({ level: "off" });
  const text = { returns: Returns.text };
  const routes = [get(Path.of("waits"), text, waits), get(Path.of("computes"), text, computes)];
  const { port } = await serve(routes, { ...options, port: 0, host: "127.0.0.1" });
  return port;
}

async function underPressure(options) {
  const { default: plugin } = await import("@fastify/under-pressure");
  const app = fastify();
  await app.register(plugin, { maxEventLoopDelay: maxEventLoopDelayMs, retryAfter: 1, ...options });
  app.get("/waits", () => waits());
  app.get("/computes", () => computes());
  await app.listen({ port: 0, host: "127.0.0.1" });
  return /** @type {import("node:net").AddressInfo} */ (app.server.address()).port;
}

function hono() {
  const app = new Hono();
  app.get("/waits", async (context) => context.text(await waits()));
  app.get("/computes", (context) => context.text(computes()));
  return /** @type {Promise<number>} */ (
    new Promise((resolve) =>
      serveHono({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => resolve(port)),
    )
  );
}
