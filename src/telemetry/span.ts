import type {
  Context,
  ContextAPI,
  MeterProvider,
  Span,
  SpanContext,
  Tracer as OtelTracer,
  TracerProvider,
} from "@opentelemetry/api";
import { stripped } from "../http/fields.ts";
import { current, withinSpan } from "../logging/context.ts";
import type { Attributes, OpenSpan, SpanKind, TraceContext, Tracer } from "../logging/entry.ts";
import { logRaised } from "../logging/raised.ts";
import { traceFlags } from "./traceparent.ts";

const crockford = "0123456789abcdefghjkmnpqrstvwxyz";
const hexadecimal = "0123456789abcdef";

// A long piece costs least for each character, but must not delay the first request.
const firstSize = 512;
const size = 8192;

/**
 * Random text, cut from a long piece. An id of 12 characters costs 20 ns this way, and 1.4 µs on Node with randomness of its
 * own. The first piece is made on first use, because a Worker has no randomness before its first request.
 */
class RandomText {
  readonly #alphabet: string;
  /** Every pair of characters, indexed by its bits: two characters are written at once. */
  #pairs: Uint16Array | undefined = undefined;
  #text = "";
  #used = 0;

  constructor(alphabet: string) {
    this.#alphabet = alphabet;
  }

  take(characters: number): string {
    if (this.#used + characters > this.#text.length) this.#make();
    const at = this.#used;
    this.#used += characters;
    return this.#text.slice(at, this.#used);
  }

  // The alphabets have 16 and 32 characters, so all pairs are equally likely.
  #make(): void {
    const words = new Uint16Array((this.#pairs === undefined ? firstSize : size) / 2);
    const pairs = (this.#pairs ??= characterPairs(this.#alphabet));
    const last = pairs.length - 1;
    // Randomness costs the most: a byte selects one of the 256 pairs of 16 characters.
    const random = crypto.getRandomValues(last < 256 ? new Uint8Array(words.length) : new Uint16Array(words.length));
    for (let i = 0; i < words.length; i++) words[i] = pairs[(random[i] as number) & last] as number;
    this.#text = new TextDecoder().decode(words);
    this.#used = 0;
  }
}

function characterPairs(alphabet: string): Uint16Array {
  const characters = new TextEncoder().encode(alphabet);
  const { length } = characters;
  const pairs = new Uint8Array(length * length * 2);
  for (let i = 0; i < length * length; i++) {
    pairs[2 * i] = characters[Math.floor(i / length)] as number;
    pairs[2 * i + 1] = characters[i % length] as number;
  }
  return new Uint16Array(pairs.buffer);
}

const zeros = /* @__PURE__ */ "0".repeat(32);
const ids = /* @__PURE__ */ new RandomText(crockford);
const digits = /* @__PURE__ */ new RandomText(hexadecimal);

/** A request's id: twelve characters of `0-9a-z` without `i l o u`, 60 random bits. */
export function freshRequestId(): string {
  return ids.take(12);
}

/** Random lower-case hexadecimal digits, two for each byte; never all zero (W3C Trace Context §3.2.2.3). */
export function freshHex(bytes: number): string {
  const text = digits.take(bytes * 2);
  return zeros.startsWith(text) ? freshHex(bytes) : text;
}

/** The values of a header, one for each line. */
type TraceHeaderLines = (name: string) => readonly string[];

const traceparent = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

// W3C Trace Context §3.3.1.5: at least this many characters must be forwarded. A longer one is dropped.
const maxStateLength = 512;

/** Joins the trace of a `traceparent` (W3C Trace Context §3.2), or starts one. */
export function joinTrace(lines: TraceHeaderLines): TraceContext {
  const parents = lines("traceparent");
  const match = parents.length === 1 ? traceparentIn(parents[0] as string) : undefined;
  const spanId = freshHex(8);
  if (match === undefined) {
    return { traceId: freshHex(16), spanId, parentId: undefined, isSampled: false, isRandom: false, state: undefined };
  }
  const [, version, traceId, parentId, flags] = match;
  return {
    traceId: traceId as string,
    spanId,
    parentId,
    isSampled: (Number.parseInt(flags as string, 16) & 1) === 1,
    // Of a later version only the sampled flag is known.
    isRandom: version === "00" && (Number.parseInt(flags as string, 16) & 2) === 2,
    state: stateOf(lines("tracestate")),
  };
}

function traceparentIn(line: string): RegExpExecArray | undefined {
  const match = traceparent.exec(stripped(line));
  if (match === null) return undefined;
  const [, version, traceId, parentId, , more] = match;
  // Version 00 ends after its flags; a later version may continue after another dash.
  if (version === "ff" || (version === "00" && more !== undefined)) return undefined;
  return /^0+$/.test(traceId as string) || /^0+$/.test(parentId as string) ? undefined : match;
}

function stateOf(lines: readonly string[]): string | undefined {
  const state = lines
    .map((line) => stripped(line))
    .filter((line) => line !== "")
    .join(",");
  return state === "" || state.length > maxStateLength || !/^[\t\x20-\x7e]+$/.test(state) ? undefined : state;
}

/** An implementation of OpenTelemetry's `Context`, so that programs without tracing do not need the package. */
export class OtelContext {
  readonly #values: ReadonlyMap<symbol, unknown>;

  constructor(values: ReadonlyMap<symbol, unknown> = new Map()) {
    this.#values = values;
  }

  getValue(key: symbol): unknown {
    return this.#values.get(key);
  }

  setValue(key: symbol, value: unknown): OtelContext {
    return new OtelContext(new Map(this.#values).set(key, value));
  }

  deleteValue(key: symbol): OtelContext {
    const values = new Map(this.#values);
    values.delete(key);
    return new OtelContext(values);
  }
}

/** A `tracestate` as received. */
export class PassedState {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get(key: string): string | undefined {
    const members = this.#text.split(",").map((member) => stripped(member));
    return members.find((member) => member.startsWith(`${key}=`))?.slice(key.length + 1);
  }

  set(key: string, value: string): PassedState {
    const others = this.unset(key).serialize();
    return new PassedState(others === "" ? `${key}=${value}` : `${key}=${value},${others}`);
  }

  unset(key: string): PassedState {
    const members = this.#text.split(",").map((member) => stripped(member));
    return new PassedState(members.filter((member) => !member.startsWith(`${key}=`)).join(","));
  }

  serialize(): string {
    return this.#text;
  }
}

/** The globals of `@opentelemetry/api`. */
export interface Registered {
  readonly trace?: TracerProvider;
  readonly context?: Pick<ContextAPI, "active" | "with">;
  readonly metrics?: MeterProvider;
}

// The key that every copy of the package uses, so all of them share the registration.
const registry = /* @__PURE__ */ Symbol.for("opentelemetry.js.api.1");

/** What the application has registered, if anything. Reading it costs 20 ns, once a request. */
export function registered(): Registered | undefined {
  return (globalThis as { readonly [registry]?: Registered })[registry];
}

// The keys of a context, which every copy of `@opentelemetry/api` and `@opentelemetry/core` shares.
const spanKey = /* @__PURE__ */ Symbol.for("OpenTelemetry Context Key SPAN");
const suppressedKey = /* @__PURE__ */ Symbol.for("OpenTelemetry SDK Context Key SUPPRESS_TRACING");
const kinds: { readonly [Kind in SpanKind]: number } = { internal: 0, server: 1, client: 2 };

let provider: TracerProvider | undefined;
let tracer: RegisteredTracer | undefined;

/** The tracer of the provider that the application has registered with `@opentelemetry/api`, if any. */
export function registeredTracer(otel: Registered | undefined): RegisteredTracer | undefined {
  const trace = otel?.trace;
  if (trace === undefined) return undefined;
  if (trace !== provider) {
    provider = trace;
    tracer = new RegisteredTracer(trace.getTracer("usher-http"));
  }
  return tracer;
}

class RegisteredTracer implements Tracer {
  readonly #tracer: OtelTracer;

  constructor(tracer: OtelTracer) {
    this.#tracer = tracer;
  }

  open(trace: TraceContext, name: string, attributes: Attributes): OpenSpan | undefined {
    const active = activeContext();
    const outer = active.getValue(spanKey) as SdkSpan | undefined;
    // An instrumentation of the server itself has opened a span already, with the caller as its parent.
    if (outer !== undefined && isServerSpan(outer)) return new JoinedSpan(this, outer, active, attributes);
    const within = outer === undefined ? withSpan(active, callerOf(trace)) : active;
    return this.start(within, name, "server", attributes);
  }

  start(within: Context, name: string, kind: SpanKind, attributes: Attributes): OpenSpan | undefined {
    // A span of `suppressTracing` has zeros for its ids, which W3C Trace Context §3.2.2 forbids.
    if (within.getValue(suppressedKey) === true) return undefined;
    const span = this.#tracer.startSpan(name, { kind: kinds[kind], attributes }, within);
    if (kind === "server") ownSpans.add(span);
    return new RegisteredSpan(this, span, withSpan(within, span));
  }

  /** A span outside of requests. */
  root(name: string, kind: SpanKind, attributes: Attributes): OpenSpan | undefined {
    return this.start(activeContext(), name, kind, attributes);
  }
}

class RegisteredSpan implements OpenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
  readonly #tracer: RegisteredTracer;
  readonly #span: Span;
  readonly #context: Context;
  #hasRaised = false;

  constructor(tracer: RegisteredTracer, span: Span, context: Context) {
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.traceId = traceId;
    this.spanId = spanId;
    this.isSampled = (traceFlags & 1) === 1;
    this.#tracer = tracer;
    this.#span = span;
    this.#context = context;
  }

  child(name: string, kind: SpanKind, attributes: Attributes): OpenSpan | undefined {
    const active = activeContext();
    const inner = active.getValue(spanKey) as Span | undefined;
    // The application may have opened a span of its own in between.
    const isWithin = inner?.spanContext().traceId === this.traceId;
    return this.#tracer.start(isWithin ? active : this.#context, name, kind, attributes);
  }

  set(name: string, value: string | number | boolean): void {
    this.#change((span) => span.setAttribute(name, value));
  }

  rename(name: string): void {
    this.#change((span) => span.updateName(name));
  }

  fail(reason: string): void {
    this.#change((span) => span.setStatus({ code: 2, message: reason }));
  }

  end(): void {
    this.#change((span) => span.end());
  }

  // The span is the application's and may throw, once or always: the work continues, and one line is enough.
  #change(act: (span: Span) => void): void {
    try {
      act(this.#span);
    } catch (thrown) {
      if (!this.#hasRaised) logRaised("a span of the registered tracer raised", thrown, current());
      this.#hasRaised = true;
    }
  }

  run<A>(work: () => A): A {
    const context = registered()?.context;
    return context === undefined ? work() : context.with(this.#context, work);
  }
}

/** A span of OpenTelemetry's SDK, which tells its kind. */
type SdkSpan = Span & { readonly kind?: unknown };

/** The spans of requests: an app that another one calls in its process has a span of its own. */
const ownSpans = /* @__PURE__ */ new WeakSet<Span>();

/** Whether a span is the one that `@opentelemetry/instrumentation-http`, or the like, opened for the request that now begins. */
function isServerSpan(span: SdkSpan): boolean {
  return span.kind === kinds.server && span.isRecording() && !ownSpans.has(span);
}

/** The route of a request, for the metrics and the span of `@opentelemetry/instrumentation-http`. */
const rpcKey = /* @__PURE__ */ Symbol.for("OpenTelemetry SDK Context Key RPC_METADATA");

/** The span of a request that an instrumentation of the server has opened: two for one request would count it twice. */
class JoinedSpan extends RegisteredSpan {
  readonly #outer: Context;

  constructor(tracer: RegisteredTracer, span: Span, outer: Context, attributes: Attributes) {
    super(tracer, span, outer);
    this.#outer = outer;
    ownSpans.add(span);
    for (const [name, value] of Object.entries(attributes)) if (value !== undefined) this.set(name, value);
  }

  override set(name: string, value: string | number | boolean): void {
    super.set(name, value);
    const metadata = name === "http.route" ? this.#outer.getValue(rpcKey) : undefined;
    if (typeof metadata === "object" && metadata !== null) Object.assign(metadata, { route: value });
  }

  /** The instrumentation ends it, once the response is sent. */
  override end(): void {}
}

function activeContext(): Context {
  return registered()?.context?.active() ?? new OtelContext();
}

function withSpan(context: Context, span: Pick<Span, "spanContext"> | undefined): Context {
  return span === undefined ? context : context.setValue(spanKey, span);
}

function callerOf(trace: TraceContext): Pick<Span, "spanContext"> | undefined {
  const { traceId, parentId, state } = trace;
  if (parentId === undefined) return undefined;
  const caller: SpanContext = { traceId, spanId: parentId, traceFlags: traceFlags(trace), isRemote: true };
  if (state !== undefined) caller.traceState = new PassedState(state);
  return { spanContext: () => caller };
}

/**
 * Opens a child of the current span, if that is recorded. Outside of requests, only with a registered provider. Undefined where
 * that throws: its work is done all the same.
 */
export function openSpan(name: string, kind: SpanKind, attributes: Attributes): OpenSpan | undefined {
  const context = current();
  try {
    if (context?.span !== undefined) return context.span.child(name, kind, attributes);
    if (context?.requestId !== undefined) return undefined;
    return registeredTracer(registered())?.root(name, kind, attributes);
  } catch (thrown) {
    logRaised("the registered tracer raised", thrown, context);
    return undefined;
  }
}

/** Runs work within a span: its lines have the span's id, and its spans are children. */
export function inSpan<A>(span: OpenSpan, work: () => A): A {
  return withinSpan(span, work);
}

/**
 * Opens the span of a statement, for a database driver. The caller ends it, after `fail` if the statement failed. Undefined,
 * and free, where nothing is recorded.
 *
 * @param text The statement as written, with `$1` for its parameters. It never contains a parameter's value.
 */
export function openStatement(text: string): OpenSpan | undefined {
  return openSpan("postgresql", "client", { "db.system.name": "postgresql", "db.query.text": text });
}
