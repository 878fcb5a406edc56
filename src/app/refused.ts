import type { Answer } from "../answers/answer.ts";
import { refusal as refusalAnswer } from "../answers/build.ts";
import { Refusal, Unwritable, isTellable, listing } from "../refusals.ts";
import { logRaise, logRefusal } from "./access-log.ts";
import { internalRefusal, refusalOf } from "./failures.ts";
import type { RequestState } from "./request.ts";

/**
 * The answer of a refusal in the app's own format. Any other answer stays, and so does one that is in it already: middleware
 * sees a refusal as the client gets it, and may change that. Never throws.
 */
export function formatted(request: RequestState, answer: Answer): Answer {
  const { refusalFormat } = request.app;
  const { refused } = answer;
  if (refusalFormat === undefined || refused === undefined || refused === request.formatted) return answer;
  if (!isTellable(refused)) return answer;
  request.formatted = refused;
  try {
    return { ...answer, ...refusalFormat.node.write(refused, request.id) };
  } catch (thrown) {
    if (refused.detail !== undefined) logRefusal(request, refused);
    const internal = internalAnswer(request, isTellable(thrown) ? new Unwritable(raisedRefusal) : thrown);
    try {
      return { ...internal, ...refusalFormat.node.write(internal.refused as Refusal, request.id) };
    } catch {
      return internal;
    }
  }
}

const raisedRefusal = "a refusal whose format raised another";

/** The answer to an exception, which it logs. Never throws. */
export function failureAnswer(request: RequestState, thrown: unknown): Answer {
  const refusal = refusalOf(thrown);
  if (request.acquired !== undefined && !isTellable(thrown)) request.acquired.hasFailed = true;
  logRaise(request, refusal, thrown);
  try {
    // The line of the exception has the detail already.
    const answered = refusal.detail === undefined || refusal === thrown ? refusal : withoutDetail(refusal);
    return formatted(request, refusalAnswer(listing(request.maxProblems, answered)));
  } catch (unwritten) {
    // A refusal that JavaScript made with an invalid code, or with members that JSON cannot write.
    return internalAnswer(request, unwritten);
  }
}

/** The 500 for what was thrown while a failure was answered, which it logs; in the framework's own format. */
export function internalAnswer(request: RequestState, thrown: unknown): Answer {
  const refusal = internalRefusal(undefined);
  logRaise(request, refusal, thrown);
  request.formatted = refusal;
  return refusalAnswer(refusal);
}

function withoutDetail({ code, message, headers, problems, more }: Refusal): Refusal {
  return new Refusal(code, message, { headers, problems, more });
}
