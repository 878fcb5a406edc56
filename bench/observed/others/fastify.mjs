/** Fastify with its instrumentation, that of `node:http`, and pino. */
import { FastifyOtelInstrumentation } from "@fastify/otel";
import { HttpInstrumentation } from "@opentelemetry/instrumentation-http";
import { pino } from "pino";
import { lineIds, register } from "./sdk.mjs";

/** @param {string} endpoint @param {number} ratio @param {string} file Of the lines. @returns {Promise<number>} Its port. */
export async function start(endpoint, ratio, file) {
  register(endpoint, ratio);
  // It changes `node:http` where Fastify requires it.
  new HttpInstrumentation().enable();
  const instrumentation = new FastifyOtelInstrumentation();
  const destination = pino.destination({ dest: file, sync: false, minLength: 4096 });
  const loggerInstance = pino({ mixin: lineIds }, destination);
  const { addRoutes, bare } = await import("../../apps/fastify.mjs");
  const app = bare({ loggerInstance, genReqId: () => crypto.randomUUID() });
  // A hook that is added after the plugin would have a span of its own.
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
  });
  await app.register(instrumentation.plugin());
  addRoutes(app);
  await app.listen({ host: "127.0.0.1", port: 0 });
  return app.server.address().port;
}
