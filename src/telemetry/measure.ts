import type { Attributes, Histogram, MeterProvider, ObservableResult } from "@opentelemetry/api";
import { registered } from "./span.ts";
import type { Registered } from "./span.ts";

/** What the process's apps do at this moment. */
export const figures: {
  /** Requests with no answer yet. */
  requests: number;
  /** Bytes of bodies that are held. */
  bodyBytes: number;
} = { requests: 0, bodyBytes: 0 };

/** Connections of a pool, and who waits for one. */
interface PoolFigures {
  readonly idle: number;
  readonly used: number;
  readonly pending: number;
}

type ReadFigures = () => PoolFigures;
// A collector goes on telling what it was told last: a name whose pools are closed has none, and is not forgotten.
const pools = /* @__PURE__ */ new Map<string, Set<ReadFigures>>();

/**
 * Has a pool's figures read whenever somebody collects them.
 *
 * @param name Of the pool, as `postgres`; those of one name are counted together.
 * @returns what ends that, for when the pool is closed.
 */
export function measurePool(name: string, read: ReadFigures): () => void {
  const named = pools.get(name) ?? new Set();
  pools.set(name, named.add(read));
  return () => {
    named.delete(read);
  };
}

/** The pools' figures now, by their names. */
function poolFigures(): readonly (readonly [name: string, PoolFigures])[] {
  return [...pools].map(([name, reads]) => {
    const all = [...reads].map((read) => read());
    const sum = (of: keyof PoolFigures) => all.reduce((total, figures) => total + figures[of], 0);
    return [name, { idle: sum("idle"), used: sum("used"), pending: sum("pending") }];
  });
}

let knowsConnections = false;
const listeners = /* @__PURE__ */ new Set<() => number>();

/**
 * Has a listener's open connections counted whenever somebody collects them. One that cannot know them has none counted.
 *
 * @returns what ends that, for when the listener has stopped.
 */
export function measureConnections(read: () => number): () => void {
  knowsConnections = true;
  listeners.add(read);
  return () => {
    listeners.delete(read);
  };
}

/** Connections that are open now; undefined where no listener ever knew. */
function openConnections(): number | undefined {
  return knowsConnections ? [...listeners].reduce((total, read) => total + read(), 0) : undefined;
}

/** What the semantic conventions for HTTP advise, in seconds. */
const boundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** The framework's instruments on one provider, by OpenTelemetry's names. */
export class Instruments {
  readonly #served: Histogram;
  readonly #called: Histogram;

  constructor(provider: MeterProvider) {
    const meter = provider.getMeter("usher-http");
    const inSeconds = (description: string) => ({
      description,
      unit: "s",
      advice: { explicitBucketBoundaries: boundaries },
    });
    this.#served = meter.createHistogram(
      "http.server.request.duration",
      inSeconds("Duration of HTTP server requests."),
    );
    this.#called = meter.createHistogram(
      "http.client.request.duration",
      inSeconds("Duration of HTTP client requests."),
    );
    const now = (name: string, unit: string, description: string, observe: (result: ObservableResult) => void) =>
      meter.createObservableUpDownCounter(name, { unit, description }).addCallback(observe);
    now("http.server.active_requests", "{request}", "Number of active HTTP server requests.", (result) =>
      result.observe(figures.requests),
    );
    now("framework.server.body_budget.used", "By", "Bytes of request bodies that are held.", (result) =>
      result.observe(figures.bodyBytes),
    );
    // OpenTelemetry has a name for a client's alone.
    now("framework.server.open_connections", "{connection}", "Number of open connections of servers.", (result) => {
      const open = openConnections();
      if (open !== undefined) result.observe(open);
    });
    now("db.client.connection.count", "{connection}", "The number of connections that are in a state.", (result) => {
      for (const [name, { idle, used }] of poolFigures()) {
        const pool = { "db.client.connection.pool.name": name };
        result.observe(idle, { ...pool, "db.client.connection.state": "idle" });
        result.observe(used, { ...pool, "db.client.connection.state": "used" });
      }
    });
    now(
      "db.client.connection.pending_requests",
      "{request}",
      "The number of pending requests for a connection.",
      (result) => {
        for (const [name, { pending }] of poolFigures())
          result.observe(pending, { "db.client.connection.pool.name": name });
      },
    );
  }

  served(seconds: number, attributes: Attributes): void {
    this.#served.record(seconds, attributes);
  }

  called(seconds: number, attributes: Attributes): void {
    this.#called.record(seconds, attributes);
  }
}

type InstrumentKind = "served" | "called";
interface Measured {
  readonly kind: InstrumentKind;
  readonly seconds: number;
  readonly attributes: Attributes;
}

let provider: MeterProvider | undefined;
let theirs: Instruments | undefined;
/** The instruments of `Metrics.routes`, or what was measured until they were there. */
let own: Instruments | Measured[] | undefined;

const mostKept = 10_000;

/** Whether anybody measures: a provider that the application registered, or `Metrics.routes`. */
export function isMeasured(otel: Registered | undefined): boolean {
  return own !== undefined || otel?.metrics !== undefined;
}

/** Has everything measured from now on, for instruments that come later. */
export function expectInstruments(): void {
  own ??= [];
}

/** The instruments that were expected. */
export function bringInstruments(brought: Instruments): void {
  const kept = Array.isArray(own) ? own : [];
  own = brought;
  for (const { kind, seconds, attributes } of kept) brought[kind](seconds, attributes);
}

/** They will not come. */
export function giveUpInstruments(): void {
  if (Array.isArray(own)) own = undefined;
}

/** Takes down how long a request took that was answered, or one that was made. */
export function measure(kind: InstrumentKind, seconds: number, attributes: Attributes): void {
  instruments()?.[kind](seconds, attributes);
  if (own === undefined) return;
  if (!Array.isArray(own)) own[kind](seconds, attributes);
  else if (own.length < mostKept) own.push({ kind, seconds, attributes });
}

function instruments(): Instruments | undefined {
  const metrics = registered()?.metrics;
  if (metrics !== provider) {
    provider = metrics;
    theirs = metrics === undefined ? undefined : new Instruments(metrics);
  }
  return theirs;
}
