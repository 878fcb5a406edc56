import type * as otlpHttp from "@opentelemetry/exporter-trace-otlp-http";
import type * as sdk from "@opentelemetry/sdk-trace-base";
import { current } from "../logging/context.ts";
import { Collector, ProcessorExporter, batchLimits, postMs } from "./exporter.ts";
import type { Exporter, LoadBatches, SpanProcessor } from "./exporter.ts";
import { inSpan, openSpan } from "./span.ts";
import { freshHex } from "./trace-context.ts";

/** A span of the application's own, while its work runs. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Says something of it. Name it under a prefix of your own, and never say what a request's header, query or body held. */
  set(name: string, value: string | number | boolean): void;
}

/**
 * Runs work as a span within the request's: named by what is done, and never by a concrete path. Lines logged meanwhile
 * carry its id, and spans opened within it are its own. Where the work raises, the span failed with the raise's kind, and
 * the raise passes. Where the trace is not recorded, only the ids are made.
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
  const open = openSpan(name, "internal", {});
  if (open === undefined) {
    return f({ traceId: current()?.traceId ?? freshHex(16), spanId: freshHex(8), set: () => {} });
  }
  try {
    return await inSpan(open, () => f(open));
  } catch (thrown) {
    const kind = kindOf(thrown);
    open.set("exception.type", kind);
    open.fail(kind);
    throw thrown;
  } finally {
    open.end();
  }
}

function kindOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.constructor.name : typeof thrown;
  } catch {
    return "Error";
  }
}

/**
 * Sends spans to an OpenTelemetry collector as OTLP over HTTP: JSON, posted to `<endpoint>/v1/traces` every 5 s, or as soon
 * as 512 spans wait. At most 2048 wait; what ends beyond that, and what the collector did not take in 10 s, is dropped, and
 * counted in a warn line. It stands on the batch processor of `@opentelemetry/sdk-trace-base` and the exporter of
 * `@opentelemetry/exporter-trace-otlp-http`, and loads these packages when it is called.
 *
 * @param options `endpoint` is where the collector listens, as `http://localhost:4318`; `service` what the process is
 * called there. `ratio` is the part of traces begun here that is kept, 1 unless set; one joined from a caller is kept
 * where the caller kept it. `headers` go with every post. `packages` are the two classes, for a program that is bundled,
 * as a Worker is: there they cannot be loaded.
 * @throws TypeError for an endpoint that is no URL of http or https, RangeError for a ratio that is no number.
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
  const { endpoint, service, ratio = 1, headers = {}, packages } = options;
  if (!/^https?:\/\/[^/]/.test(endpoint) || !URL.canParse(endpoint)) {
    throw new TypeError("Trace.otlp: endpoint is the http or https URL of a collector");
  }
  const url = `${endpoint.replace(/\/+$/, "")}/v1/traces`;
  const config = { url, headers: { ...headers }, timeoutMillis: postMs, concurrencyLimit: mostPosts };
  const load: LoadBatches = async (counted) => {
    const { BatchSpanProcessor, OTLPTraceExporter } = (packages ?? (await loadOtlp())) as LoadedPackages;
    return new BatchSpanProcessor(counted(new OTLPTraceExporter(config)), batchLimits);
  };
  return new ProcessorExporter(new Collector(load), ratio, service);
}

// A Worker posts with every request, and the exporter drops what is past its limit: 30, unless set.
const mostPosts = 1000;

/** The classes that `Trace.otlp` stands on. */
export interface OtlpPackages {
  /** Of `@opentelemetry/sdk-trace-base`. */
  readonly BatchSpanProcessor: new (exporter: never, limits: never) => SpanProcessor;
  /** Of `@opentelemetry/exporter-trace-otlp-http`. */
  readonly OTLPTraceExporter: new (config: never) => object;
}

type LoadedPackages = Pick<typeof sdk, "BatchSpanProcessor"> & Pick<typeof otlpHttp, "OTLPTraceExporter">;

const sdkPackage = "@opentelemetry/sdk-trace-base";
const otlpPackage = "@opentelemetry/exporter-trace-otlp-http";

// By names that bundlers do not follow: they would have all of it, or fail for want of it, in a program that does not trace.
async function loadOtlp(): Promise<OtlpPackages> {
  const [{ BatchSpanProcessor }, { OTLPTraceExporter }] = (await Promise.all([
    import(/* @vite-ignore */ sdkPackage),
    import(/* @vite-ignore */ otlpPackage),
  ])) as [typeof sdk, typeof otlpHttp];
  return { BatchSpanProcessor, OTLPTraceExporter };
}

/**
 * Hands spans to an OpenTelemetry span processor, for any other destination. What exports spans goes in one first: a
 * `BatchSpanProcessor` of `@opentelemetry/sdk-trace-base`, as a rule. Where the application registers a provider with
 * `@opentelemetry/api` none is needed: spans go there.
 *
 * @param options `ratio` as `Trace.otlp` has it; `service` is what the process is called, `unknown_service` unless set.
 *
 * @example
 * ```ts
 * const trace = Trace.exporter({ processor: new BatchSpanProcessor(new ZipkinExporter()), service: "shop" });
 * ```
 */
export function exporter(options: {
  readonly processor: SpanProcessor;
  readonly ratio?: number;
  readonly service?: string;
}): Exporter {
  const { processor, ratio = 1, service = "unknown_service" } = options;
  return new ProcessorExporter(processor, ratio, service);
}

export type { Exporter, SpanProcessor } from "./exporter.ts";
