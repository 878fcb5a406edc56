import type * as prometheus from "@opentelemetry/exporter-prometheus";
import type * as sdk from "@opentelemetry/sdk-metrics";
import { Instruments } from "../measuring/instruments.ts";
import type { MetricReader } from "./reader.ts";

// By names that bundlers do not follow: they would have all of it, or fail for want of it, in a program that does not measure.
const sdkPackage = "@opentelemetry/sdk-metrics";
const prometheusPackage = "@opentelemetry/exporter-prometheus";

/** What was collected, as text. */
export type Serialize = (collected: object) => string;

/** A provider of the framework's own, and what reads it. */
export async function loadOwnReader(): Promise<{ readonly reader: MetricReader; readonly instruments: Instruments }> {
  const { MeterProvider, MetricReader } = (await import(/* @vite-ignore */ sdkPackage)) as typeof sdk;
  class OnDemand extends MetricReader {
    protected override async onForceFlush(): Promise<void> {}
    protected override async onShutdown(): Promise<void> {}
  }
  const reader = new OnDemand();
  const provider = new MeterProvider({ readers: [reader] });
  return { reader, instruments: new Instruments(provider) };
}

/** OpenTelemetry's own writer, given the names that its specification says: it leaves the unit out of them. */
export async function loadSerializer(): Promise<Serialize> {
  const { PrometheusSerializer } = (await import(/* @vite-ignore */ prometheusPackage)) as typeof prometheus;
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  return (collected) => serializer.serialize(named(collected as sdk.ResourceMetrics));
}

// A suffix to each name that does not end with it (OpenTelemetry's "Prometheus and OpenMetrics Compatibility").
const suffixes: { readonly [unit: string]: string } = { s: "_seconds", ms: "_milliseconds", By: "_bytes" };

function named(collected: sdk.ResourceMetrics): sdk.ResourceMetrics {
  const scopeMetrics = collected.scopeMetrics.map(({ scope, metrics }) => ({
    scope,
    metrics: metrics.map((metric) => {
      const { name, unit } = metric.descriptor;
      const suffix = suffixes[unit] ?? "";
      return {
        ...metric,
        descriptor: { ...metric.descriptor, unit: "", name: name.endsWith(suffix) ? name : name + suffix },
      };
    }),
  }));
  return { ...collected, scopeMetrics };
}
