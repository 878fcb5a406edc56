import type * as otlpHttp from "@opentelemetry/exporter-trace-otlp-http";
import { needs, needsFunction, needsObject, needsOptions, needsText } from "../arguments.ts";
import { current } from "../logging/context.ts";
import type { OpenSpan } from "../logging/entry.ts";
import { describeRaised, noteRaised } from "../logging/raised.ts";
import { isRefusal } from "../refusals.ts";
import type { Refusal } from "../refusals.ts";
import { Collector, ProcessorExporter, batchArguments, postMs } from "./exporter.ts";
import type { BatchArguments, Exporter, LoadBatches, SpanProcessor } from "./exporter.ts";
import { freshHex, inSpan, openSpan } from "./span.ts";

/** An application's span while its work runs. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Sets an attribute. Use a prefix of your own for its name, and never a value from a request's header, query or body. */
  set(name: string, value: string | number | boolean): void;
}

/**
 * Runs work as a span within the request's. Name it after the operation, never after a concrete path. Log lines during the
 * work have the span's id, and spans opened within it are children. If the work throws, the span fails with the error's
 * type, and the error is rethrown. A refusal fails it at 500 and above. If the trace is not recorded, only the ids are made.
 *
 * @example
 * ```ts
 * const price = await Trace.span("price an order", async (span) => {
 *   span.set("shop.items", order.items.length);
 *   return priceOf(order);
 * });
 * ```
 */
export async function span<A>(name: string, f: (span: Span) => A | Promise<A>): Promise<A> {
  needsText("Trace.span: its name", name);
  needsFunction("Trace.span: its work", f);
  const open = openSpan(name, "internal", {});
  if (open === undefined) {
    return f({ traceId: current()?.traceId ?? freshHex(16), spanId: freshHex(8), set: () => {} });
  }
  try {
    return await inSpan(open, () => f(open));
  } catch (thrown) {
    if (isRefusal(thrown)) noteRefusal(open, thrown);
    else noteError(open, thrown);
    throw thrown;
  } finally {
    open.end();
  }
}

/** A refusal is a response, and fails the span where it would fail that of its request. */
function noteRefusal(span: OpenSpan, { code: { name, status } }: Refusal): void {
  span.set("framework.refusal.code", name);
  if (status >= 500) span.fail(name);
}

function noteError(span: OpenSpan, thrown: unknown): void {
  noteRaised(span, thrown);
  span.fail(describeRaised(thrown).kind);
}

/**
 * Sends spans to an OpenTelemetry collector as OTLP over HTTP: JSON, posted to `<endpoint>/v1/traces` every 5 s, or as soon
 * as 512 spans wait. At most 2048 spans wait. Further ones, and those that the collector did not accept within 10 s, are
 * dropped, and a warn line gives their number. It uses the batch processor of `@opentelemetry/sdk-trace`, or else of
 * `@opentelemetry/sdk-trace-base`, and the exporter of `@opentelemetry/exporter-trace-otlp-http`. It imports these packages
 * when it is called.
 *
 * @param options `endpoint` is the collector's URL, such as `http://localhost:4318`, and `service` the name of the process.
 *   `ratio` is the part of new traces that is kept, 1 by default; a joined trace is kept if its caller kept it. `headers`
 *   are sent with every post. `packages` has the two classes, for a bundled program such as a Worker, where they cannot be
 *   imported.
 * @throws TypeError for an endpoint that is not an http or https URL, RangeError for a ratio that is not a number.
 *
 * @example
 * ```ts
 * await serve(routes, { trace: Trace.otlp({ endpoint: "http://localhost:4318", service: "shop" }) });
 * ```
 */
