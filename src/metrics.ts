import type { Attributes } from "@opentelemetry/api";
import type * as prometheus from "@opentelemetry/exporter-prometheus";
import type * as sdk from "@opentelemetry/sdk-metrics";
import { make } from "./answers/makers.ts";
import { needsOptions, needsPath } from "./arguments.ts";
import type { Succeeded } from "./answers/returns-type.ts";
import * as Returns from "./answers/returns.ts";
import type { Dep } from "./inputs/dep.ts";
import { internalRefusal } from "./refusals.ts";
import * as Meta from "./routing/meta.ts";
import { of } from "./routing/path.ts";
import type { Path } from "./routing/path.ts";
import { get } from "./routing/route.ts";
import type { Route } from "./routing/route.ts";
import { Instruments, bringInstruments, expectInstruments, giveUpInstruments } from "./telemetry/measure.ts";

/** The part of OpenTelemetry's `MetricReader` that is used. */
export interface MetricReader {
  /** Reads all metrics once. */
  collect(): Promise<{ readonly resourceMetrics: object }>;
}

// Bundlers do not follow these names. They would otherwise bundle the packages, or fail without them, in a program that does
// not measure.
const sdkPackage = "@opentelemetry/sdk-metrics";
const prometheusPackage = "@opentelemetry/exporter-prometheus";

/** The classes that `Metrics.routes` needs. */
export interface MetricsPackages {
  /** From `@opentelemetry/sdk-metrics`, like `MetricReader`. */
  readonly MeterProvider: new (options: never) => object;
  /** From `@opentelemetry/sdk-metrics`. */
  readonly MetricReader: abstract new (options?: never) => object;
  /** From `@opentelemetry/exporter-prometheus`. */
  readonly PrometheusSerializer: new (...options: never) => object;
}

/** Writes the collected metrics as text. */
type Serialize = (collected: object) => string;

/** The framework's own `MeterProvider`, and its reader. */
async function ownReader(
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

/** OpenTelemetry's serializer leaves the unit out of a name, which its specification asks for: `named` adds it. */
async function serializer(packages: MetricsPackages | undefined): Promise<Serialize> {
  const { PrometheusSerializer } = (packages ??
    (await import(/* @vite-ignore */ prometheusPackage))) as typeof prometheus;
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  return (collected) => serializer.serialize(named(collected as sdk.ResourceMetrics));
}

// A name ends with its unit as a word (OpenTelemetry's "Prometheus and OpenMetrics Compatibility"); a count has no unit.
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
        dataPoints: metric.dataPoints.map((point) => ({ ...point, attributes: withoutEmpty(point.attributes) })),
        descriptor: { ...metric.descriptor, unit: "", name: name.endsWith(suffix) ? name : name + suffix },
      } as sdk.MetricData;
    }),
  }));
  return { ...collected, scopeMetrics };
}

// Prometheus's data model: an empty label is the same as an absent one.
function withoutEmpty(attributes: Attributes): Attributes {
  const hasValue = ([, value]: [string, unknown]): boolean => value !== "";
  const entries = Object.entries(attributes);
  return entries.every(hasValue) ? attributes : Object.fromEntries(entries.filter(hasValue));
}

/** The path of the metrics, who may read them, and their source. */
export interface MetricsOptions<At extends string = string, Refuses extends string = string, Wire = unknown> {
  /** `/metrics` unless set. */
  readonly at?: Path<never, At>;
  /**
   * An input that refuses clients that may not read them, such as a `Dep.join` of a credential. Everyone may read them by
   * default.
   */
  readonly guard?: Dep<unknown, Refuses, Wire>;
  /**
   * A reader of the application's own `MeterProvider`, whose instruments are then served: with the framework's, if that provider
   * is registered with `@opentelemetry/api`. By default the framework makes its own.
   */
  readonly reader?: MetricReader;
  /** Replaces the dynamic import, for a bundled program such as a Worker. */
  readonly packages?: MetricsPackages;
}

/**
 * `GET /metrics`: the metrics in Prometheus's text format. `http.server.request.duration` by method, route and status,
 * `http.server.active_requests`, open connections, bytes of bodies held, `http.client.request.duration`, and each pool's
 * connections. Its access line has level debug. It answers although the app is overloaded. Every
 * client can read it, unless a `guard` refuses.
 *
 * It needs the packages `@opentelemetry/sdk-metrics` and `@opentelemetry/exporter-prometheus`, and imports them when it is
 * called, unless `packages` has their classes. A provider registered with `@opentelemetry/api` gets the framework's
 * instruments too, with or without this route.
 *
 * @example
 * ```ts
 * await serve([...routes, ...Metrics.routes()]);
 * ```
 */
export function routes<At extends string = "/metrics", Refuses extends string = never, Wire = {}>(
  options: MetricsOptions<At, Refuses, Wire> = {},
): readonly [Route<"GET", At, Wire, Succeeded<number, unknown>, Refuses>] {
  needsOptions("Metrics.routes", options, "at guard reader packages");
  // Without a path, its type is the default's.
  const { at = of("metrics") as Path as Path<never, At>, guard, reader, packages } = options;
  needsPath("Metrics.routes: at", at);
  const source = reader === undefined ? ownSource(packages) : sourceOf(reader, packages);
  // A request reports the failure; until one comes, nothing awaits the promise.
  source.catch(() => {});
  const meta = Meta.empty.add(Meta.access, "debug").add(Meta.overload, "exempt");
  const summary = "What the server does, in figures";
  const inputs = guard === undefined ? {} : { guard };
  const route = get(at, { summary, inputs, returns: Returns.response, meta }, async () => {
    const collect = await source.catch(() => undefined);
    return collect === undefined ? internalRefusal(missing) : make(await collect(), { contentType });
  });
  return [route as Route<"GET", At, Wire, Succeeded<number, unknown>, Refuses>];
}

const contentType = "text/plain; version=0.0.4; charset=utf-8";
const missing =
  `Metrics.routes needs ${sdkPackage} and ${prometheusPackage}, or their classes in a bundle: ` +
  `npm install ${sdkPackage} ${prometheusPackage}`;

type Collect = () => Promise<string>;

// One per process, because the metrics describe the process.
let own: Promise<Collect> | undefined;

function ownSource(packages: MetricsPackages | undefined): Promise<Collect> {
  return (own ??= makeOwnSource(packages));
}

async function makeOwnSource(packages: MetricsPackages | undefined): Promise<Collect> {
  expectInstruments();
  try {
    const [{ reader, instruments }, serialize] = await Promise.all([ownReader(packages), serializer(packages)]);
    bringInstruments(instruments);
    return collector(reader, serialize);
  } catch (thrown) {
    giveUpInstruments();
    // The next call may be given the packages.
    own = undefined;
    throw thrown;
  }
}

async function sourceOf(reader: MetricReader, packages: MetricsPackages | undefined): Promise<Collect> {
  return collector(reader, await serializer(packages));
}

function collector(reader: MetricReader, serialize: Serialize): Collect {
  return async () => serialize((await reader.collect()).resourceMetrics);
}
