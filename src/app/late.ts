import type { Answer } from "../exchange/answer.ts";
import { isA } from "../logging/raised.ts";
import { RefusingError, isRefusal, timedOut } from "../refusals.ts";
import { logFault, logLate } from "./access-log.ts";
import { cancelBody } from "./cancel-body.ts";
import { endHandler } from "./finish.ts";
import { failureAnswer } from "./refused.ts";
import type { RequestState } from "./request.ts";

/*
 * What the work of a request answers after the answer of its deadline was sent.
 */

/** How long a late handler may run where the runtime would end it with the answer. Cloudflare gives as much (`waitUntil`). */
export const lateMs = 30_000;

/** Drops what the handler answered after its deadline. */
export function dropHandled(request: RequestState, answer: Answer): Promise<never> {
  request.ending.on("done");
  storeLate(request, request.ending.guard?.endedLate(endHandler(request, answer), request.ending.effect !== "kept"));
  return dropLate(request, answer);
}

/** What is stored of a late answer outlasts its handler: a server that stops waits for it, and a runtime does not end it. */
function storeLate(request: RequestState, storing: Promise<void> | undefined): void {
  if (storing === undefined) return;
  const { app, exchange } = request;
  const failed = (thrown: unknown): void => logFault(request, "the store of an idempotency key", thrown);
  const stored = app.work.track(storing.catch(failed));
  exchange.keepAlive?.(stored, lateMs);
}

/** Drops an answer that comes after that of the deadline. */
export function dropLate(request: RequestState, { body, status, refused }: Answer): Promise<never> {
  cancelBody(body);
  if (refused?.code.name !== timedOut.name) logLate(request, status);
  return new Promise(() => {});
}

/** Drops what was thrown after the deadline. An error that is not of the deadline's own making is logged. */
export function dropThrown(request: RequestState, thrown: unknown): Promise<never> {
  request.ending.on("done");
  storeLate(request, request.ending.guard?.endedLate(undefined));
  const isExpected = request.deadline?.isOwn(thrown) === true || isRefusal(thrown) || isA(RefusingError, thrown);
  if (!isExpected) failureAnswer(request, thrown);
  return new Promise(() => {});
}