export function otlp(options: {
  readonly endpoint: string;
  readonly service: string;
  readonly ratio?: number;
  readonly headers?: { readonly [name: string]: string };
  readonly packages?: OtlpPackages;
}): Exporter {
  needsOptions("Trace.otlp", options, "endpoint service ratio headers packages");
  const { endpoint, service, ratio = 1, headers = {}, packages } = options;
  needsText("Trace.otlp: endpoint", endpoint);
  needsText("Trace.otlp: service", service);
  needsObject("Trace.otlp: headers", headers);
  needsRatio("Trace.otlp", ratio);
  if (!/^https?:\/\/[^/]/.test(endpoint) || !URL.canParse(endpoint)) {
    throw new TypeError("Trace.otlp: endpoint must be the http or https URL of a collector");
  }
  const url = `${endpoint.replace(/\/+$/, "")}/v1/traces`;
  const config = { url, headers: { ...headers }, timeoutMillis: postMs, concurrencyLimit: maxPosts };
  const load: LoadBatches = async (counted) => {
    const { BatchSpanProcessor, OTLPTraceExporter } = (packages ?? (await loadOtlp())) as LoadedPackages;
    return new BatchSpanProcessor(...batchArguments(counted(new OTLPTraceExporter(config))));
  };
  return new ProcessorExporter(new Collector(load), ratio, service);
}

// A Worker posts with every request, and the exporter drops posts over its limit, 30 by default.
const maxPosts = 1000;

/** The classes that `Trace.otlp` needs. */
export interface OtlpPackages {
  /** From `@opentelemetry/sdk-trace`, or from `@opentelemetry/sdk-trace-base`. */
  readonly BatchSpanProcessor: new (exporter: never, limits: never) => SpanProcessor;
  /** From `@opentelemetry/exporter-trace-otlp-http`. */
  readonly OTLPTraceExporter: new (config: never) => object;
}

interface LoadedPackages extends Pick<typeof otlpHttp, "OTLPTraceExporter"> {
  readonly BatchSpanProcessor: new (...given: BatchArguments) => SpanProcessor;
}

// Bundlers do not follow these names. They would otherwise bundle the packages, or fail without them, in a program that does
// not trace.
const sdkPackage = "@opentelemetry/sdk-trace";
const olderSdkPackage = "@opentelemetry/sdk-trace-base";
const otlpPackage = "@opentelemetry/exporter-trace-otlp-http";

async function loadOtlp(): Promise<OtlpPackages> {
  const [{ BatchSpanProcessor }, { OTLPTraceExporter }] = (await Promise.all([
    loadSdk(),
    import(/* @vite-ignore */ otlpPackage),
  ])) as [OtlpPackages, typeof otlpHttp];
  return { BatchSpanProcessor, OTLPTraceExporter };
}

/** `sdk-trace` is there since version 2.9 of the SDK, and version 3 has no `sdk-trace-base`. */
async function loadSdk(): Promise<unknown> {
  try {
    return await import(/* @vite-ignore */ sdkPackage);
  } catch (thrown) {
    return import(/* @vite-ignore */ olderSdkPackage).catch(() => {
      throw thrown;
    });
  }
}

/**
 * Hands spans to an OpenTelemetry span processor, for any other destination. Wrap a span exporter in one, such as the
 * `BatchSpanProcessor` of `@opentelemetry/sdk-trace`. It is not needed where the application registers a provider with
 * `@opentelemetry/api`: spans are sent to that.
 *
 * @param options `ratio` as in `Trace.otlp`; `service` is the name of the process, `unknown_service` by default.
 *
 * @example
 * ```ts
 * const processor = new BatchSpanProcessor({ exporter: new ZipkinExporter() });
 * const trace = Trace.exporter({ processor, service: "shop" });
 * ```
 */
export function exporter(options: {
  readonly processor: SpanProcessor;
  readonly ratio?: number;
  readonly service?: string;
}): Exporter {
  needsOptions("Trace.exporter", options, "processor ratio service");
  const { processor, ratio = 1, service = "unknown_service" } = options;
  needsObject("Trace.exporter: processor", processor);
  needsText("Trace.exporter: service", service);
  needsRatio("Trace.exporter", ratio);
  return new ProcessorExporter(processor, ratio, service);
}

function needsRatio(maker: string, ratio: unknown): void {
  needs(typeof ratio === "number", `${maker}: ratio`, ratio, "a number from 0 to 1");
}

export type { Exporter, SpanProcessor } from "./exporter.ts";
