import type { Answer } from "../answers/answer.ts";
import { refusal as refusalAnswer } from "../answers/makers.ts";
import { isPending, whenResolved } from "../deferred.ts";
import type { Deferred } from "../deferred.ts";
import { within } from "../logging/context.ts";
import { isA } from "../logging/raised.ts";
import { RefusingError, isRefusal, outcomeUnknown, refuse, timedOut, timedOutRefusal } from "../refusals.ts";
import { logFault, logLate } from "./access-log.ts";
import { Acquired } from "./acquired.ts";
import type { RequestDeadline } from "./deadline.ts";
import { cancelBody } from "./cancel-body.ts";
import { endHandler, finish } from "./finish.ts";
import { failureAnswer } from "./refused.ts";
import { giveUp } from "./release.ts";
import type { RequestState } from "./request.ts";

/*
 * What happens when the deadline of a request passes: the request is answered, the signal of its work aborts, and what its
 * handler answers later is dropped.
 */

const unknownRefusal = /* @__PURE__ */ refuse(outcomeUnknown);

/** Answers a request whose deadline has passed. Middleware gets that answer first, and has a second for its own. */
export function timeOut(request: RequestState, deadline: RequestDeadline<RequestState>): void {
  within(request, () => {
    if (!deadline.hasExpired) leave(request, deadline);
    const answer = (): Answer => endHandler(request, answerOf(request, deadline));
    if (!deadline.answerInside(() => insideAnswer(request, answer()))) {
      deadline.answered();
      deadline.respond(finish(request, answer()));
    }
    deadline.abort();
  });
}

/** Middleware sees the answer as that of its route. */
function insideAnswer(request: RequestState, answer: Answer): Answer {
  if (request.inside !== undefined) request.inside.made = answer;
  return answer;
}

/** Gives up what the inputs acquired. What they acquire from now on is released at once. */
function leave(request: RequestState, deadline: RequestDeadline<RequestState>): void {
  deadline.pass();
  request.acquired ??= new Acquired(request);
  giveUp(request, request.acquired, answerOf(request, deadline));
  if (isPending(deadline.handling)) keepRunning(request, deadline.handling);
}

/** How long a late handler may run where the runtime would end it with the answer. Cloudflare gives as much (`waitUntil`). */
const lateMs = 30_000;

/** Lets a late handler end: what it acquires meanwhile is to be released, and its `finally` to run. */
function keepRunning({ exchange }: RequestState, handling: Promise<Answer> | Deferred<Answer>): void {
  if (exchange.keepAlive === undefined) return;
  exchange.keepAlive(new Promise((resolve) => whenResolved<unknown>(handling, resolve, resolve)), lateMs);
}

/**
 * The answer at the deadline. Once a commit was sent, whether the work is done is unknown. A refusal of the handler stays the
 * answer, because it rolls the work back.
 */
function answerOf({ acquired }: RequestState, { hasCommitted }: RequestDeadline<RequestState>): Answer {
  const answer = acquired?.answer;
  if (answer?.refused !== undefined) return answer;
  return refusalAnswer(answer !== undefined || hasCommitted ? unknownRefusal : timedOutRefusal);
}

/** Drops what the handler answered after its deadline. */
export function dropHandled(request: RequestState, answer: Answer): Promise<never> {
  storeLate(request, request.guard?.endedLate(endHandler(request, answer), request.acquired?.isUndone));
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
export function dropThrown(
  request: RequestState,
  deadline: RequestDeadline<RequestState>,
  thrown: unknown,
): Promise<never> {
  storeLate(request, request.guard?.endedLate(undefined));
  const isExpected = deadline.isOwn(thrown) || isRefusal(thrown) || isA(RefusingError, thrown);
  if (!isExpected) failureAnswer(request, thrown);
  return new Promise(() => {});
}
