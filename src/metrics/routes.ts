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
import { loadOwnReader, loadSerializer } from "./prometheus.ts";
import type { Serialize } from "./prometheus.ts";
import type { MetricReader } from "./reader.ts";

/** Where the figures are served, and whose they are. */
export interface MetricsOptions<At extends string = string> {
  /** `/metrics` unless set. */
  readonly at?: Path<{}, At>;
  /** A reader of the application's own `MeterProvider`, whose instruments are then served; the framework's own unless set. */
  readonly reader?: MetricReader;
}

/**
 * `GET /metrics`: the figures, in the text form that Prometheus reads. `http.server.request.duration` by method, route and
 * status, `http.server.active_requests`, bytes of bodies held, `http.client.request.duration`, and each pool's connections.
 * Its access line is at debug. Whoever can reach it reads it: serve it where only Prometheus can.
 *
 * It needs the packages `@opentelemetry/sdk-metrics` and `@opentelemetry/exporter-prometheus`, and loads them when it is
 * called; of a provider registered with `@opentelemetry/api` the framework's instruments are too, with or without it.
 *
 * @example
 * ```ts
 * await serve([...routes, ...Metrics.routes()]);
 * ```
 */
export function routes<At extends string = "/metrics">(
  options: MetricsOptions<At> = {},
): readonly [Route<"GET", At, {}, Succeeded<number, unknown>, never>] {
  // Where no path is given, its type is the default's.
  const { at = of("metrics") as Path as Path<{}, At>, reader } = options;
  const source = reader === undefined ? ownSource() : sourceOf(reader);
  // Whoever asks is told; until then nobody waits for it.
  source.catch(() => {});
  const meta = Meta.empty.add(Meta.access, "debug");
  const summary = "What the server does, in figures";
  return [
    get(at, { summary, returns: Returns.response, meta }, async () => {
      const collect = await source.catch(() => undefined);
      return collect === undefined
        ? refuse(internal, undefined, { detail: missing })
        : make(await collect(), { contentType });
    }),
  ];
}

const contentType = "text/plain; version=0.0.4; charset=utf-8";
const missing = "Metrics.routes needs @opentelemetry/sdk-metrics and @opentelemetry/exporter-prometheus";

type Collect = () => Promise<string>;

// One for the process: its figures are the process's.
let own: Promise<Collect> | undefined;

function ownSource(): Promise<Collect> {
  return (own ??= makeOwnSource());
}

async function makeOwnSource(): Promise<Collect> {
  expectInstruments();
  try {
    const [{ reader, instruments }, serialize] = await Promise.all([loadOwnReader(), loadSerializer()]);
    bringInstruments(instruments);
    return collector(reader, serialize);
  } catch (thrown) {
    giveUpInstruments();
    throw thrown;
  }
}

async function sourceOf(reader: MetricReader): Promise<Collect> {
  return collector(reader, await loadSerializer());
}

function collector(reader: MetricReader, serialize: Serialize): Collect {
  return async () => serialize((await reader.collect()).resourceMetrics);
}
