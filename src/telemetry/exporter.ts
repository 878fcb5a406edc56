import { counted } from "../counted.ts";
import { isThenable } from "../async.ts";
import type { Attributes, OpenSpan, TraceContext, Tracer } from "../logging/entry.ts";
import { inBackground } from "../logging/raised.ts";
import { log } from "../logging/writer.ts";
import { RecordedSpan, SpanResource } from "./recorded-span.ts";
import type { Recorder } from "./recorded-span.ts";
import { OtelContext } from "./span.ts";
import { traceFlags } from "./traceparent.ts";

/** Exports an app's spans: the option `trace` of `App.make` or `serve`. */
export interface Exporter {
  /**
   * Sends the waiting spans. Resolves once they have arrived or are dropped, after 30 s at most. A stopping listener calls
   * it.
   */
  flush(): Promise<void>;
  /** Sends the waiting spans, and none after them. */
  shutdown(): Promise<void>;
  /** Makes the spans. For the framework. */
  readonly tracer: Tracer;
}

/** The part of OpenTelemetry's `SpanProcessor` that is used. */
export interface SpanProcessor {
  /** Called when a span starts. */
  onStart(span: never, parentContext: never): void;
  /** Called when a span is about to end, and may still be changed. */
  onEnding?(span: never): void;
  /** Called when a span has ended. */
  onEnd(span: never): void;
  /** Exports the spans that wait. */
  forceFlush(): Promise<void>;
  /** Exports the spans that wait, and ends. */
  shutdown(): Promise<void>;
}

/** Makes an app's spans and hands them to a processor when they open and end. */
export class ProcessorExporter implements Exporter, Recorder, Tracer {
  readonly tracer: Tracer = this;
  readonly resource: SpanResource;
  readonly #processor: SpanProcessor;
  readonly #ratio: number;
  #isShut = false;

  constructor(processor: SpanProcessor, ratio: number, service: string) {
    if (Number.isNaN(ratio)) throw new RangeError("Trace: ratio cannot be NaN: it must be a number from 0 to 1");
    this.#processor = processor;
    this.#ratio = ratio;
    this.resource = new SpanResource({ "service.name": service });
  }

  open(trace: TraceContext, name: string, attributes: Attributes): OpenSpan | undefined {
    if (this.#isShut || !this.#keeps(trace)) return undefined;
    const { traceId, parentId } = trace;
    const caller =
      parentId === undefined
        ? undefined
        : { traceId, spanId: parentId, traceFlags: traceFlags(trace), isRemote: true as const };
    const span = new RecordedSpan(this, trace, caller, { name, kind: "server", attributes });
    this.opened(span);
    return span;
  }

  opened(span: RecordedSpan): void {
    // A processor that throws never fails a request.
    attempt(() => this.#processor.onStart(span as never, new OtelContext() as never));
  }

  ending(span: RecordedSpan): void {
    if (this.#processor.onEnding !== undefined) attempt(() => this.#processor.onEnding?.(span as never));
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

  // A joined trace is kept if its caller kept it. A new trace is kept by its id, so that every process with this ratio keeps
  // the same traces.
  #keeps({ traceId, parentId, isSampled }: TraceContext): boolean {
    if (parentId !== undefined) return isSampled;
    return Number.parseInt(traceId.slice(-13), 16) < this.#ratio * 2 ** 52;
  }
}

function attempt(work: () => unknown): void {
  try {
    const done = work();
    // An `async` method may reject: an unhandled rejection would end the process.
    if (isThenable(done)) Promise.resolve(done).catch(() => {});
  } catch {
    // The processor reports its own errors.
  }
}

// Bounds the wait for a processor that never ends.
const maxFlushMs = 30_000;

async function settled(work: () => Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, maxFlushMs)));
  try {
    await Promise.race([work(), late]);
  } catch {
    // The processor reports its own errors.
  }
  clearTimeout(timer);
}

const maxWaiting = 2048;

interface BatchLimits {
  readonly maxQueueSize: number;
  readonly maxExportBatchSize: number;
  readonly scheduledDelayMillis: number;
  readonly exportTimeoutMillis: number;
}

/** The contract's limits (section 8) for OpenTelemetry's batch processor. */
const batchLimits: BatchLimits = {
  maxQueueSize: maxWaiting,
  maxExportBatchSize: 512,
  scheduledDelayMillis: 5000,
  // Never reached, because a post times out earlier.
  exportTimeoutMillis: 30_000,
};

/** The time limit of a post, including all its attempts. */
export const postMs = 10_000;

/** The part of OpenTelemetry's `SpanExporter` that is used. */
interface SpanExporter {
  export(spans: never, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
  shutdown(): Promise<void>;
}

/** The arguments of the constructor of either `BatchSpanProcessor`. */
export type BatchArguments = readonly [
  options: SpanExporter & BatchLimits & { readonly exporter: SpanExporter },
  limits: BatchLimits,
];

/**
 * The arguments for OpenTelemetry's `BatchSpanProcessor`. The class of `sdk-trace` takes one object: the limits, and the
 * exporter as a member. The class of `sdk-trace-base` takes the exporter, and then the limits. So the first argument is both
 * an exporter and options. With all limits given, the classes read no environment variable.
 */
export function batchArguments(exporter: SpanExporter): BatchArguments {
  const both: BatchArguments[0] = {
    ...batchLimits,
    exporter,
    export: (spans, done) => exporter.export(spans, done),
    shutdown: () => exporter.shutdown(),
  };
  return [both, batchLimits];
}

/** Makes OpenTelemetry's batch processor and exporter, with `counted` between them. */
export type LoadBatches = (counted: (exporter: SpanExporter) => SpanExporter) => Promise<SpanProcessor>;

/**
 * Sends spans to a collector with OpenTelemetry's batch processor, and logs at warn how many were dropped, which the
 * processor does not report. The processor is loaded while the first spans end; the limit of its queue holds meanwhile.
 */
export class Collector implements SpanProcessor {
  readonly #loading: Promise<void>;
  #batches: SpanProcessor | undefined = undefined;
  /** Spans that ended before the processor was loaded. */
  readonly #early: RecordedSpan[] = [];
  /** Spans that ended and are not yet in a post. */
  #waiting = 0;
  #dropped = 0;
  #state: "loading" | "open" | "missing" | "shut" = "loading";
  readonly #posts = new Set<Post>();

