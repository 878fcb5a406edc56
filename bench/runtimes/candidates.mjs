/** The servers of each runtime: `start` runs in a process of that runtime and resolves with the port. */
import { requestId } from "hono/request-id";
import { fetch as byHand, fetchWithIds } from "../apps/by-hand.mjs";

const host = "127.0.0.1";

/** Globals of the runtime that runs this file. */
const { Bun, Deno } = /** @type {any} */ (globalThis);

/** @typedef {import("../server/candidates.mjs").Candidate} Candidate */

/** @type {Readonly<Record<string, Candidate>>} */
const onBun = {
  raw: { name: "`Bun.serve` by hand", logs: false, start: async () => bunServe(byHand) },
  usher: { name: "usher", logs: false, start: () => usher("off", () => import("usher-http/bun")) },
  elysia: { name: "Elysia", logs: false, start: () => elysia(false) },
  hono: { name: "Hono", logs: false, start: async () => bunServe(await hono()) },
  "raw-ids": { name: "`Bun.serve` by hand, request ids", logs: false, start: async () => bunServe(fetchWithIds) },
  "elysia-ids": { name: "Elysia, request ids", logs: false, start: () => elysia(true) },
  "hono-ids": { name: "Hono, request ids", logs: false, start: async () => bunServe(await hono(requestId())) },
  "usher-logged": {
    name: "usher, access line",
    logs: true,
    start: () => usher("stderr", () => import("usher-http/bun")),
  },
};

/** @type {Readonly<Record<string, Candidate>>} */
const onDeno = {
  raw: { name: "`Deno.serve` by hand", logs: false, start: async () => denoServe(byHand) },
  usher: { name: "usher", logs: false, start: () => usher("off", () => import("usher-http/deno")) },
  hono: { name: "Hono", logs: false, start: async () => denoServe(await hono()) },
  "raw-ids": { name: "`Deno.serve` by hand, request ids", logs: false, start: async () => denoServe(fetchWithIds) },
  "hono-ids": { name: "Hono, request ids", logs: false, start: async () => denoServe(await hono(requestId())) },
  "usher-logged": {
    name: "usher, access line",
    logs: true,
    start: () => usher("stderr", () => import("usher-http/deno")),
  },
};

export const runtimes = { bun: onBun, deno: onDeno };

function bunServe(fetch) {
  return Bun.serve({ hostname: host, port: 0, fetch }).port;
}

function denoServe(fetch) {
  return Deno.serve({ hostname: host, port: 0, onListen() {} }, fetch).addr.port;
}

/** @param {import("hono").MiddlewareHandler} [around] */
async function hono(around) {
  return (await import("../apps/hono.mjs")).app(around).fetch;
}

async function elysia(ids) {
  const app = (await import("../apps/elysia.mjs")).app({ ids }).listen({ hostname: host, port: 0 });
  return app.server.port;
}

async function usher(lines, importServe) {
  const { logTo, routes } = await import("../apps/usher.mjs");
  const { serve } = await importServe();
  logTo(lines);
  return (await serve(routes, { host, port: 0 })).port;
}
