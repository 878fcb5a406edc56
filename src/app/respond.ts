import type { Answer } from "../answers/answer.ts";
import { refusal as refusalAnswer } from "../answers/build.ts";
import { answerReturns } from "../answers/kinds.ts";
import { isThenable } from "../async.ts";
import type { MaybePromise } from "../deferred.ts";
import { knownMethods } from "../http/target.ts";
import { readInputs } from "../inputs/plan.ts";
import type { InputValues, Then } from "../inputs/plan.ts";
import { recordOf } from "../inputs/request.ts";
import { within } from "../logging/context.ts";
import {
  Refusal,
  crossOrigin,
  isTellable,
  methodNotAllowed,
  notFound,
  notImplemented,
  sentences,
} from "../refusals.ts";
import type { Code } from "../refusals.ts";
import { isCrossOrigin } from "../security/cross-origin.ts";
import { logFault, logRefusal, openSpan } from "./access-log.ts";
import type { CompiledApp, CompiledCors, CompiledRoute, Inside, Middleware, MiddlewareRequest } from "./compile.ts";
import type { Exchange, WireResponse } from "./exchange.ts";
import { failureAnswer, reply, send, unsent } from "./finish.ts";
import { RequestState } from "./request.ts";

/** Answers through an app's middleware, outermost first. `inside` is the way of a request without any. */
async function answerThrough(
  asked: RequestState,
  chain: readonly Middleware[],
  inside: (asked: RequestState) => unknown,
): Promise<WireResponse> {
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
      return within.note(answerReturns(await middleware(request, next)));
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
  readonly #asked: RequestState;
  #resolve: (answer: Answer) => void = () => {};

  constructor(asked: RequestState) {
    this.#asked = asked;
  }

  make(inside: (asked: RequestState) => unknown): Promise<Answer> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      inside(this.#asked);
    });
  }

  take(answer: Answer): WireResponse {
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
const handedOver: WireResponse = { status: 500, head: [], body: undefined, closes: false };

/**
 * Answers one request: this file is its whole way, from arrival to the answer a listener writes. It answers at once
 * wherever nothing waits, and neither throws nor rejects: whatever is thrown on the way is an answer too.
 */
export function answerExchange(app: CompiledApp, exchange: Exchange): MaybePromise<WireResponse> {
  const asked = new RequestState(app, exchange);
  try {
    openSpan(asked);
  } catch (thrown) {
    logFault(asked, "a tracer", thrown);
  }
  try {
    return within(asked, decideSafely);
  } catch (thrown) {
    // Whatever the application has registered to hold contexts raised.
    return failed(asked, thrown);
  }
}

function decideSafely(asked: RequestState): MaybePromise<WireResponse> {
  try {
    return decide(asked);
  } catch (thrown) {
    return failed(asked, thrown);
  }
}

/** What is around the routes: a browser's question before it sends, the app's middleware; and then what is inside. */
function decide(asked: RequestState): MaybePromise<WireResponse> {
  const { app, method, path } = asked;
  asked.match = app.table.find(method === "HEAD" ? "GET" : method, path);
  if (app.cors !== undefined && method === "OPTIONS") {
    const answer = preflightAnswer(asked, app.cors);
    if (answer !== undefined) {
      // Answered in the place of the application's own OPTIONS route, if it has one.
      asked.match = undefined;
      return reply(asked, answer);
    }
  }
  return app.middleware === undefined ? decideInside(asked) : answerThrough(asked, app.middleware, decideInsideSafely);
}

function decideInsideSafely(asked: RequestState): MaybePromise<WireResponse> {
  try {
    return decideInside(asked);
  } catch (thrown) {
    return failed(asked, thrown);
  }
}

/** The order of decisions (contract 4.2, 5.7): the cross-origin check, the method, the route, and then what is no route. */
function decideInside(asked: RequestState): MaybePromise<WireResponse> {
  const { method, match } = asked;
  if (method !== "GET" && !safeMethods.has(method) && comesFromElsewhere(asked))
    return reply(asked, refused(crossOrigin));
  if (match === undefined) {
    const isKnown = knownMethods.has(method) || asked.app.table.methods.includes(method);
    return isKnown ? answerNoRoute(asked) : reply(asked, refused(notImplemented));
  }
  if (method === "GET" && opensSocket(match.route, asked) && comesFromElsewhere(asked)) {
    return reply(asked, refused(crossOrigin));
  }
  asked.route = match.route;
  asked.captured = match.captured;
  return answerRoute(match.route, asked);
}

function preflightAnswer(asked: RequestState, { table, policy }: CompiledCors): Answer | undefined {
  const isAsked = asked.lines("origin").length > 0 && asked.lines("access-control-request-method").length > 0;
  const there = isAsked ? table.elsewhere(asked.path) : "nothing";
  return there === "nothing" ? undefined : policy.preflight(asked, there.allow);
}

function comesFromElsewhere(asked: RequestState): boolean {
  const { trustedOrigins, cors } = asked.app;
  if (trustedOrigins === undefined || !isCrossOrigin(asked, trustedOrigins)) return false;
  return !(cors !== undefined && cors.covers(asked.match?.route.route) && cors.policy.admits(asked));
}

// A socket is opened by a GET, and a page may open one to any site: no browser asks first, as it does for a fetch.
function opensSocket({ sockets }: CompiledRoute, asked: RequestState): boolean {
  if (sockets === "upgrade") return asked.lines("upgrade").length > 0 && asked.exchange.canUpgrade === true;
  return sockets === "always";
}

/** A route's own order (contract 4.4): a socket's handshake, inputs, all problems of a stage at once, then the handler. */
function answerRoute(route: CompiledRoute, asked: RequestState): MaybePromise<WireResponse> {
  const refusal = route.opens?.(asked, asked.method === "GET" && asked.exchange.canUpgrade === true);
  if (refusal !== undefined) return reply(asked, refusalAnswer(refusal));
  return readInputs(route.plan, asked, whenRead);
}

// One object for every request, and no closure for each.
const whenRead: Then<RequestState, WireResponse> = { inputs: handle, thrown: failed };

function handle(asked: RequestState, inputs: InputValues | Refusal): MaybePromise<WireResponse> {
  const route = asked.route as CompiledRoute;
  try {
    if (inputs instanceof Refusal) return reply(asked, refusalAnswer(inputs));
    return whenMade(asked, route.route.handler(inputs as never), route.answerOf);
  } catch (thrown) {
    return failed(asked, thrown);
  }
}

/** Sends what an application's function returned, now or when it is there, as the answer it stands for. */
function whenMade(
  asked: RequestState,
  returned: unknown,
  answerOf: (returned: unknown) => Answer,
): MaybePromise<WireResponse> {
  if (!isThenable(returned)) return reply(asked, answerOf(returned));
  return Promise.resolve(returned).then(
    (returned) => replyWith(asked, returned, answerOf),
    (thrown: unknown) => failed(asked, thrown),
  );
}

function replyWith(
  asked: RequestState,
  returned: unknown,
  answerOf: (returned: unknown) => Answer,
): MaybePromise<WireResponse> {
  try {
    return reply(asked, answerOf(returned));
  } catch (thrown) {
    return failed(asked, thrown);
  }
}

/** Rules 3, 4, 6 and 7 of contract 4.2. */
function answerNoRoute(asked: RequestState): MaybePromise<WireResponse> {
  const { app, method, target, path } = asked;
  if (method === "OPTIONS" && target === "*") return reply(asked, empty(204));

  const shorter = app.redirectsSlash ? withoutSlash(path) : undefined;
  if (shorter !== undefined && app.table.find(method === "HEAD" ? "GET" : method, shorter) !== undefined) {
    const location = asked.search === "" ? shorter : `${shorter}?${asked.search}`;
    return reply(asked, empty(308, [["location", location]]));
  }

  const allow = allowed(app, path) ?? (shorter === undefined ? undefined : allowed(app, shorter));
  if (allow !== undefined) {
    const headers = [["allow", allow] as const];
    return reply(asked, method === "OPTIONS" ? empty(204, headers) : refused(methodNotAllowed, headers));
  }
  if (app.notFound === undefined) return reply(asked, refused(notFound));
  return whenMade(asked, app.notFound(recordOf(asked)), answerReturns);
}

function allowed(app: CompiledApp, path: string): string | undefined {
  const elsewhere = app.table.elsewhere(path);
  return elsewhere === "nothing" ? undefined : elsewhere.allow.join(", ");
}

// To a browser "//host" and "/\host" are another site: no redirect ever begins like that.
function withoutSlash(path: string): string | undefined {
  return path.length > 1 && path.endsWith("/") && !/^\/[/\\]/.test(path) ? path.slice(0, -1) : undefined;
}

function failed(asked: RequestState, thrown: unknown): MaybePromise<WireResponse> {
  return reply(asked, failureAnswer(asked, thrown));
}

function refused(code: Code, headers: Refusal["headers"] = []): Answer {
  return refusalAnswer(new Refusal(code, sentences.get(code.name) as string, { headers }));
}

function empty(status: number, headers: Answer["headers"] = []): Answer {
  return { status, headers, cookies: [], body: undefined, closes: false };
}

/** Those that change nothing, as far as a browser sends them (RFC 9110 §9.2.1). */
const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
