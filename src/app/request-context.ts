import type { LogContext } from "../logging/entry.ts";
import type { OpenSpan } from "../tracing/span.ts";
import { joinTrace } from "../tracing/trace-context.ts";
import type { TraceContext } from "../tracing/trace-context.ts";
import type { Exchange } from "./exchange.ts";

/**
 * A request as its work carries it, and whatever outlives its answer. It holds nothing else of the request: Deno keeps
 * the context of every work through the next collections, and with a whole request on each they took half of its time.
 */
export class RequestContext implements LogContext {
  readonly requestId: string;
  /** The request's span, while it is open and where it is recorded. */
  span: OpenSpan | undefined = undefined;
  #exchange: Exchange | undefined;
  #trace: TraceContext | undefined = undefined;

  constructor(requestId: string, exchange: Exchange) {
    this.requestId = requestId;
    this.#exchange = exchange;
  }

  /** The trace it joined or began, whoever records it. */
  get trace(): TraceContext {
    if (this.#trace !== undefined) return this.#trace;
    const exchange = this.#exchange as Exchange;
    this.#exchange = undefined;
    return (this.#trace = joinTrace((name) => exchange.lines(name)));
  }
  /** Reads the trace, if nobody has asked for it, and lets go of what it is read from. */
  settle(): void {
    void this.trace;
  }
  get traceId(): string {
    return this.span?.traceId ?? this.trace.traceId;
  }
  get spanId(): string {
    return this.span?.spanId ?? this.trace.spanId;
  }
  get isSampled(): boolean {
    return this.span?.isSampled ?? this.trace.isSampled;
  }
  get traceState(): string | undefined {
    return this.trace.state;
  }
}
