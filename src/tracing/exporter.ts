import { OtelContext } from "./otel-context.ts";
import { RecordedSpan, SpanResource } from "./recorded-span.ts";
import type { Recorder } from "./recorded-span.ts";
import type { Attributes, OpenSpan, Tracer } from "./span.ts";
import { SpanQueue } from "./span-queue.ts";
import type { TraceContext } from "./trace-context.ts";

/** Where an app's spans go: one is given to `App.make` or `serve` as `trace`. */
export interface Exporter {
  /** Sends what waits, and is over once that has arrived or is dropped. A listener that stops does it. */
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

/** OpenTelemetry's span exporter, as far as it is used. */
export interface SpanExporter {
  export(spans: never, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
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
    await this.#processor.forceFlush().catch(() => {});
  }

  async shutdown(): Promise<void> {
    this.#isShut = true;
    await this.#processor.shutdown().catch(() => {});
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

/** An exporter of OpenTelemetry's as a processor: in batches, by the contract's limits. */
export class Batches implements SpanProcessor {
  readonly #queue: SpanQueue;
  readonly #exporter: () => Promise<SpanExporter>;

  constructor(exporter: () => Promise<SpanExporter>) {
    this.#exporter = exporter;
    this.#queue = new SpanQueue((spans) => this.#send(spans));
  }

  onStart(): void {}

  onEnd(span: RecordedSpan): void {
    this.#queue.add(span);
  }

  forceFlush(): Promise<void> {
    return this.#queue.flush();
  }

  async shutdown(): Promise<void> {
    await this.#queue.flush();
    await (await this.#exporter()).shutdown();
  }

  async #send(spans: RecordedSpan[]): Promise<string | undefined> {
    try {
      const exporter = await this.#exporter();
      const { code, error } = await new Promise<{ readonly code: number; readonly error?: Error }>((done) =>
        exporter.export(spans as never, done),
      );
      return code === 0 ? undefined : failure(spans.length, error);
    } catch (thrown) {
      return failure(spans.length, thrown);
    }
  }
}

// A collector's own words are its own business; its status, or a system's code, is enough.
function failure(count: number, thrown: unknown): string {
  const { code, name } = (thrown ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  if (typeof code === "number") return `the collector refused ${count} spans: ${code}`;
  const why = typeof code === "string" ? code : typeof name === "string" ? name : "it failed";
  return `could not send ${count} spans to the collector: ${why}`;
}
