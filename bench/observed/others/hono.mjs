/** Hono with its instrumentation, its request ids and its logger. */
import { createWriteStream } from "node:fs";
import { httpInstrumentationMiddleware } from "@hono/otel";
import { serve } from "@hono/node-server";
import { every } from "hono/combine";
import { logger } from "hono/logger";
import { requestId } from "hono/request-id";
import { lineIds, register } from "./sdk.mjs";

/** @param {string} endpoint @param {number} ratio @param {string} file Of the lines. @returns {Promise<number>} Its port. */
export async function start(endpoint, ratio, file) {
  register(endpoint, ratio);
  const lines = createWriteStream(file);
  const line = (text) => void lines.write(`${JSON.stringify({ text, ...lineIds() })}\n`);
  const { app } = await import("../../apps/hono.mjs");
  const observed = app(every(requestId(), httpInstrumentationMiddleware({ serviceName: "bench" }), logger(line)));
  const serverOptions = { keepAliveTimeout: 60_000 };
  return new Promise((resolve) => {
    serve({ fetch: observed.fetch, hostname: "127.0.0.1", port: 0, serverOptions }, ({ port }) => resolve(port));
  });
}
