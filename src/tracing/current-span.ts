import { current, withinSpan } from "../logging/context.ts";
import { registeredTracer } from "./registered.ts";
import { registered } from "./registry.ts";
import type { Attributes, OpenSpan, SpanKind } from "./span.ts";

/** Opens a span within the one that is open, if that is recorded; outside of requests, with a registered provider alone. */
export function openSpan(name: string, kind: SpanKind, attributes: Attributes): OpenSpan | undefined {
  const context = current();
  if (context?.requestId === undefined) {
    return context?.span?.child(name, kind, attributes) ?? registeredTracer(registered())?.root(name, kind, attributes);
  }
  return context.span?.child(name, kind, attributes);
}

/** Runs work within a span: its lines carry the span's id, and spans it opens are within it. */
export function inSpan<A>(span: OpenSpan, work: () => A): A {
  return withinSpan(span, work);
}

/**
 * Opens the span of a statement, for whoever runs one: whoever opens it ends it, after `fail` where it failed. Undefined,
 * and at no cost, where nothing is recorded.
 *
 * @param text The statement as it is written, whose parameters stand in it as `$1`. No parameter's value ever is in it.
 */
export function openStatement(text: string): OpenSpan | undefined {
  return openSpan("postgresql", "client", { "db.system.name": "postgresql", "db.query.text": text });
}
