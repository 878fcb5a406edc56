import type { Attributes, Histogram, MeterProvider, ObservableResult } from "@opentelemetry/api";
import { figures, openConnections, poolFigures } from "./figures.ts";

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
