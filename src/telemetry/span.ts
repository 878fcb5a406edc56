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

/** OpenTelemetry's context, as its interface says and no more: whoever traces has the package, and nobody else needs it. */
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

/** A `tracestate` as it came. */
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

/** What is registered with `@opentelemetry/api`. */
export interface Registered {
  readonly trace?: TracerProvider;
  readonly context?: Pick<ContextAPI, "active" | "with">;
  readonly metrics?: MeterProvider;
}

// Where every copy of the package looks, so that all of them find what one has registered.
const registry = /* @__PURE__ */ Symbol.for("opentelemetry.js.api.1");

/** What the application has registered, if anything. It costs 20 ns to look: a request does once. */
export function registered(): Registered | undefined {
  return (globalThis as { readonly [registry]?: Registered })[registry];
}

// The key of a span in a context, as every copy of `@opentelemetry/api` has it.
const spanKey = /* @__PURE__ */ Symbol.for("OpenTelemetry Context Key SPAN");
const kinds: { readonly [Kind in SpanKind]: number } = { internal: 0, server: 1, client: 2 };

let provider: TracerProvider | undefined;
let tracer: RegisteredTracer | undefined;

/** Traces with the provider that the application has registered with `@opentelemetry/api`, if it has. */
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

  open(trace: TraceContext, name: string, attributes: Attributes): OpenSpan {
    const active = activeContext();
    // Whoever instruments the server itself has opened one already, and knows the caller.
    const hasSpan = active.getValue(spanKey) !== undefined;
    return this.start(hasSpan ? active : withSpan(active, callerOf(trace)), name, "server", attributes);
  }

  start(within: Context, name: string, kind: SpanKind, attributes: Attributes): OpenSpan {
    const span = this.#tracer.startSpan(name, { kind: kinds[kind], attributes }, within);
    return new RegisteredSpan(this, span, withSpan(within, span));
  }

  /** A span that belongs to no request. */
  root(name: string, kind: SpanKind, attributes: Attributes): OpenSpan {
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

  constructor(tracer: RegisteredTracer, span: Span, context: Context) {
    const { traceId, spanId, traceFlags } = span.spanContext();
    this.traceId = traceId;
    this.spanId = spanId;
    this.isSampled = (traceFlags & 1) === 1;
    this.#tracer = tracer;
    this.#span = span;
    this.#context = context;
  }

  child(name: string, kind: SpanKind, attributes: Attributes): OpenSpan {
    const active = activeContext();
    const inner = active.getValue(spanKey) as Span | undefined;
    // One that the application opened of its own within this one comes between.
    const isWithin = inner?.spanContext().traceId === this.traceId;
    return this.#tracer.start(isWithin ? active : this.#context, name, kind, attributes);
  }

  set(name: string, value: string | number | boolean): void {
    this.#span.setAttribute(name, value);
  }

  rename(name: string): void {
    this.#span.updateName(name);
  }

  fail(why: string): void {
    this.#span.setStatus({ code: 2, message: why });
  }

  end(): void {
    this.#span.end();
  }

  run<A>(work: () => A): A {
    const context = registered()?.context;
    return context === undefined ? work() : context.with(this.#context, work);
  }
}

function activeContext(): Context {
  return registered()?.context?.active() ?? new OtelContext();
}

function withSpan(context: Context, span: Pick<Span, "spanContext"> | undefined): Context {
  return span === undefined ? context : context.setValue(spanKey, span);
}

function callerOf({ traceId, parentId, isSampled, state }: TraceContext): Pick<Span, "spanContext"> | undefined {
  if (parentId === undefined) return undefined;
  const caller: SpanContext = { traceId, spanId: parentId, traceFlags: isSampled ? 1 : 0, isRemote: true };
  if (state !== undefined) caller.traceState = new PassedState(state);
  return { spanContext: () => caller };
}

/** Opens a span within the one that is open, if that is recorded; outside of requests, with a registered provider alone. */
export function openSpan(name: string, kind: SpanKind, attributes: Attributes): OpenSpan | undefined {
  const context = current();
  if (context?.requestId === undefined) {
    return context?.span?.child(name, kind, attributes) ?? registeredTracer(registered())?.root(name, kind, attributes);
  }
  return context.span?.child(name, kind, attributes);
}

/** Runs work within a span: its lines carry the span's id, and spans it opens are within it. */
export function inSpan<A>(span: OpenSpan, work: () => A): A {
  return withinSpan(span, work);
}

/**
 * Opens the span of a statement, for whoever runs one: whoever opens it ends it, after `fail` where it failed. Undefined,
 * and at no cost, where nothing is recorded.
 *
 * @param text The statement as it is written, whose parameters stand in it as `$1`. No parameter's value ever is in it.
 */
export function openStatement(text: string): OpenSpan | undefined {
  return openSpan("postgresql", "client", { "db.system.name": "postgresql", "db.query.text": text });
}
