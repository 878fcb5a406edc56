import type { Answer } from "../answers/answer.ts";
import { refusal as refusalAnswer } from "../answers/makers.ts";
import { isPending, whenResolved } from "../deferred.ts";
import { within } from "../logging/context.ts";
import { isA } from "../logging/raised.ts";
import { RefusingError, isRefusal, outcomeUnknown, refuse, timedOut, timedOutRefusal } from "../refusals.ts";
import { logFault, logLate } from "./access-log.ts";
import { cancelBody } from "./cancel-body.ts";
import type { Inside } from "./compile.ts";
import type { RequestDeadline } from "./deadline.ts";
import { endHandler, finish } from "./finish.ts";
import { failureAnswer } from "./refused.ts";
import { giveUp } from "./release.ts";
import type { RequestState } from "./request.ts";

/*
 * What happens when the deadline of a request passes: the request is answered, or what follows its answer ends; the signal of its work
 * aborts; and what its handler answers later is dropped.
 */

const unknownRefusal = /* @__PURE__ */ refuse(outcomeUnknown);

/** How long a late handler may run where the runtime would end it with the answer. Cloudflare gives as much (`waitUntil`). */
const lateMs = 30_000;

/** Called when the deadline passes, and a second later once more where middleware waited for an answer. */
export function timeOut(request: RequestState): void {
  const { ending, deadline } = request;
  if (deadline === undefined) return;
  // The work so far keeps its deadline, which has passed. What runs from now on has none.
  if (!ending.hasTimedOut) request.splitContext();
  within(request, () => {
    const from = ending.at;
    ending.on("expires");
    if (ending.at.work !== from.work) leaveLate(request, deadline);
    if (from.reply === "following") deadline.end();
    else answerLate(request, deadline);
    deadline.abort();
  });
}

/** What the inputs acquired is rolled back. A late handler may end: what it acquires is to be released, and its `finally` to run. */
function leaveLate(request: RequestState, deadline: RequestDeadline): void {
  giveUp(request, answerOf(request, deadline));
  const { handling } = deadline;
  if (!isPending(handling)) return;
  request.exchange.keepAlive?.(new Promise((resolve) => whenResolved<unknown>(handling, resolve, resolve)), lateMs);
}

/** Answers the request. Middleware that waits gets the answer first, as that of its route, and has a second for its own. */
function answerLate(request: RequestState, deadline: RequestDeadline): void {
  const answer = endHandler(request, answerOf(request, deadline));
  if (deadline.hasInside) {
    (request.inside as Inside).made = answer;
    deadline.answerInside(answer);
  } else {
    deadline.stop();
    deadline.respond(finish(request, answer));
  }
}

/**
 * The answer at the deadline. Once a commit was sent, whether the work is done is unknown. A refusal of the handler stays the
 * answer, because it rolls the work back.
 */
function answerOf({ ending }: RequestState, { hasCommitted }: RequestDeadline): Answer {
  const { answer } = ending;
  if (answer?.refused !== undefined) return answer;
  return refusalAnswer(answer !== undefined || hasCommitted ? unknownRefusal : timedOutRefusal);
}

/** Drops what the handler answered after its deadline. */
export function dropHandled(request: RequestState, answer: Answer): Promise<never> {
  request.ending.on("done");
  storeLate(request, request.guard?.endedLate(endHandler(request, answer), request.ending.effect !== "kept"));
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
  storeLate(request, request.guard?.endedLate(undefined));
  const isExpected = request.deadline?.isOwn(thrown) === true || isRefusal(thrown) || isA(RefusingError, thrown);
  if (!isExpected) failureAnswer(request, thrown);
  return new Promise(() => {});
}
