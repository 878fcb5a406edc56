/** OpenTelemetry's own classes are what a program hands over: checked by the compiler alone. */
import { PrometheusSerializer as FromRoot } from "@opentelemetry/exporter-prometheus";
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus/build/src/PrometheusSerializer.js";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace";
import * as older from "@opentelemetry/sdk-trace-base";
import { Client, Codec, Dep, Header, Metrics, Refusal, Trace, refuse } from "usher-http";

Trace.otlp({ endpoint: "http://localhost", service: "shop", packages: { BatchSpanProcessor, OTLPTraceExporter } });
const olderPackages = { BatchSpanProcessor: older.BatchSpanProcessor, OTLPTraceExporter };
Trace.otlp({ endpoint: "http://localhost", service: "shop", packages: olderPackages });
const memory = new InMemorySpanExporter();
Trace.exporter({ processor: new BatchSpanProcessor({ exporter: memory }) });
Trace.exporter({ processor: new SimpleSpanProcessor({ exporter: memory }) });
Trace.exporter({ processor: new older.BatchSpanProcessor(memory) });
Trace.exporter({ processor: new older.SimpleSpanProcessor(memory) });
// @ts-expect-error an exporter goes in a processor first
Trace.exporter({ processor: memory });

Metrics.routes({ packages: { MeterProvider, MetricReader, PrometheusSerializer } });
Metrics.routes({ packages: { MeterProvider, MetricReader, PrometheusSerializer: FromRoot } });

// The inputs of a guard are the caller's arguments; its refusals are among the caller's errors.
const keyless = Refusal.code("keyless", { status: 403, doc: "The figures' key is missing." });
const key = Header.required("x-key", Codec.string);
const guard = Dep.join({ key }, ({ key }) => (key === "k" ? key : refuse(keyless)), { refuses: [keyless] });
const guarded = Metrics.routes({ guard });
const api = Client.of<typeof guarded>({ baseUrl: "http://localhost" });
const figures = await api["GET /metrics"]({ headers: { "x-key": "k" } });
if (!figures.ok && figures.error === "keyless") throw new Error(figures.error);
// @ts-expect-error its header is missing
await api["GET /metrics"]();
