import type { Attributes, OpenSpan, TraceContext, Tracer } from "../logging/entry.ts";
import { inBackground } from "../logging/raised.ts";
import { log } from "../logging/writer.ts";
import { RecordedSpan, SpanResource } from "./recorded-span.ts";
import type { Recorder } from "./recorded-span.ts";
import { OtelContext } from "./span.ts";

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

const mostWaiting = 2048;

/** The contract's limits (section 8), for OpenTelemetry's batch processor. Given all of them it reads none of the environment. */
export const batchLimits: {
  readonly maxQueueSize: number;
  readonly maxExportBatchSize: number;
  readonly scheduledDelayMillis: number;
  readonly exportTimeoutMillis: number;
} = {
  maxQueueSize: mostWaiting,
  maxExportBatchSize: 512,
  scheduledDelayMillis: 5000,
  // Never comes to that: a post is given up before.
  exportTimeoutMillis: 30_000,
};

/** How long the collector has for a post, every attempt at it included. */
export const postMs = 10_000;

/** OpenTelemetry's span exporter, as far as it is used. */
interface SpanExporter {
  export(spans: never, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
  shutdown(): Promise<void>;
}

/** OpenTelemetry's own batch processor and exporter, made with what is to stand between them. */
export type LoadBatches = (counted: (exporter: SpanExporter) => SpanExporter) => Promise<SpanProcessor>;

/**
 * Has OpenTelemetry's batch processor send spans to a collector, and says in warn lines how many were dropped, which it
 * tells nobody. It is loaded while the first spans end: as many wait for it as wait in it.
 */
export class Collector implements SpanProcessor {
  readonly #loading: Promise<void>;
  #batches: SpanProcessor | undefined = undefined;
  /** Spans that ended before it was loaded. */
  #early: RecordedSpan[] = [];
  /** Spans that ended and are in no post yet: those that are early, or that the processor holds. */
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
    // Beyond that the processor drops it too, and says so to nobody.
    if (this.#waiting >= mostWaiting || this.#state === "missing" || this.#state === "shut") {
      this.#dropped++;
      if (this.#state === "shut") this.#tellDropped();
      return;
    }
    this.#waiting++;
    if (this.#batches === undefined) this.#early.push(span);
    else this.#batches.onEnd(span as never);
  }

  /** Sends what waits now. It is over once that has arrived or is dropped, `postMs` from now at the latest. */
  async forceFlush(): Promise<void> {
    await this.#loading;
    // A Worker's request that is cut short takes its timers with it.
    for (const post of this.#posts) if (performance.now() > post.until) post.giveUp();
    await this.#batches?.forceFlush();
    // Of a post that is under way the processor knows nothing.
    await this.#arrivals();
    this.#tellDropped();
  }

  async shutdown(): Promise<void> {
    await this.#loading;
    this.#state = "shut";
    await this.#batches?.shutdown();
    this.#tellDropped();
  }

  #open(batches: SpanProcessor): void {
    this.#state = "open";
    this.#batches = batches;
    for (const span of this.#early) batches.onEnd(span as never);
    this.#early = [];
  }

  #miss(thrown: unknown): void {
    this.#state = "missing";
    const packages = "@opentelemetry/sdk-trace-base and @opentelemetry/exporter-trace-otlp-http";
    say("error", `no spans are sent: Trace.otlp needs ${packages}: ${reasonOf(thrown)}`);
    this.#dropped += this.#early.length;
    this.#early = [];
  }

  /** Counts what the processor hands on, and what of it does not arrive. To the processor every post goes well. */
  #counted(exporter: SpanExporter): SpanExporter {
    return {
      export: (spans: readonly unknown[], done) => {
        this.#waiting -= spans.length;
        const post = new Post(exporter, spans);
        this.#posts.add(post);
        inBackground(
          post.over.then((why) => {
            this.#posts.delete(post);
            if (why !== undefined) say("warn", why);
            this.#tellDropped();
            done({ code: 0 });
          }),
        );
      },
      shutdown: async () => {
        await this.#arrivals();
        // It waits for its own posts: for one that trickles too.
        exporter.shutdown().catch(() => {});
      },
    };
  }

  async #arrivals(): Promise<void> {
    await Promise.all([...this.#posts].map(({ over }) => over));
  }

  #tellDropped(): void {
    if (this.#dropped === 0) return;
    say("warn", `dropped ${this.#dropped} spans: more ended than the collector was sent`);
    this.#dropped = 0;
  }
}

/** Spans on their way. */
class Post {
  readonly until: number = performance.now() + postMs;
  /** Why they did not arrive, if they did not. */
  readonly over: Promise<string | undefined>;
  readonly giveUp: () => void;

  constructor(exporter: SpanExporter, spans: readonly unknown[]) {
    const { length } = spans;
    let settle: (why: string | undefined) => void = () => {};
    this.over = new Promise((resolve) => (settle = resolve));
    this.giveUp = () => settle(`could not send ${length} spans to the collector: timeout`);
    const timer = setTimeout(this.giveUp, postMs);
    const ended = (why: string | undefined) => (clearTimeout(timer), settle(why));
    try {
      exporter.export(spans as never, ({ code, error }) => ended(code === 0 ? undefined : failed(length, error)));
    } catch (thrown) {
      ended(failed(length, thrown));
    }
  }
}

function failed(count: number, thrown: unknown): string {
  const why = reasonOf(thrown);
  return typeof why === "number"
    ? `the collector refused ${count} spans: ${why}`
    : `could not send ${count} spans to the collector: ${why}`;
}

// A collector's own words are its own business; its status, or a system's code, is enough.
function reasonOf(thrown: unknown): string | number {
  const { code, name } = (thrown ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  if (typeof code === "number" || typeof code === "string") return code;
  return typeof name === "string" ? name : "it failed";
}

function say(level: "warn" | "error", message: string): void {
  log({ level, source: "framework.trace", message, fields: {}, context: undefined });
}
