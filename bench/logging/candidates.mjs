/** The servers: without logs, with a line for each request in a file, and with spans too. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { candidates as servers } from "../server/candidates.mjs";

const host = "127.0.0.1";
/** The collector of the spans: the measuring process. */
const endpoint = process.env["COLLECTOR"] ?? "http://127.0.0.1:4318";

/** @type {Readonly<Record<string, import("../server/candidates.mjs").Candidate>>} */
export const candidates = {
  raw: servers["raw"],
  usher: servers["usher"],
  "usher-logged": { ...servers["usher-logged"], name: "usher, JSON to a file" },
  "usher-metered": observed("usher, JSON to a file, metrics", undefined),
  "usher-traced-0": traced(0),
  "usher-traced-0.01": traced(0.01),
  "usher-traced-1": traced(1),
  fastify: servers["fastify"],
  "fastify-pino": { name: "Fastify, pino to a file", logs: false, start: fastifyWithPino },
  hono: servers["hono"],
  "hono-logger": { name: "Hono, its logger to a file", logs: false, start: honoWithLogger },
};

/** @param {number} ratio */
function traced(ratio) {
  return observed(`usher, JSON to a file, metrics, spans at ratio ${ratio}`, ratio);
}

/** @param {string} name @param {number | undefined} ratio Of the spans that are sent. @returns {import("../server/candidates.mjs").Candidate} */
function observed(name, ratio) {
  return {
    name,
    logs: true,
    async start() {
      const { logTo, routes } = await import("../apps/usher.mjs");
      const { serve } = await import("usher-http/node");
      const { Metrics, Trace } = await import("usher-http");
      logTo("stderr");
      const trace = ratio === undefined ? {} : { trace: Trace.otlp({ endpoint, service: "bench", ratio }) };
      return (await serve([...routes, ...Metrics.routes()], { host, port: 0, ...trace })).port;
    },
  };
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
