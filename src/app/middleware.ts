import type { Answer } from "../exchange/answer.ts";
import { answerFrom, startBody } from "../answers/kinds.ts";
import type { MaybePromise } from "../deferred.ts";
import { recordOf } from "../inputs/request.ts";
import { isRefusal } from "../refusals.ts";
import { logRefusal } from "./access-log.ts";
import type { Inside, Middleware, MiddlewareRequest } from "./compile.ts";
import { cancelBody } from "./cancel-body.ts";
import { failureAnswer, formatted } from "./refused.ts";
import type { RequestState } from "./request.ts";

/** Answers through an app's middleware, outermost first. Never rejects. */
export async function answerThrough(
  request: RequestState,
  chain: readonly Middleware[],
  answerInside: (made: (request: RequestState, answer: Answer) => Answer) => MaybePromise<Answer>,
): Promise<Answer> {
  const record: MiddlewareRequest = Object.assign(recordOf(request), { route: request.match?.route.route });
  const inside: Inside = { made: undefined, refused: [], bodies: [] };
  request.inside = inside;
  const begun: Promise<Answer>[] = [];
  let running = 0;
  const layer = async (i: number): Promise<Answer> => {
    const middleware = chain[i];
    if (middleware === undefined) return answerInside(keepMade);
    let isCalled = false;
    const next = (): Promise<Answer> => {
      if (isCalled) throw new Error("middleware called next twice, where a request is answered once");
      isCalled = true;
      const answer = layer(i + 1);
      begun.push(answer);
      return answer;
    };
    running++;
    try {
      const answer = answerFrom(await middleware(record, next));
      return note(
        request,
        inside,
        formatted(request, typeof answer.body === "object" ? await startBody(answer) : answer),
      );
    } catch (thrown) {
      return note(request, inside, failureAnswer(request, thrown));
    } finally {
      running--;
    }
  };
  const answer = await layer(0);
  const { made } = inside;
  // What no middleware awaited continues: the route, which may hold something, or the rest of another middleware.
  const isRouteRunning = made === undefined && begun.length === chain.length;
  if (running > 0 || isRouteRunning) request.exchange.keepAlive?.(Promise.all(begun));
  return answer;
}

function keepMade(request: RequestState, answer: Answer): Answer {
  const inside = request.inside as Inside;
  inside.made = answer;
  return note(request, inside, answer);
}

/** Notes the refusal and the body that an answer carries. It is dropped where the request was answered without it. */
function note(request: RequestState, { refused: noted, bodies }: Inside, answer: Answer): Answer {
  const { refused, body } = answer;
  const isNew = isRefusal(refused) && !noted.includes(refused);
  if (isNew) noted.push(refused);
  if (request.ending.at.isAnswered) {
    cancelBody(body);
    if (isNew && refused.detail !== undefined) logRefusal(request, refused);
  } else if (typeof body === "object" && !bodies.includes(body)) bodies.push(body);
  return answer;
}
