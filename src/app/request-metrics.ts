import type { Answer } from "../answers/answer.ts";
import { figures } from "../measuring/figures.ts";
import { measure } from "../measuring/measure.ts";
import type { AskedExchange } from "./asked.ts";
import { knownMethods } from "../routes/known-methods.ts";

/** Takes down what a request was answered with and how long that took, where anybody measures. */
export function measureRequest(asked: AskedExchange, { status }: Answer): void {
  if (asked.isCounted) figures.requests--;
  asked.isCounted = false;
  if (!asked.isMeasured) return;
  const route = asked.route?.route.pattern;
  measure("served", (performance.now() - asked.startedAt) / 1000, {
    "http.request.method": knownMethods.has(asked.method) ? asked.method : "_OTHER",
    "url.scheme": asked.scheme,
    ...(route === undefined ? {} : { "http.route": route }),
    "http.response.status_code": status,
    ...(status >= 500 ? { "error.type": String(status) } : {}),
  });
}
