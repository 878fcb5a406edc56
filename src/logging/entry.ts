/** A request's trace and its span in it. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  /** The caller's span; undefined where the trace begins here. */
  readonly parentId: string | undefined;
  /** Whether the caller records the trace. */
  readonly isSampled: boolean;
  /** Whether the caller says that the trace's id is random (W3C Trace Context Level 2). */
  readonly isRandom: boolean;
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
  /** Opens a span within it; undefined where that is not recorded. */
  child(name: string, kind: SpanKind, attributes: Attributes): OpenSpan | undefined;
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

/** The deadline of a request. The calls that its work makes end with it. */
export interface WorkDeadline {
  /** Aborts once it has passed without an answer. */
  readonly signal: AbortSignal;
  /** Called before a commit is sent: if the deadline passes from now on, whether the work is done is unknown. */
  noteCommit(): void;
}

/** What every line has that is logged during some work: a request's ids, and tags. */
export interface LogContext {
  /** Only letters, digits, `-`, `_` and `.`; undefined outside of a request. */
  readonly requestId: string | undefined;
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
  /** Fields that `Log.tags` and `Log.tag` added. */
  readonly tags?: LogFields | undefined;
  /** Adds fields to each later line of the request; missing outside of one. */
  addTags?(fields: LogFields): void;
  /** The open span, if the trace is recorded. */
  readonly span?: OpenSpan | undefined;
  /** Whether the trace is recorded; outgoing calls get this flag. */
  readonly isSampled: boolean;
  /** Whether the caller's flag calls the trace's id random; outgoing calls get it. */
  readonly isRandom: boolean;
  /** The deadline of the work; undefined without one, and once the request is answered. */
  readonly deadline?: WorkDeadline | undefined;
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

/**
 * One JSON object with members in a fixed order: the time, the level, the source, the message, the request's members, the
 * line's own.
 */
export function jsonLine(entry: LogEntry, at: number): string {
  const { level, source, message, context } = entry;
  let line = `{"timestamp":"${timestamp(at)}","level":"${level}","logger.name":${name(source)},"message":${quoted(message)}`;
  if (context !== undefined) line += jsonContext(context);
  const { fields } = entry;
  const tags = context?.tags;
  if (hasOwnName(fields, context) || (tags !== undefined && hasOwnName(tags, context)))
    return `${line}${jsonFields(renamed({ ...tags, ...fields }, context))}}`;
  return `${line}${jsonTags(tags, fields)}${jsonFields(fields)}}`;
}

/** Whether a line has a member of this name itself. */
function isOwnName(name: string, context: LogContext | undefined): boolean {
  switch (name) {
    case "timestamp":
    case "level":
    case "logger.name":
    case "message":
      return true;
    case "request_id":
      return context?.requestId !== undefined;
    case "trace_id":
    case "span_id":
      return context?.traceId !== undefined;
    default:
      return false;
  }
}

function hasOwnName(fields: LogFields, context: LogContext | undefined): boolean {
  for (const name in fields) if (isOwnName(name, context)) return true;
  return false;
}

/** An application's `message` as `field.message`, unless it has that, too: of two members of one name a reader keeps any. */
function renamed(fields: LogFields, context: LogContext | undefined): LogFields {
  const entries = Object.entries(fields).flatMap(([name, value]) => {
    if (!isOwnName(name, context)) return [[name, value] as const];
    const other = `field.${name}`;
    return Object.hasOwn(fields, other) ? [] : [[other, value] as const];
  });
  return Object.fromEntries(entries);
}

/** The members that identify a line's request. */
export function jsonContext({ requestId, traceId, spanId }: LogContext): string {
  const ids = requestId === undefined ? "" : `,"request_id":"${requestId}"`;
  return traceId === undefined ? ids : `${ids},"trace_id":"${traceId}","span_id":"${spanId}"`;
}

// A line's own field replaces a tag of the same name, because no member may be there twice.
function jsonTags(tags: LogFields | undefined, fields: LogFields): string {
  if (tags === undefined) return "";
  return jsonFields(Object.fromEntries(Object.entries(tags).filter(([key]) => !Object.hasOwn(fields, key))));
}

function jsonFields(fields: LogFields): string {
  let text = "";
  for (const key in fields) {
    const value = fields[key];
    if (value !== undefined) text += `,${name(key)}:${jsonValue(value)}`;
  }
  return text;
}

// Names of sources and fields are few and repeat with every line. The limit bounds an application that generates names.
const names = new Map<string, string>();
const maxNames = 500;

function name(text: string): string {
  let written = names.get(text);
  if (written === undefined) {
    written = JSON.stringify(text);
    if (names.size < maxNames) names.set(text, written);
  }
  return written;
}

function jsonValue(value: string | number | bigint | boolean): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number" && !Number.isInteger(value)) return Number.isFinite(value) ? String(value) : "null";
  // A program without types may pass anything; a line is JSON in any case.
  if (typeof value !== "number" && typeof value !== "bigint")
    return value === null ? "null" : quoted(loggedText(value));
  // A reader that parses numbers as doubles would lose digits.
  return value > Number.MAX_SAFE_INTEGER || value < Number.MIN_SAFE_INTEGER ? `"${digitsOf(value)}"` : String(value);
}

/** The digits of a whole number: JavaScript writes 2 ** 60 with zeros at its end, and begins to write an exponent at 1e21. */
function digitsOf(value: number | bigint): string {
  return String(typeof value === "number" && Math.abs(value) < 1e21 ? BigInt(value) : value);
}

/** The text of any value: a program without types may log an error, or an object that has no text. */
export function loggedText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return typeof value;
  }
}

function quoted(text: string): string {
  return `"${escaped(text)}"`;
}

/** The escaped text without quotes. Nearly every text is plain ASCII: the test costs a quarter of `JSON.stringify`. */
export function escaped(text: string): string {
  return /[^ !#-[\]-~]/.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

let millisecond = Number.NaN;
let text = "";

/** `YYYY-MM-DDTHH:MM:SS.mmmZ`, formatted once a millisecond, because many lines share it. */
export function timestamp(at: number): string {
  if (at !== millisecond) {
    millisecond = at;
    text = new Date(at).toISOString();
  }
  return text;
}
