/** Sends spans in each way that a program can, and prints the lines it logged and its metrics: on whatever runtime runs it. */
import process from "node:process";
import { metrics, trace as api } from "@opentelemetry/api";
import { App, Log, Metrics, Path, Returns, Trace, get } from "usher-http";

const [endpoint, generation] = process.argv.slice(2);
const lines = [];
Log.setup({ level: "warn", format: "json", out: (line) => lines.push(JSON.parse(line)) });

const routes = [
  get(Path.of("hello", Path.str("name")), { returns: Returns.text }, () => "hi"),
  get(Path.of("raises"), { returns: Returns.text }, () => {
    throw new Error("no");
  }),
  get(Path.of("work"), { returns: Returns.text }, () =>
    Trace.span("work", (span) => (span.set("shop.ratio", 0.5), span.set("shop.gift", true), "")),
  ),
];

/** One request to each route, and all of their spans sent. @param {import("usher-http").Trace.Exporter | undefined} trace */
async function served(trace, more = []) {
  const { fetch } = App.make([...routes, ...more], trace === undefined ? {} : { trace });
  const ask = async (path) => (await fetch(new Request(`http://localhost${path}`))).text();
  for (const path of ["/hello/kim", "/raises", "/work"]) await ask(path);
  await trace?.shutdown();
  return ask;
}

const ask = await served(Trace.otlp({ endpoint, service: "imported" }), Metrics.routes());
const pages = [await ask("/metrics")];
if (generation !== "none") {
  const { OTLPTraceExporter } = await import("@opentelemetry/exporter-trace-otlp-http");
  const { PrometheusSerializer } = await import("@opentelemetry/exporter-prometheus");
  const { MeterProvider, MetricReader } = await import("@opentelemetry/sdk-metrics");
  const { BatchSpanProcessor, TracerProvider, BasicTracerProvider } = await import(
    generation === "2" ? "@opentelemetry/sdk-trace-base" : "@opentelemetry/sdk-trace"
  );
  await served(Trace.otlp({ endpoint, service: "given", packages: { BatchSpanProcessor, OTLPTraceExporter } }));

  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` });
  const processor = () => new BatchSpanProcessor(generation === "2" ? exporter : { exporter });
  await served(Trace.exporter({ processor: processor(), service: "processor" }));

  class OnDemand extends MetricReader {
    async onForceFlush() {}
    async onShutdown() {}
  }
  const reader = new OnDemand();
  const meters = new MeterProvider({ readers: [reader] });
  metrics.setGlobalMeterProvider(meters);
  meters.getMeter("shop").createCounter("shop.hits", { description: "Pages served" }).add(2, { "shop.page": "home" });
  const provider = new (TracerProvider ?? BasicTracerProvider)({ spanProcessors: [processor()] });
  api.setGlobalTracerProvider(provider);
  const packages = { MeterProvider, MetricReader, PrometheusSerializer };
  const registered = await served(undefined, Metrics.routes({ reader, packages }));
  await provider.forceFlush();
  pages.push(await registered("/metrics"));
}
console.log(JSON.stringify({ lines, pages }));
