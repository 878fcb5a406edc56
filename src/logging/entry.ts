/** A request's trace and its span in it. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  /** The caller's span; undefined where the trace begins here. */
  readonly parentId: string | undefined;
  /** Whether the caller records the trace. */
  readonly isSampled: boolean;
  /** The `tracestate` that tracing systems forward, unchanged. */
  readonly state: string | undefined;
}

/** The attributes of a span, with OpenTelemetry's names. */
export interface Attributes {
  readonly [name: string]: string | number | boolean | undefined;
}

/** `server` handles a call, `client` makes one, `internal` does neither. */
export type SpanKind = "internal" | "server" | "client";

/** An open span, of the app's exporter or of a provider that the application registered. */
export interface OpenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
  /** Opens a span within it. */
  child(name: string, kind: SpanKind, attributes: Attributes): OpenSpan;
  set(name: string, value: string | number | boolean): void;
  rename(name: string): void;
  /** Marks it as failed, with an error's kind or a status, and never a message. */
  fail(reason: string): void;
  end(): void;
  /** Runs work whose spans become its children, also those of other libraries. */
  run?<A>(work: () => A): A;
}

/** Opens the spans of requests. */
export interface Tracer {
  /** Opens a span; undefined where the trace is not recorded. */
  open(trace: TraceContext, name: string, attributes: Attributes): OpenSpan | undefined;
}

/** `error` is a bug, `warn` is handled but degraded, `info` is what happened, `debug` is how. */
export type Level = "error" | "warn" | "info" | "debug";

const ranks: { readonly [L in Level]: number } = { error: 0, warn: 1, info: 2, debug: 3 };

/** Whether a line of this level passes a threshold; undefined turns a source off. */
export function passes(level: Level, threshold: Level | undefined): boolean {
  return threshold !== undefined && ranks[level] <= ranks[threshold];
}

/** What every line has that is logged during some work: a request's ids, and tags. */
export interface LogContext {
  /** Only letters, digits, `-`, `_` and `.`; undefined outside of a request. */
  readonly requestId: string | undefined;
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
  /** Fields that `Log.tags` added. */
  readonly tags?: LogFields | undefined;
  /** The open span, if the trace is recorded. */
  readonly span?: OpenSpan | undefined;
  /** Whether the trace is recorded; outgoing calls get this flag. */
  readonly isSampled: boolean;
  /** The `tracestate` to forward. */
  readonly traceState: string | undefined;
}

/** A line's own fields, in order. */
export interface LogFields {
  readonly [key: string]: string | number | bigint | boolean | undefined;
}

/** `json` for machines, `pretty` for a terminal. */
export type Format = "pretty" | "json";

/** One log entry. */
export interface LogEntry {
  readonly level: Level;
  readonly source: string;
  readonly message: string;
  readonly fields: LogFields;
  /** The whole line as JSON, where that is faster than from the parts. */
  json?(at: number): string;
  readonly context: LogContext | undefined;
}
