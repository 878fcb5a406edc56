import type * as otlpHttp from "@opentelemetry/exporter-trace-otlp-http";
import { current } from "../logging/context.ts";
import { Batches, ProcessorExporter } from "./exporter.ts";
import type { Exporter, SpanExporter, SpanProcessor } from "./exporter.ts";
import { freshHex } from "./random.ts";
import { inSpan, openSpan } from "./current-span.ts";

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
 * counted in a warn line. It needs the package `@opentelemetry/exporter-trace-otlp-http`, and loads it when it is called;
 * a program that is bundled hands an `OTLPTraceExporter` to `Trace.exporter` instead, which does the same with it.
 *
 * @param options `endpoint` is where the collector listens, as `http://localhost:4318`; `service` what the process is
 * called there. `ratio` is the part of traces begun here that is kept, 1 unless set; one joined from a caller is kept
 * where the caller kept it. `headers` go with every post.
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
}): Exporter {
  const { endpoint, service, ratio = 1, headers = {} } = options;
  if (!/^https?:\/\/[^/]/.test(endpoint) || !URL.canParse(endpoint)) {
    throw new TypeError("Trace.otlp: endpoint is the http or https URL of a collector");
  }
  const url = `${endpoint.replace(/\/+$/, "")}/v1/traces`;
  const exporter = loadOtlp({ url, headers: { ...headers }, timeoutMillis: 10_000 });
  // Whoever sends is told; until then nobody waits for it.
  exporter.catch(() => {});
  return new ProcessorExporter(new Batches(() => exporter), ratio, service);
}

/** What the package is told; what it reads of the environment comes after it. */
interface OtlpConfig {
  readonly url: string;
  readonly headers: { [name: string]: string };
  readonly timeoutMillis: number;
}

type OtlpPackage = typeof otlpHttp;
const otlpPackage = "@opentelemetry/exporter-trace-otlp-http";

// By a name that bundlers do not follow: they would have all of it, or fail for want of it, in a program that does not trace.
async function loadOtlp(config: OtlpConfig): Promise<SpanExporter> {
  const { OTLPTraceExporter } = (await import(/* @vite-ignore */ otlpPackage)) as OtlpPackage;
  return new OTLPTraceExporter(config);
}

/**
 * Hands spans to an OpenTelemetry span processor, or to a span exporter in batches as `Trace.otlp` sends them: for any
 * other destination. Where the application registers a provider with `@opentelemetry/api` none is needed: spans go there.
 *
 * @param options `ratio` as `Trace.otlp` has it; `service` is what the process is called, `unknown_service` unless set.
 */
export function exporter(options: {
  readonly processor: SpanProcessor | SpanExporter;
  readonly ratio?: number;
  readonly service?: string;
}): Exporter {
  const { processor, ratio = 1, service = "unknown_service" } = options;
  const made = "export" in processor ? new Batches(async () => processor) : processor;
  return new ProcessorExporter(made, ratio, service);
}

export type { Exporter, SpanExporter, SpanProcessor } from "./exporter.ts";
