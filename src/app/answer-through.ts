import type { Answer } from "../answers/answer.ts";
import { builtAnswer } from "../answers/built.ts";
import { recordOf } from "../inputs/request-record.ts";
import type { AskedExchange } from "./asked.ts";
import type { Sent } from "./exchange.ts";
import type { Middleware, MiddlewareRequest } from "./middleware.ts";
import { failureAnswer, send, unsent } from "./send.ts";

/** Answers through an app's middleware, outermost first. `inside` is the way of a request without any. */
export async function answerThrough(
  asked: AskedExchange,
  chain: readonly Middleware[],
  inside: (asked: AskedExchange) => unknown,
): Promise<Sent> {
  const request: MiddlewareRequest = Object.assign(recordOf(asked), { route: asked.match?.route.route });
  const layer = async (i: number): Promise<Answer> => {
    const middleware = chain[i];
    if (middleware === undefined) return madeInside(asked, inside);
    let isCalled = false;
    const next = (): Promise<Answer> => {
      if (isCalled) throw new Error("middleware called next twice, where a request is answered once");
      isCalled = true;
      return layer(i + 1);
    };
    try {
      return builtAnswer(await middleware(request, next));
    } catch (thrown) {
      return failureAnswer(asked, thrown);
    }
  };
  const answer = await layer(0);
  const made = asked.inside?.made;
  if (made !== undefined && made.body !== answer.body) unsent(made.body);
  asked.finish();
  return send(asked, answer);
}

function madeInside(asked: AskedExchange, inside: (asked: AskedExchange) => unknown): Promise<Answer> {
  return new Promise((resolve) => {
    asked.inside = {
      made: undefined,
      take(answer) {
        this.made = answer;
        // Middleware that waited for it no longer has answered already: nobody reads this one.
        if (asked.isSent) unsent(answer.body);
        resolve(answer);
        return handedOver;
      },
    };
    inside(asked);
  });
}

// What an answer's maker returns where it goes to middleware: nobody looks at it.
const handedOver: Sent = { status: 500, head: [], body: undefined, closes: false };
