/** The trace a request belongs to, and its own span in it. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  /** The caller's span; undefined where the trace begins here. */
  readonly parentId: string | undefined;
  /** Whether the caller records the trace. */
  readonly isSampled: boolean;
  /** What tracing systems pass on beside it, as it came. */
  readonly state: string | undefined;
}

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

/** `error` is a bug, `warn` handled but degraded, `info` what happened, `debug` how. */
export type Level = "error" | "warn" | "info" | "debug";

const ranks: { readonly [L in Level]: number } = { error: 0, warn: 1, info: 2, debug: 3 };

/** Whether a line of this level is written where `threshold` is set; undefined turns a source off. */
export function passes(level: Level, threshold: Level | undefined): boolean {
  return threshold !== undefined && ranks[level] <= ranks[threshold];
}

/** What every line carries that is logged while some work runs: a request's, or what was given tags of its own. */
export interface LogContext {
  /** Letters, digits, `-`, `_` and `.` alone; undefined outside of a request. */
  readonly requestId: string | undefined;
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
  /** Fields that `Log.tags` added. */
  readonly tags?: LogFields | undefined;
  /** The span that is open, where the trace is recorded. */
  readonly span?: OpenSpan | undefined;
  /** Whether somebody records the trace, as those that are called next are told. */
  readonly isSampled: boolean;
  /** What is passed on beside the trace. */
  readonly traceState: string | undefined;
}

/** A line's own fields, in the order they are written. */
export interface LogFields {
  readonly [key: string]: string | number | bigint | boolean | undefined;
}

/** `json` for machines, `pretty` for a terminal. */
export type Format = "pretty" | "json";

/** One thing to be logged. */
export interface LogEntry {
  readonly level: Level;
  readonly source: string;
  readonly message: string;
  readonly fields: LogFields;
  /** The whole line as JSON, where that is made quicker than from the parts. */
  json?(at: number): string;
  readonly context: LogContext | undefined;
}
