import type { Attributes, Histogram, MeterProvider, ObservableResult } from "@opentelemetry/api";
import { current } from "../logging/context.ts";
import { logRaised } from "../logging/raised.ts";
import { registered } from "./span.ts";
import type { Registered } from "./span.ts";

/** What the process's apps do now. */
export const figures: {
  /** Requests without a response yet. */
  requests: number;
  /** Bytes of bodies in memory. */
  bodyBytes: number;
  /** Tasks for after an answer that wait or run. */
  tasks: number;
  /** Works of the application's own that run. */
  works: number;
} = { requests: 0, bodyBytes: 0, tasks: 0, works: 0 };

/** Requests refused past a bound of their app, by the option that sets it. A collector keeps what it has seen. */
const refused = /* @__PURE__ */ new Map<string, number>();

/** Counts refused requests. With 0 a bound is reported from now on. */
export function countRefused(bound: string, requests: number): void {
  refused.set(bound, (refused.get(bound) ?? 0) + requests);
}

/** A pool's connections and waiting queries. */
interface PoolFigures {
  readonly idle: number;
  readonly used: number;
  readonly pending: number;
}

type ReadFigures = () => PoolFigures;
// A collector keeps reporting the last value of a name, so a name whose pools are closed stays, with zeros.
const pools = /* @__PURE__ */ new Map<string, Set<ReadFigures>>();

/**
 * Registers a pool, which each collection reads.
 *
 * @param name The pool's name, such as `postgres`; pools with one name are added up.
 * @returns Ends it; call it when the pool closes.
 */
export function measurePool(name: string, read: ReadFigures): () => void {
  const named = pools.get(name) ?? new Set();
  pools.set(name, named.add(read));
  return () => {
    named.delete(read);
  };
}

/** The pools' current figures by name. */
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
 * Registers a listener's open connections, which each collection reads. Not for a listener that cannot count them.
 *
 * @returns Ends it; call it when the listener has stopped.
 */
export function measureConnections(read: () => number): () => void {
  knowsConnections = true;
  listeners.add(read);
  return () => {
    listeners.delete(read);
  };
}

/** The number of open connections; undefined where no listener ever counted them. */
function openConnections(): number | undefined {
  return knowsConnections ? [...listeners].reduce((total, read) => total + read(), 0) : undefined;
}

/** The bucket boundaries of the semantic conventions for HTTP, in seconds. */
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
    now("framework.server.after.active", "{task}", "Number of tasks after answers that wait or run.", (result) =>
      result.observe(figures.tasks),
    );
    now("framework.background.active", "{work}", "Number of works of the application's own that run.", (result) =>
      result.observe(figures.works),
    );
    meter
      .createObservableCounter("framework.server.overload.refused", {
        unit: "{request}",
        description: "Number of requests refused because the server was overloaded.",
      })
      .addCallback((result) => {
        for (const [bound, requests] of refused) result.observe(requests, { "framework.overload.bound": bound });
      });
    // OpenTelemetry has a name only for a client's connections.
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
let registeredInstruments: Instruments | undefined;
/** The instruments of `Metrics.routes`, or what was measured before they were loaded. */
let own: Instruments | Measured[] | undefined;

const maxKept = 10_000;

/** Whether there is a provider: one that the application registered, or that of `Metrics.routes`. */
export function isMeasured(otel: Registered | undefined): boolean {
  return own !== undefined || otel?.metrics !== undefined;
}

/** Measures everything from now on, for instruments that are being loaded. */
export function expectInstruments(): void {
  own ??= [];
}

/** Sets the loaded instruments. */
export function bringInstruments(brought: Instruments): void {
  const kept = Array.isArray(own) ? own : [];
  own = brought;
  for (const { kind, seconds, attributes } of kept) brought[kind](seconds, attributes);
}

/** Loading the instruments failed. */
export function giveUpInstruments(): void {
  own = undefined;
}

/** Records the duration of a request that was served or sent. A meter of the application's that throws is an error line. */
export function measure(kind: InstrumentKind, seconds: number, attributes: Attributes): void {
  try {
    instruments()?.[kind](seconds, attributes);
  } catch (thrown) {
    logRaised("the registered meter raised", thrown, current());
  }
  if (own === undefined) return;
  if (!Array.isArray(own)) own[kind](seconds, attributes);
  else if (own.length < maxKept) own.push({ kind, seconds, attributes });
}

function instruments(): Instruments | undefined {
  const metrics = registered()?.metrics;
  if (metrics !== provider) {
    provider = metrics;
    registeredInstruments = metrics === undefined ? undefined : new Instruments(metrics);
  }
  return registeredInstruments;
}
