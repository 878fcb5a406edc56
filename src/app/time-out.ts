import type { Answer } from "../exchange/answer.ts";
import { refusal as refusalAnswer } from "../answers/makers.ts";
import { isPending, whenResolved } from "../deferred.ts";
import type { MaybePromise } from "../deferred.ts";
import { within } from "../logging/context.ts";
import { outcomeUnknown, refuse, timedOutRefusal } from "../refusals.ts";
import type { Inside } from "./compile.ts";
import type { WireResponse } from "./exchange.ts";
import { endHandler, finish } from "./finish.ts";
import { dropHandled, dropLate, dropThrown, lateMs } from "./late.ts";
import { giveUp } from "./release.ts";
import type { DeadlineActs, RequestDeadline } from "./request-deadline.ts";
import type { RequestState } from "./request.ts";

/*
 * What happens when the deadline of a request passes: the request is answered, or what follows its answer ends; the signal of its work
 * aborts; and what its handler answers later is dropped.
 */

/** Answers a request by a deadline. `answerInTime` answers it where there is time. */
export type AnswerByDeadline = (
  request: RequestState,
  answerInTime: (request: RequestState) => MaybePromise<WireResponse>,
) => MaybePromise<WireResponse>;

const unknownRefusal = /* @__PURE__ */ refuse(outcomeUnknown);

/** What the deadline of a request brings: a request without one never answers late. */
export class TimeOut implements DeadlineActs {
  readonly #request: RequestState;

  constructor(request: RequestState) {
    this.#request = request;
  }

  expired(): void {
    timeOut(this.#request);
  }

  dropHandled(answer: Answer): Promise<never> {
    return dropHandled(this.#request, answer);
  }

  dropLate(answer: Answer): Promise<never> {
    return dropLate(this.#request, answer);
  }

  dropThrown(thrown: unknown): Promise<never> {
    return dropThrown(this.#request, thrown);
  }
}

/** Called when the deadline passes, and a second later once more where middleware waited for an answer. */
function timeOut(request: RequestState): void {
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
