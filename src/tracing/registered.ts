import type { Context, Span, SpanContext, Tracer as OtelTracer, TracerProvider } from "@opentelemetry/api";
import { OtelContext, PassedState } from "./otel-context.ts";
import { registered } from "./registry.ts";
import type { Registered } from "./registry.ts";
import type { Attributes, OpenSpan, SpanKind, Tracer } from "./span.ts";
import type { TraceContext } from "./trace-context.ts";

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
