// A server in a process that @opentelemetry/instrumentation-http instruments; prints the spans of one request as JSON.
import { createRequire } from "node:module";
import { context, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { HttpInstrumentation } from "@opentelemetry/instrumentation-http";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";

const kept = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(kept)] });
trace.setGlobalTracerProvider(provider);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
propagation.setGlobalPropagator(new W3CTraceContextPropagator());
const instrumentation = new HttpInstrumentation({ ignoreOutgoingRequestHook: () => true });
instrumentation.setTracerProvider(provider);
instrumentation.enable();
// It instruments what is loaded after it.
createRequire(import.meta.url)("node:http");
const { App, Path, Returns, Trace, get, param } = await import("usher-http");
const { listener, serve } = await import("usher-http/node");
const { createServer } = await import("node:http");
const { once } = await import("node:events");

const id = Path.int("id");
const routes = [
  get(Path.of("orders", id), { inputs: { id: param(id) }, returns: Returns.text }, ({ id }) =>
    Trace.span("find", () => String(id)),
  ),
];

/** Its port, and what ends it. */
async function listens() {
  if (process.argv[2] === "serve") {
    const server = await serve(routes, { host: "127.0.0.1", port: 0, signals: false });
    return [server.port, () => server.stop()];
  }
  const server = createServer(listener(App.make(routes))).listen(0, "127.0.0.1");
  await once(server, "listening");
  return [server.address().port, () => server.close()];
}

const [port, end] = await listens();
const headers = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" };
await (await fetch(`http://127.0.0.1:${port}/orders/7`, { headers })).text();
await end();
console.log(
  JSON.stringify(
    kept.getFinishedSpans().map((span) => ({
      name: span.name,
      kind: span.kind,
      trace: span.spanContext().traceId,
      id: span.spanContext().spanId,
      parent: span.parentSpanContext?.spanId,
      route: span.attributes["http.route"],
    })),
  ),
);
