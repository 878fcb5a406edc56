import type { Answer } from "../answers/answer.ts";
import { registeredTracer } from "../tracing/registered.ts";
import type { OpenSpan } from "../tracing/span.ts";
import type { AskedExchange } from "./asked.ts";
import { codeOf, replacedCode } from "./middleware.ts";
import { knownMethods } from "../routes/known-methods.ts";

/**
 * Opens a request's span where one is recorded. What method a client makes up is not a name of its own (OpenTelemetry's
 * semantic conventions for HTTP).
 */
export function openSpan(asked: AskedExchange): void {
  const tracer = asked.app.tracer ?? registeredTracer(asked.otel);
  if (tracer === undefined) return;
  const { method } = asked;
  const isKnown = knownMethods.has(method);
  asked.context.span = tracer.open(asked.context.trace, isKnown ? method : "HTTP", {
    "http.request.method": isKnown ? method : "_OTHER",
    "http.request.method_original": isKnown ? undefined : method,
    "url.path": asked.path,
    "url.scheme": asked.scheme,
  });
}

/** Ends it: what was answered, and by which route. It is told of no header, query, body or parameter. */
export function endSpan(asked: AskedExchange, span: OpenSpan, { status, refused }: Answer, size: number): void {
  const pattern = asked.route?.route.pattern;
  if (pattern !== undefined) {
    span.rename(`${knownMethods.has(asked.method) ? asked.method : "HTTP"} ${pattern}`);
    span.set("http.route", pattern);
  }
  span.set("http.response.status_code", status);
  span.set("http.response.body.size", size);
  const code = codeOf(asked.inside, refused);
  if (code !== undefined) span.set("framework.refusal.code", code);
  const replaced = replacedCode(asked.inside, refused);
  if (replaced !== undefined) span.set("framework.refusal.replaced", replaced);
  if (status >= 500) {
    span.set("error.type", String(status));
    span.fail(String(status));
  }
  span.end();
}
