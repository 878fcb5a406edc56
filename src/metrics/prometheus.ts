import type { Attributes } from "@opentelemetry/api";
import type * as prometheus from "@opentelemetry/exporter-prometheus";
import type * as sdk from "@opentelemetry/sdk-metrics";
import { Instruments } from "../measuring/instruments.ts";
import type { MetricReader } from "./reader.ts";

// By names that bundlers do not follow: they would have all of it, or fail for want of it, in a program that does not measure.
const sdkPackage = "@opentelemetry/sdk-metrics";
const prometheusPackage = "@opentelemetry/exporter-prometheus";

/** The classes that `Metrics.routes` stands on. */
export interface MetricsPackages {
  /** Of `@opentelemetry/sdk-metrics`, as the next is. */
  readonly MeterProvider: new (options: never) => object;
  readonly MetricReader: abstract new (options?: never) => object;
  /** Of `@opentelemetry/exporter-prometheus`. */
  readonly PrometheusSerializer: new (...options: never) => object;
}

/** What was collected, as text. */
export type Serialize = (collected: object) => string;

/** A provider of the framework's own, and what reads it. */
export async function ownReader(
  packages: MetricsPackages | undefined,
): Promise<{ readonly reader: MetricReader; readonly instruments: Instruments }> {
  const { MeterProvider, MetricReader } = (packages ?? (await import(/* @vite-ignore */ sdkPackage))) as typeof sdk;
  class OnDemand extends MetricReader {
    protected override async onForceFlush(): Promise<void> {}
    protected override async onShutdown(): Promise<void> {}
  }
  const reader = new OnDemand();
  const provider = new MeterProvider({ readers: [reader] });
  return { reader, instruments: new Instruments(provider) };
}

/** OpenTelemetry's own writer, given the names that its specification says: it leaves the unit out of them. */
export async function serializer(packages: MetricsPackages | undefined): Promise<Serialize> {
  const { PrometheusSerializer } = (packages ??
    (await import(/* @vite-ignore */ prometheusPackage))) as typeof prometheus;
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  return (collected) => serializer.serialize(named(collected as sdk.ResourceMetrics));
}

// Each name ends with its unit in words (OpenTelemetry's "Prometheus and OpenMetrics Compatibility"), and a count has none.
const words: { readonly [unit: string]: string } = {
  d: "days",
  h: "hours",
  min: "minutes",
  s: "seconds",
  ms: "milliseconds",
  us: "microseconds",
  ns: "nanoseconds",
  By: "bytes",
  KiBy: "kibibytes",
  MiBy: "mebibytes",
  GiBy: "gibibytes",
  KBy: "kilobytes",
  MBy: "megabytes",
  GBy: "gigabytes",
  Cel: "celsius",
  Hz: "hertz",
  "%": "percent",
};

function suffixOf(unit: string): string {
  const word = Object.hasOwn(words, unit) ? words[unit] : /^[a-z]{2,}$/.test(unit) ? unit : undefined;
  return word === undefined ? "" : `_${word}`;
}

function named(collected: sdk.ResourceMetrics): sdk.ResourceMetrics {
  const scopeMetrics = collected.scopeMetrics.map(({ scope, metrics }) => ({
    scope,
    metrics: metrics.map((metric) => {
      const { name, unit } = metric.descriptor;
      const suffix = suffixOf(unit);
      return {
        ...metric,
        dataPoints: metric.dataPoints.map((point) => ({ ...point, attributes: said(point.attributes) })),
        descriptor: { ...metric.descriptor, unit: "", name: name.endsWith(suffix) ? name : name + suffix },
      } as sdk.MetricData;
    }),
  }));
  return { ...collected, scopeMetrics };
}

// An empty label is one that is not there (Prometheus's data model).
function said(attributes: Attributes): Attributes {
  const isSaid = ([, value]: [string, unknown]): boolean => value !== "";
  const entries = Object.entries(attributes);
  return entries.every(isSaid) ? attributes : Object.fromEntries(entries.filter(isSaid));
}
