import type { Answer } from "../exchange/answer.ts";
import { refusal as refusalAnswer } from "../answers/makers.ts";
import type { RefusalFormat } from "../answers/refusal-format.ts";
import { isA } from "../logging/raised.ts";
import { Refusal, RefusingError, InvalidAnswerError, internalRefusal, isRefusal, listing } from "../refusals.ts";
import { endsOfGone, logRaise, logRefusal } from "./access-log.ts";
import { refusalOf } from "./failures.ts";
import type { RequestState } from "./request.ts";

/**
 * The answer of a refusal in the app's own format. Any other answer stays, and so does one that is in it already: middleware
 * sees a refusal as the client gets it, and may change that. Never throws.
 */
export function formatted(request: RequestState, answer: Answer): Answer {
  const { refusalFormat, languages } = request.app;
  const { refused } = answer;
  if ((refusalFormat ?? languages) === undefined || refused === undefined || !isRefusal(refused)) return answer;
  if (isFormatted(request, answer, refused)) return answer;
  try {
    return (request.answerParts().formatted = written(request, answer, refused, refusalFormat));
  } catch (thrown) {
    if (refused.detail !== undefined) logRefusal(request, refused);
    const raised = isRefusal(thrown) ? new InvalidAnswerError(raisedRefusal) : thrown;
    const by = refusalFormat === undefined ? "the option languages" : "the option refusalFormat";
    const why = isA(InvalidAnswerError, raised) ? `${by}: ${raised.message}` : `${by} raised`;
    return writtenSafely(request, internalOf(request, raised, why), refusalFormat);
  }
}

/** Whether an answer is in the app's format, or has a body of its own that middleware gave it. */
function isFormatted({ parts }: RequestState, { body }: Answer, refused: Refusal): boolean {
  const formatted = parts?.formatted;
  if (refused !== formatted?.refused) return false;
  // The same refusal may be made an answer once more: middleware throws it, or has the same constant as the handler.
  return body === formatted.body || body !== refusalAnswer(refused).body;
}

/** The answer of a refusal in the language of its request, and in a format. */
function written(request: RequestState, answer: Answer, refused: Refusal, format: RefusalFormat | undefined): Answer {
  const { id, app } = request;
  if (app.languages === undefined) return { ...answer, ...format?.node.write(refused, id) };
  return app.languages.node.written(answer, refused, { accepted: request.lines("accept-language"), id, format });
}

const raisedRefusal = "a refusal whose format raised another";

/** The answer to an exception, which it logs, unless the client has gone. Never throws. */
export function failureAnswer(request: RequestState, thrown: unknown): Answer {
  const gone = request.isOfClientGone(thrown) ? endsOfGone(request) : undefined;
  const isGone = gone !== undefined;
  const refusal = gone?.refusal ?? refusalOf(thrown);
  if (!isRefusal(thrown)) request.ending.went(gone?.request ?? "failed");
  if (!isGone) logRaise(request, refusal, thrown);
  try {
    // The line of the exception has the detail already.
    const isLogged = !isGone && refusal !== thrown && refusal.detail !== undefined;
    const answered = isLogged ? withoutDetail(refusal) : refusal;
    return formatted(request, refusalAnswer(listing(request.maxProblems, answered)));
  } catch (unwritten) {
    // A refusal that JavaScript made with an invalid code, or with members that JSON cannot write.
    return internalAnswer(request, unwritten);
  }
}

/** The same for what an input or the handler raised: nothing that they acquired is committed. */
export function handlerFailure(request: RequestState, thrown: unknown): Answer {
  if (!isRefusal(thrown)) request.ending.affected("failed");
  if (isA(RefusingError, thrown) && thrown.isOutcomeUnknown) request.ending.affected("unknown");
  return failureAnswer(request, thrown);
}

/** The 500 for what was thrown while a failure was answered, which it logs; in the framework's own format. */
export function internalAnswer(request: RequestState, thrown: unknown): Answer {
  return writtenSafely(request, internalOf(request, thrown), undefined);
}

/** @param why Ends the log line; by default that something raised. */
function internalOf(request: RequestState, thrown: unknown, why?: string): Refusal {
  logRaise(request, internalRefusal(why), thrown);
  return internalRefusal(undefined);
}

/** In the format and the language; where these throw, in the framework's own. */
function writtenSafely(request: RequestState, refusal: Refusal, format: RefusalFormat | undefined): Answer {
  const answer = refusalAnswer(refusal);
  try {
    return (request.answerParts().formatted = written(request, answer, refusal, format));
  } catch {
    return (request.answerParts().formatted = answer);
  }
}

function withoutDetail({ code, message, challenge, headers, problems, more }: Refusal): Refusal {
  return new Refusal(code, message, { challenge, headers, problems, more });
}