  constructor(load: LoadBatches) {
    this.#loading = load((exporter) => this.#counted(exporter)).then(
      (batches) => this.#open(batches),
      (thrown: unknown) => this.#miss(thrown),
    );
  }

  onStart(): void {}

  onEnd(span: RecordedSpan): void {
    // The processor would drop them too, without a report.
    if (this.#waiting >= maxWaiting || this.#state === "missing" || this.#state === "shut") {
      this.#dropped++;
      if (this.#state === "shut") this.#logDropped();
      return;
    }
    this.#waiting++;
    if (this.#batches === undefined) this.#early.push(span);
    else this.#batches.onEnd(span as never);
  }

  /** Sends the waiting spans. Resolves once they have arrived or are dropped, after `postMs` at most. */
  async forceFlush(): Promise<void> {
    await this.#loading;
    // A Worker's request that is cut short loses its timers.
    for (const post of this.#posts) if (performance.now() > post.until) post.giveUp();
    await this.#batches?.forceFlush();
    // The processor does not await a post that is under way.
    await this.#arrivals();
    this.#logDropped();
  }

  async shutdown(): Promise<void> {
    await this.#loading;
    this.#state = "shut";
    await this.#batches?.shutdown();
    this.#logDropped();
  }

  #open(batches: SpanProcessor): void {
    this.#state = "open";
    this.#batches = batches;
    for (const span of this.#early.splice(0)) batches.onEnd(span as never);
  }

  #miss(thrown: unknown): void {
    this.#state = "missing";
    const [sdk, otlp] = ["@opentelemetry/sdk-trace", "@opentelemetry/exporter-trace-otlp-http"];
    const needed = `Trace.otlp needs ${sdk} and ${otlp} (${reasonOf(thrown)}): npm install ${sdk} ${otlp}`;
    say("error", `no spans are sent: ${needed}`);
    this.#dropped += this.#early.splice(0).length;
  }

  /** Counts the spans that the processor exports, and those that do not arrive. For the processor every post succeeds. */
  #counted(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans: readonly unknown[], done) => {
        this.#waiting -= spans.length;
        const post = new Post(exporter, spans);
        this.#posts.add(post);
        inBackground(
          post.over.then((reason) => {
            this.#posts.delete(post);
            if (reason !== undefined) say("warn", reason);
            this.#logDropped();
            done({ code: 0 });
          }),
        );
      },
      shutdown: async () => {
        await this.#arrivals();
        // Not awaited: the exporter waits for its own posts, even for a slow one.
        exporter.shutdown().catch(() => {});
      },
    };
  }

  async #arrivals(): Promise<void> {
    await Promise.all([...this.#posts].map(({ over }) => over));
  }

  #logDropped(): void {
    if (this.#dropped === 0) return;
    const why = this.#batches === undefined ? "the packages are missing" : "more ended than the collector was sent";
    say("warn", `dropped ${counted(this.#dropped, "span")}: ${why}`);
    this.#dropped = 0;
  }
}

/** One post of spans to the collector. */
class Post {
  readonly until: number = performance.now() + postMs;
  /** Why they did not arrive; undefined if they did. */
  readonly over: Promise<string | undefined>;
  readonly giveUp: () => void;

  constructor(exporter: SpanExporter, spans: readonly unknown[]) {
    const { length } = spans;
    let settle: (reason: string | undefined) => void = () => {};
    this.over = new Promise((resolve) => (settle = resolve));
    this.giveUp = () => settle(`could not send ${counted(length, "span")} to the collector: timeout`);
    const timer = setTimeout(this.giveUp, postMs);
    const ended = (reason: string | undefined) => (clearTimeout(timer), settle(reason));
    try {
      exporter.export(spans as never, ({ code, error }) => ended(code === 0 ? undefined : failureText(length, error)));
    } catch (thrown) {
      ended(failureText(length, thrown));
    }
  }
}

function failureText(count: number, thrown: unknown): string {
  const reason = reasonOf(thrown);
  return typeof reason === "number"
    ? `the collector refused ${counted(count, "span")}: ${reason}`
    : `could not send ${counted(count, "span")} to the collector: ${reason}`;
}

// A collector's message is not logged; its status or a system error code is enough.
function reasonOf(thrown: unknown): string | number {
  const { code, name } = (thrown ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  if (typeof code === "number" || typeof code === "string") return code;
  return typeof name === "string" ? name : "it failed";
}

function say(level: "warn" | "error", message: string): void {
  log({ level, source: "framework.trace", message, fields: {}, context: undefined });
}
