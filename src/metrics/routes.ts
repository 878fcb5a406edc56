import { make } from "../answers/build.ts";
import * as Returns from "../answers/returns.ts";
import type { Succeeded } from "../answers/returned.ts";
import { bringInstruments, expectInstruments, giveUpInstruments } from "../measuring/measure.ts";
import { internal } from "../refusals/framework-codes.ts";
import { refuse } from "../refusals/refusal.ts";
import * as Meta from "../routes/meta.ts";
import { of } from "../routes/path.ts";
import type { Path } from "../routes/path.ts";
import { get } from "../routes/route.ts";
import type { Route } from "../routes/route.ts";
import type { Dep } from "../inputs/dep.ts";
import { ownReader, serializer } from "./prometheus.ts";
import type { MetricsPackages, Serialize } from "./prometheus.ts";
import type { MetricReader } from "./reader.ts";

/** Where the figures are served, to whom, and whose they are. */
export interface MetricsOptions<At extends string = string, Refuses extends string = string, Wire = unknown> {
  /** `/metrics` unless set. */
  readonly at?: Path<{}, At>;
  /** An input that refuses whoever may not read them, as a `Dep.join` of a credential does; none unless set. */
  readonly guard?: Dep<unknown, Refuses, Wire>;
  /** A reader of the application's own `MeterProvider`, whose instruments are then served; the framework's own unless set. */
  readonly reader?: MetricReader;
  /** What is loaded otherwise: for a program that is bundled, as a Worker is. */
  readonly packages?: MetricsPackages;
}

/**
 * `GET /metrics`: the figures, in the text form that Prometheus reads. `http.server.request.duration` by method, route and
 * status, `http.server.active_requests`, open connections, bytes of bodies held, `http.client.request.duration`, and each
 * pool's connections. Its access line is at debug. Whoever can reach it reads it, unless a `guard` refuses them.
 *
 * It stands on the packages `@opentelemetry/sdk-metrics` and `@opentelemetry/exporter-prometheus`, and loads them when it is
 * called, unless it is given them; of a provider registered with `@opentelemetry/api` the framework's instruments are too,
 * with or without it.
 *
 * @example
 * ```ts
 * await serve([...routes, ...Metrics.routes()]);
 * ```
 */
export function routes<At extends string = "/metrics", Refuses extends string = never, Wire = {}>(
  options: MetricsOptions<At, Refuses, Wire> = {},
): readonly [Route<"GET", At, Wire, Succeeded<number, unknown>, Refuses>] {
  // Where no path is given, its type is the default's.
  const { at = of("metrics") as Path as Path<{}, At>, guard, reader, packages } = options;
  const source = reader === undefined ? ownSource(packages) : sourceOf(reader, packages);
  // Whoever asks is told; until then nobody waits for it.
  source.catch(() => {});
  const meta = Meta.empty.add(Meta.access, "debug");
  const summary = "What the server does, in figures";
  const inputs = guard === undefined ? {} : { guard };
  const route = get(at, { summary, inputs, returns: Returns.response, meta }, async () => {
    const collect = await source.catch(() => undefined);
    return collect === undefined
      ? refuse(internal, undefined, { detail: missing })
      : make(await collect(), { contentType });
  });
  return [route as Route<"GET", At, Wire, Succeeded<number, unknown>, Refuses>];
}

const contentType = "text/plain; version=0.0.4; charset=utf-8";
const missing =
  "Metrics.routes needs @opentelemetry/sdk-metrics and @opentelemetry/exporter-prometheus, or their classes in a bundle";

type Collect = () => Promise<string>;

// One for the process: its figures are the process's.
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
    throw thrown;
  }
}

async function sourceOf(reader: MetricReader, packages: MetricsPackages | undefined): Promise<Collect> {
  return collector(reader, await serializer(packages));
}

function collector(reader: MetricReader, serialize: Serialize): Collect {
  return async () => serialize((await reader.collect()).resourceMetrics);
}
