/** Each server by its runtime: starts in a process of that runtime's and answers the port it listens on. */
import { fetch as byHand } from "../apps/by-hand.mjs";

const host = "127.0.0.1";

/** Those that only this runtime has, read where they run. */
const { Bun, Deno } = /** @type {any} */ (globalThis);

/** @typedef {import("../server/candidates.mjs").Candidate} Candidate */

/** @type {Readonly<Record<string, Candidate>>} */
const onBun = {
  raw: { name: "`Bun.serve` by hand", logs: false, start: async () => bunServe(byHand) },
  usher: { name: "usher", logs: false, start: () => usher("off", () => import("usher-http/bun")) },
  elysia: {
    name: "Elysia",
    logs: false,
    async start() {
      const app = (await import("../apps/elysia.mjs")).app().listen({ hostname: host, port: 0 });
      return app.server.port;
    },
  },
  hono: { name: "Hono", logs: false, start: async () => bunServe((await import("../apps/hono.mjs")).app().fetch) },
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
  hono: { name: "Hono", logs: false, start: async () => denoServe((await import("../apps/hono.mjs")).app().fetch) },
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

async function usher(lines, importServe) {
  const { logTo, routes } = await import("../apps/usher.mjs");
  const { serve } = await importServe();
  logTo(lines);
  return (await serve(routes, { host, port: 0 })).port;
}
