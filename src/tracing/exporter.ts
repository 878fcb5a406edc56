import { OtelContext } from "./otel-context.ts";
import { RecordedSpan, SpanResource } from "./recorded-span.ts";
import type { Recorder } from "./recorded-span.ts";
import type { Attributes, OpenSpan, Tracer } from "./span.ts";
import type { TraceContext } from "./trace-context.ts";

/** Where an app's spans go: one is given to `App.make` or `serve` as `trace`. */
export interface Exporter {
  /** Sends what waits, and is over once that has arrived or is dropped, after 30 s at the latest. A listener that stops does it. */
  flush(): Promise<void>;
  /** Sends what waits, and no more from then on. */
  shutdown(): Promise<void>;
  readonly tracer: Tracer;
}

/** OpenTelemetry's span processor, as far as it is used. */
export interface SpanProcessor {
  onStart(span: never, parentContext: never): void;
  onEnd(span: never): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** Spans of an app's own, handed to a processor as they open and end. */
export class ProcessorExporter implements Exporter, Recorder, Tracer {
  readonly tracer: Tracer = this;
  readonly resource: SpanResource;
  readonly #processor: SpanProcessor;
  readonly #ratio: number;
  #isShut = false;

  constructor(processor: SpanProcessor, ratio: number, service: string) {
    if (Number.isNaN(ratio)) throw new RangeError("Trace: ratio cannot be NaN: it is a number from 0 to 1");
    this.#processor = processor;
    this.#ratio = ratio;
    this.resource = new SpanResource({ "service.name": service });
  }

  open(trace: TraceContext, name: string, attributes: Attributes): OpenSpan | undefined {
    if (this.#isShut || !this.#keeps(trace)) return undefined;
    const { traceId, parentId, isSampled } = trace;
    const caller =
      parentId === undefined
        ? undefined
        : { traceId, spanId: parentId, traceFlags: isSampled ? 1 : 0, isRemote: true as const };
    const span = new RecordedSpan(this, trace, caller, { name, kind: "server", attributes });
    this.opened(span);
    return span;
  }

  opened(span: RecordedSpan): void {
    // A processor that fails never fails a request.
    attempt(() => this.#processor.onStart(span as never, new OtelContext() as never));
  }

  ended(span: RecordedSpan): void {
    attempt(() => this.#processor.onEnd(span as never));
  }

  async flush(): Promise<void> {
    await settled(() => this.#processor.forceFlush());
  }

  async shutdown(): Promise<void> {
    this.#isShut = true;
    await settled(() => this.#processor.shutdown());
  }

  // A joined trace is kept where its caller kept it. A new one by its id, so that everyone with this ratio keeps the same.
  #keeps({ traceId, parentId, isSampled }: TraceContext): boolean {
    if (parentId !== undefined) return isSampled;
    return Number.parseInt(traceId.slice(-13), 16) < this.#ratio * 2 ** 52;
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // Whoever wrote it has its own log.
  }
}

// A processor that never ends keeps nobody waiting.
const mostMs = 30_000;

async function settled(work: () => Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, mostMs)));
  try {
    await Promise.race([work(), late]);
  } catch {
    // As above.
  }
  clearTimeout(timer);
}
