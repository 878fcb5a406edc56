import { isThenable } from "../async.ts";
import { within } from "../logging/context.ts";
import { logRaised } from "../logging/raised.ts";
import { isTellable } from "../refusals.ts";
import type { FailedRequest } from "./compile.ts";
import type { RequestState } from "./request.ts";

/** Gives an error to the application's `onError`, if it has one. A refusal is an answer and no error. Never throws. */
export function reportError(request: RequestState, thrown: unknown, during: FailedRequest["during"]): void {
  const { onError } = request.app;
  if (onError === undefined || isTellable(thrown)) return;
  try {
    const failed = failedRequest(request, during);
    const reporting = within(request, () => onError(thrown, failed));
    if (!isThenable(reporting)) return;
    const done = Promise.resolve(reporting).then(undefined, (raised: unknown) => logOwn(request, raised));
    request.exchange.keepAlive?.(done);
  } catch (raised) {
    logOwn(request, raised);
  }
}

function failedRequest(
  { id, method, path, match, context }: RequestState,
  during: FailedRequest["during"],
): FailedRequest {
  return { id, method, path, route: match?.route.route, traceId: context.traceId, spanId: context.spanId, during };
}

function logOwn({ context }: RequestState, raised: unknown): void {
  logRaised("onError raised", raised, context);
}
