import type { Answer } from "../answers/answer.ts";
import { builtAnswer } from "../answers/built.ts";
import type { RequestRecord } from "../inputs/asked.ts";
import type { Awaitable } from "../inputs/dep.ts";
import { recordOf } from "../inputs/request-record.ts";
import type { Route } from "../routes/route.ts";
import type { AskedExchange } from "./asked.ts";
import type { Sent } from "./exchange.ts";
import { failureAnswer, send, unsent } from "./send.ts";

/** A request as middleware sees it: its head, and the route that will answer it, if one does. */
export interface MiddlewareRequest extends RequestRecord {
  /** Undefined for what is no route's: a 404, a 405, a redirect. */
  readonly route: Route | undefined;
}

/**
 * What stands around every answer of an app. `next` answers with what is inside: the routes, the cross-origin check, and
 * what is no route; it never rejects, since what raises inside is a 500, and it is called once at most. Middleware may
 * answer in its place or make another answer of it; it has no body to read, and nothing it does leads to another route.
 */
export type Middleware = (request: MiddlewareRequest, next: () => Promise<Answer>) => Awaitable<Answer | Response>;

/** What was made inside of the middleware, in the place of what would be sent. */
export interface Inside {
  made: Answer | undefined;
  take(answer: Answer): Sent;
}

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
