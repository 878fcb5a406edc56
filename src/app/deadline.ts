import { shown } from "../arguments.ts";
import { isPending } from "../deferred.ts";
import { withinDeadline } from "../logging/context.ts";
import type { TimeLimit } from "../routing/meta.ts";
import { RequestDeadline } from "./request-deadline.ts";
import { TimeOut } from "./time-out.ts";
import type { AnswerByDeadline } from "./time-out.ts";

// A longer timer would fire at once.
const maxMs = 2 ** 31 - 1;

/**
 * How long an answer may take, in milliseconds from the arrival of the request's head. Past it the answer is 503 `timed_out`, the input
 * `deadline` aborts, and what the handler answers later is dropped.
 *
 * @throws Error for another value than a whole number from 1 to 2147483647.
 * @example
 * ```ts
 * await serve(routes, { port: 8080, deadline: Deadline.make(10_000) });
 * ```
 */
export function make(ms: number): TimeLimit {
  if (!Number.isInteger(ms) || ms < 1 || ms > maxMs)
    throw new Error(
      `Deadline.make: a deadline is a whole number of milliseconds from 1 to ${maxMs}, and not ${shown(ms)}`,
    );
  // The shorter one of the limits that the route and the caller have.
  const answer: AnswerByDeadline = (request, answerInTime) => {
    const { deadlineHeader } = request.app;
    const limit =
      deadlineHeader === undefined ? ms : Math.min(ms, callerLimitOf(request.exchange.lines(deadlineHeader)));
    const deadline = new RequestDeadline(request, limit, new TimeOut(request));
    request.startDeadline(deadline);
    if (limit === 0) {
      // Nothing runs for a caller that has no time left.
      deadline.expire();
      return deadline;
    }
    const response = withinDeadline(request, answerInTime);
    return isPending(response) ? deadline.wait() : response;
  };
  return { ms, answer };
}

/** How long the caller waits. A value that is not a whole number of milliseconds sets no limit. */
function callerLimitOf(lines: readonly string[]): number {
  const [text = ""] = lines;
  return lines.length === 1 && /^\d{1,10}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
}
