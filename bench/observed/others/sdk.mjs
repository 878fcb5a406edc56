/** OpenTelemetry's SDK, set up as Usher's own telemetry is: spans to the collector, and a histogram that is read on demand. */
import { context, metrics, propagation, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";

class OnDemand extends MetricReader {
  async onForceFlush() {}
  async onShutdown() {}
}

/** Registers the providers. @param {string} endpoint @param {number} ratio Of the traces that are kept. */
export function register(endpoint, ratio) {
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` });
  const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  trace.setGlobalTracerProvider(
    new TracerProvider({ sampler, spanProcessors: [new BatchSpanProcessor({ exporter })] }),
  );
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [new OnDemand()] }));
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
}

/** The ids that a line of a request has. */
export function lineIds() {
  const active = trace.getActiveSpan()?.spanContext();
  return active === undefined ? {} : { trace_id: active.traceId, span_id: active.spanId };
}
