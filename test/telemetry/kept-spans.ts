/** A store for the spans of a test, and a provider as an application registers it. */
import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { ReadableSpan, Sampler } from "@opentelemetry/sdk-trace-base";
import { Trace } from "usher-http";
import { endsWithTest } from "../support/ends.ts";

/** An exporter of the app's own, over OpenTelemetry's own processor. */
export function kept(ratio?: number): { readonly trace: Trace.Exporter; readonly spans: () => ReadableSpan[] } {
  const memory = new InMemorySpanExporter();
  const processor = new SimpleSpanProcessor(memory);
  const made = Trace.exporter(ratio === undefined ? { processor } : { processor, ratio });
  return { trace: made, spans: () => memory.getFinishedSpans() };
}

endsWithTest(() => {
  trace.disable();
  context.disable();
});

/** Registers OpenTelemetry's own provider, and returns the spans that it received. */
export function registered(options: { readonly sampler?: Sampler; readonly context?: boolean } = {}) {
  const memory = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(memory)],
    ...(options.sampler === undefined ? {} : { sampler: options.sampler }),
  });
  trace.setGlobalTracerProvider(provider);
  if (options.context !== false) context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return { spans: (): ReadableSpan[] => memory.getFinishedSpans() };
}

/** A span by its name; the only one. */
export function named(spans: readonly ReadableSpan[], name: string): ReadableSpan {
  const [first, ...others] = spans.filter((span) => span.name === name);
  if (first === undefined || others.length > 0) {
    throw new Error(
      `${others.length + (first ? 1 : 0)} spans are named ${name}, of ${spans.map((span) => span.name).join(", ")}`,
    );
  }
  return first;
}
