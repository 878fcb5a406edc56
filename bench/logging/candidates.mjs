/** The servers: without logs, with a line for each request in a file, and with metrics too. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { candidates as servers } from "../server/candidates.mjs";

const host = "127.0.0.1";

/** @type {Readonly<Record<string, import("../server/candidates.mjs").Candidate>>} */
export const candidates = {
  raw: servers["raw"],
  usher: servers["usher"],
  "usher-logged": { ...servers["usher-logged"], name: "usher, JSON to a file" },
  "usher-metered": { name: "usher, JSON to a file, metrics", logs: true, start: metered },
  fastify: servers["fastify"],
  "fastify-pino": { name: "Fastify, pino to a file", logs: false, start: fastifyWithPino },
  hono: servers["hono"],
  "hono-logger": { name: "Hono, its logger to a file", logs: false, start: honoWithLogger },
};

async function metered() {
  const { logTo, routes } = await import("../apps/usher.mjs");
  const { serve } = await import("usher-http/node");
  const { Metrics } = await import("usher-http");
  logTo("stderr");
  return (await serve([...routes, ...Metrics.routes()], { host, port: 0 })).port;
}

async function fastifyWithPino() {
  const { pino } = await import("pino");
  const destination = pino.destination({ dest: file("pino.log"), sync: false, minLength: 4096 });
  const app = (await import("../apps/fastify.mjs")).app({ loggerInstance: pino(destination) });
  await app.listen({ host, port: 0 });
  return app.server.address().port;
}

async function honoWithLogger() {
  const { createWriteStream } = await import("node:fs");
  const { logger } = await import("hono/logger");
  const { serve } = await import("@hono/node-server");
  const lines = createWriteStream(file("hono.log"));
  const app = (await import("../apps/hono.mjs")).app(logger((line) => void lines.write(`${line}\n`)));
  const serverOptions = { keepAliveTimeout: 60_000 };
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, hostname: host, port: 0, serverOptions }, ({ port }) => resolve(port));
  });
}

function file(name) {
  return join(mkdtempSync(join(tmpdir(), "usher-bench-")), name);
}
