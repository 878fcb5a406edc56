import type { TraceContext } from "./trace-context.ts";

/** What a span says of itself, under OpenTelemetry's names. */
export interface Attributes {
  readonly [name: string]: string | number | boolean | undefined;
}

/** Who asked for the work (`server`), who has it done elsewhere (`client`), or neither. */
export type SpanKind = "internal" | "server" | "client";

/** A span that is open, whoever keeps it: an exporter of the app's, or a provider that the application registered. */
export interface OpenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
  /** Opens a span within it. */
  child(name: string, kind: SpanKind, attributes: Attributes): OpenSpan;
  set(name: string, value: string | number | boolean): void;
  rename(name: string): void;
  /** It failed: an error's kind or a status, and never a message. */
  fail(why: string): void;
  end(): void;
  /** Runs work whose spans, by whatever library, are within it. */
  run?<A>(work: () => A): A;
}

/** Opens the spans of requests. */
export interface Tracer {
  /** Undefined where the trace is not recorded. */
  open(trace: TraceContext, name: string, attributes: Attributes): OpenSpan | undefined;
}
