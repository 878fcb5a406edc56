import type { Answer } from "../answers/answer.ts";
import { builtAnswer } from "../answers/built.ts";
import { recordOf } from "../inputs/request-record.ts";
import { isTellable } from "../refusals/refusal.ts";
import type { Refusal } from "../refusals/refusal.ts";
import type { AskedExchange } from "./asked.ts";
import type { Sent } from "./exchange.ts";
import type { Inside, Middleware, MiddlewareRequest } from "./middleware.ts";
import { logRefusal } from "./request-log.ts";
import { failureAnswer, send, unsent } from "./send.ts";

/** Answers through an app's middleware, outermost first. `inside` is the way of a request without any. */
export async function answerThrough(
  asked: AskedExchange,
  chain: readonly Middleware[],
  inside: (asked: AskedExchange) => unknown,
): Promise<Sent> {
  const request: MiddlewareRequest = Object.assign(recordOf(asked), { route: asked.match?.route.route });
  const within = new Within(asked);
  asked.inside = within;
  const layer = async (i: number): Promise<Answer> => {
    const middleware = chain[i];
    if (middleware === undefined) return within.make(inside);
    let isCalled = false;
    const next = (): Promise<Answer> => {
      if (isCalled) throw new Error("middleware called next twice, where a request is answered once");
      isCalled = true;
      return layer(i + 1);
    };
    try {
      return within.note(builtAnswer(await middleware(request, next)));
    } catch (thrown) {
      return within.note(failureAnswer(asked, thrown));
    }
  };
  const answer = await layer(0);
  const { made } = within;
  if (made !== undefined && made.body !== answer.body) unsent(made.body);
  asked.finish();
  return send(asked, answer);
}

/** What is inside of an app's middleware, and what comes out of it. */
class Within implements Inside {
  made: Answer | undefined = undefined;
  readonly refused: Refusal[] = [];
  readonly #asked: AskedExchange;
  #resolve: (answer: Answer) => void = () => {};

  constructor(asked: AskedExchange) {
    this.#asked = asked;
  }

  make(inside: (asked: AskedExchange) => unknown): Promise<Answer> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      inside(this.#asked);
    });
  }

  take(answer: Answer): Sent {
    this.made = answer;
    this.#resolve(this.note(answer));
    if (this.#asked.isSent) this.#late(answer);
    return handedOver;
  }

  /** Notes the refusal that an answer tells. */
  note(answer: Answer): Answer {
    const { refused } = answer;
    if (isTellable(refused) && !this.refused.includes(refused)) this.refused.push(refused);
    return answer;
  }

  // Middleware that waited for it no longer has answered already: nobody reads this one.
  #late({ body, refused }: Answer): void {
    unsent(body);
    if (isTellable(refused) && refused.detail !== undefined) logRefusal(this.#asked, refused);
  }
}

// What an answer's maker returns where it goes to middleware: nobody looks at it.
const handedOver: Sent = { status: 500, head: [], body: undefined, closes: false };
