import type { Attributes as OtelAttributes, HrTime, Link, Span, SpanContext, SpanStatus } from "@opentelemetry/api";
import type { Attributes, OpenSpan, SpanKind, TraceContext } from "../logging/entry.ts";
import { raisedAttributes } from "../logging/raised.ts";
import { PassedState, freshHex } from "./span.ts";

const kinds: { readonly [Kind in SpanKind]: number } = { internal: 0, server: 1, client: 2 };
const maxAttributes = 128;
const maxEvents = 128;

/** Makes spans and receives them when they end. */
export interface Recorder {
  readonly resource: SpanResource;
  opened(span: RecordedSpan): void;
  /** Called before the span is ended: it can still be changed. */
  ending(span: RecordedSpan): void;
  ended(span: RecordedSpan): void;
}

/** The OpenTelemetry resource: describes the process in every span. */
export class SpanResource {
  readonly attributes: OtelAttributes;

  constructor(attributes: OtelAttributes) {
    this.attributes = attributes;
  }

  getRawAttributes(): [string, string][] {
    return Object.entries(this.attributes).map(([name, value]) => [name, String(value)]);
  }

  merge(other: { readonly attributes: OtelAttributes } | null): SpanResource {
    return new SpanResource({ ...this.attributes, ...other?.attributes });
  }
}

interface TimedEvent {
  readonly name: string;
  readonly time: HrTime;
  readonly attributes?: OtelAttributes;
}

const scope = { name: "usher-http" };
const noLinks: Link[] = [];
const noEvents: TimedEvent[] = [];
const unset: SpanStatus = { code: 0 };

/**
 * A span that OpenTelemetry's processors and exporters accept like one of its SDK's. It is cheap to make; its times are
 * converted when they are read.
 */
export class RecordedSpan implements OpenSpan, Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled = true;
  readonly kind: number;
  readonly instrumentationScope: { readonly name: string } = scope;
  readonly parentSpanContext?: SpanContext;
  name: string;
  status: SpanStatus = unset;
  ended = false;
  droppedAttributesCount = 0;
  droppedEventsCount = 0;
  readonly droppedLinksCount = 0;
  readonly attributes: OtelAttributes;
  readonly #recorder: Recorder;
  readonly #state: string | undefined;
  /** Milliseconds since 1970, and on the monotonic clock. */
  readonly #startedAt: number;
  readonly #started: number;
  #lasted = 0;
  #isEnding = false;
  #links = noLinks;
  #events = noEvents;

  constructor(
    recorder: Recorder,
    trace: Pick<TraceContext, "traceId" | "spanId" | "state">,
    parent: RecordedSpan | SpanContext | undefined,
    about: { readonly name: string; readonly kind: SpanKind; readonly attributes: Attributes },
  ) {
    this.traceId = trace.traceId;
    this.spanId = trace.spanId;
    this.name = about.name;
    this.kind = kinds[about.kind];
    this.attributes = {};
    for (const name in about.attributes) {
      const value = about.attributes[name];
      if (value !== undefined) this.attributes[name] = value;
    }
    this.#recorder = recorder;
    this.#state = trace.state;
    this.#started = performance.now();
    const isChild = parent instanceof RecordedSpan;
    // Child spans use the parent's clock, so a change of the system time never puts one outside of it.
    this.#startedAt = isChild ? parent.#startedAt + this.#started - parent.#started : Date.now();
    if (parent !== undefined) this.parentSpanContext = isChild ? parent.spanContext() : parent;
  }

  get resource(): SpanResource {
    return this.#recorder.resource;
  }
  get startTime(): HrTime {
    return hrTime(this.#startedAt);
  }
  get endTime(): HrTime {
    return hrTime(this.#startedAt + this.#lasted);
  }
  get duration(): HrTime {
    return hrTime(this.#lasted);
  }
  get links(): Link[] {
    return this.#links;
  }
  get events(): TimedEvent[] {
    return this.#events;
  }

  spanContext(): SpanContext {
    const own: SpanContext = { traceId: this.traceId, spanId: this.spanId, traceFlags: 1 };
    if (this.#state !== undefined) own.traceState = new PassedState(this.#state);
    return own;
  }

  child(name: string, kind: SpanKind, attributes: Attributes): RecordedSpan {
    const trace = { traceId: this.traceId, spanId: freshHex(8), state: this.#state };
    const span = new RecordedSpan(this.#recorder, trace, this, { name, kind, attributes });
    this.#recorder.opened(span);
    return span;
  }

  set(name: string, value: OtelAttributes[string]): void {
    if (this.ended) return;
    const isNew = !Object.hasOwn(this.attributes, name);
    if (isNew && Object.keys(this.attributes).length >= maxAttributes) this.droppedAttributesCount++;
    else this.attributes[name] = value;
  }

  rename(name: string): void {
    if (!this.ended) this.name = name;
  }

  fail(reason: string): void {
    this.setStatus({ code: 2, message: reason });
  }

  end(): void {
    // A processor may end it once more in onEnding.
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#lasted = performance.now() - this.#started;
    this.#recorder.ending(this);
    this.ended = true;
    this.#recorder.ended(this);
  }

  // OpenTelemetry's methods, for a processor.

  isRecording(): boolean {
    return !this.ended;
  }
  setAttribute(name: string, value: OtelAttributes[string]): this {
    this.set(name, value);
    return this;
  }
  setAttributes(attributes: OtelAttributes): this {
    for (const [name, value] of Object.entries(attributes)) this.set(name, value);
    return this;
  }
  addEvent(name: string, given?: unknown): this {
    if (this.ended) return this;
    if (this.#events.length >= maxEvents) this.droppedEventsCount++;
    else this.#events = [...this.#events, { name, time: this.#now(), attributes: attributesOf(given) }];
    return this;
  }
  addLink(link: Link): this {
    return this.addLinks([link]);
  }
  addLinks(links: Link[]): this {
    if (!this.ended) this.#links = [...this.#links, ...links];
    return this;
  }
  setStatus(status: SpanStatus): this {
    if (!this.ended) this.status = status;
    return this;
  }
  updateName(name: string): this {
    this.rename(name);
    return this;
  }
  /** Which it is, and where; no message, which may quote anything. */
  recordException(exception: unknown): void {
    this.addEvent("exception", raisedAttributes(exception));
  }

  #now(): HrTime {
    return hrTime(this.#startedAt + performance.now() - this.#started);
  }
}

function attributesOf(given: unknown): OtelAttributes {
  const isAttributes = typeof given === "object" && given !== null && !Array.isArray(given) && !(given instanceof Date);
  return isAttributes ? { ...given } : {};
}

/** Seconds and nanoseconds. */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  const nanoseconds = Math.round((ms - seconds * 1000) * 1e6);
  return nanoseconds === 1e9 ? [seconds + 1, 0] : [seconds, nanoseconds];
}
