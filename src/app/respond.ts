import type { Answer } from "../exchange/answer.ts";
import { refusal as refusalAnswer } from "../answers/makers.ts";
import { answerFrom, startBody } from "../answers/kinds.ts";
import { isThenable } from "../async.ts";
import { Deferred, chain, isPending } from "../deferred.ts";
import type { MaybePromise } from "../deferred.ts";
import { inAscii, knownMethods } from "../http/target.ts";
import { InputReading, readBodyInputs, readHeadInputs } from "../inputs/plan.ts";
import type { InputValues } from "../inputs/plan.ts";
import { recordOf } from "../inputs/request.ts";
import type { HandlerGuard } from "../inputs/request.ts";
import { within } from "../logging/context.ts";
import {
  Refusal,
  crossOrigin,
  methodNotAllowed,
  notFound,
  notImplemented,
  overloadedRefusal,
  sentenceOf,
  timedOutRefusal,
} from "../refusals.ts";
import type { Code } from "../refusals.ts";
import { takesEmpty } from "../routing/mounted.ts";
import { isCrossOrigin, isOfListed } from "../security/cross-origin.ts";
import { logFault, openSpan } from "./access-log.ts";
import { cancelBody, dropBodies } from "./cancel-body.ts";
import type { CompiledApp, CompiledRoute, Middleware } from "./compile.ts";
import type { Exchange, WireResponse } from "./exchange.ts";
import type { EndActs } from "./ending.ts";
import { endHandler, finish } from "./finish.ts";
import { answerThrough } from "./middleware.ts";
import { failureAnswer, handlerFailure } from "./refused.ts";
import { keep, keepsAnswer, releaseSoon, startTask } from "./release.ts";
import { RequestState } from "./request.ts";
import type { AnswerByDeadline } from "./time-out.ts";

/*
 * The life of a request, from arrival to the response that a listener writes. The numbers are sections of the contract.
 *
 *   respond         its id, path and clock; its span; its context for log lines     2.12
 *   answerAround    its route, a CORS preflight, the app's bounds, its deadline,
 *                   the app's middleware                                            4.2
 *   answerSafely    what throws or rejects inside is an answer too                  4.3
 *   answerFor       cross-origin check, answerNoRoute, handshake, inputs of head    5.7, 4.2, 4.4
 *   handleWithBody  the body, and the inputs that need it                           4.4
 *   handle          the handler, and what it returned as an answer                  4.3
 *   finish.ts       what happens to every answer on its way out
 *
 * A step answers at once where nothing is pending: a request that needs no body and no promise makes no promise.
 */

/** What else happens where the table of a request's end moves. */
const endActs: EndActs<RequestState> = { release: releaseSoon, start: startTask };

/** Answers one request. Never throws or rejects. */
export function respond(app: CompiledApp, exchange: Exchange): MaybePromise<WireResponse> {
  const request = new RequestState(app, exchange, endActs);
  try {
    openSpan(request);
  } catch (thrown) {
    logFault(request, "a tracer", thrown);
  }
  try {
    return within(request, answerAround);
  } catch (thrown) {
    // The context manager that the application registered with OpenTelemetry threw.
    return finish(request, failureAnswer(request, thrown));
  }
}

function answerAround(request: RequestState): MaybePromise<WireResponse> {
  try {
    findRoute(request);
    // The answer to a CORS preflight goes before an `OPTIONS` route of the application.
    const preflight = request.app.cors?.preflight(request, request.app.router);
    if (preflight !== undefined) {
      request.match = undefined;
      return finish(request, preflight);
    }
  } catch (thrown) {
    return finish(request, failureAnswer(request, thrown));
  }
  const { middleware, overload } = request.app;
  if (overload !== undefined && !overload.takePlace(request)) return finish(request, refusalAnswer(overloadedRefusal));
  const { deadline } = request.match?.route ?? request.app;
  if (deadline !== undefined) return (deadline.answer as AnswerByDeadline)(request, answerInTime);
  return middleware === undefined ? answerSafely(request, finish) : answerInside(request, middleware);
}

function answerInTime(request: RequestState): MaybePromise<WireResponse> {
  const { middleware } = request.app;
  return middleware === undefined ? answerSafely(request, send) : answerInside(request, middleware);
}

async function answerInside(request: RequestState, middleware: readonly Middleware[]): Promise<WireResponse> {
  const { deadline } = request;
  const answer = await answerThrough(request, middleware, (handOver) => {
    if (request.timedOut !== undefined) return handOver(request, refusalAnswer(request.timedOut));
    const answer = answerSafely(request, handOver);
    return deadline !== undefined && isPending(answer) ? deadline.waitInside(answer) : answer;
  });
  return send(request, answer);
}

/** Finishes an answer, unless the deadline has answered the request already. */
function send(request: RequestState, answer: Answer): MaybePromise<WireResponse> {
  const { deadline, ending } = request;
  if (deadline === undefined) return finish(request, answer);
  if (ending.at.isAnswered) {
    dropBodies(request);
    return deadline.acts.dropLate(answer);
  }
  // What the request does from now on has no deadline.
  deadline.stop();
  const response = finish(request, answer);
  deadline.respond(response);
  return response;
}

/** Hands over the answer of the steps inside. What they throw, or reject with, is an answer too. */
function answerSafely<A>(
  request: RequestState,
  handOver: (request: RequestState, answer: Answer) => MaybePromise<A>,
): MaybePromise<A> {
  request.ending.on("begins");
  let answer: MaybePromise<Answer>;
  try {
    answer = answerFor(request);
  } catch (thrown) {
    answer = handlerFailure(request, thrown);
  }
  if (!isPending(answer)) return hand(request, answer, handOver);
  if (request.deadline !== undefined) {
    // The deadline waits for a late handler too, and a deferred value has one receiver.
    if (answer instanceof Deferred) answer = answer.valueOrPromise();
    request.deadline.handling = answer;
  }
  return chain(
    answer,
    (answer) => hand(request, answer, handOver),
    (thrown) => handFailure(request, thrown, handOver),
  );
}

/** Hands over the handler's answer, once its inputs have kept what they acquired: a transaction commits first. */
function hand<A>(
  request: RequestState,
  answer: Answer,
  handOver: (request: RequestState, answer: Answer) => MaybePromise<A>,
): MaybePromise<A> {
  const { ending, deadline } = request;
  if (deadline !== undefined && ending.at.work === "late") return deadline.acts.dropHandled(answer);
  if (ending.held !== undefined || ending.guard !== undefined) return handKept(request, answer, handOver);
  ending.on("done");
  return handOver(request, endHandler(request, answer));
}

/** The same where inputs acquired something, or an idempotency key guards the handler. */
function handKept<A>(
  request: RequestState,
  answer: Answer,
  handOver: (request: RequestState, answer: Answer) => MaybePromise<A>,
): MaybePromise<A> {
  const { ending, deadline } = request;
  const isKept = !keepsAnswer(request);
  ending.on(isKept ? "done" : "keeps");
  const ended = endHandler(request, answer);
  ending.answer = ended;
  if (isKept) return handOver(request, ended);
  return keep(request, ended).then((kept) => {
    if (kept !== ended) cancelBody(ended.body);
    return deadline !== undefined && ending.hasTimedOut ? deadline.acts.dropLate(kept) : handOver(request, kept);
  });
}

function handFailure<A>(
  request: RequestState,
  thrown: unknown,
  handOver: (request: RequestState, answer: Answer) => MaybePromise<A>,
): MaybePromise<A> {
  const { ending, deadline } = request;
  if (deadline !== undefined && ending.at.work === "late") return deadline.acts.dropThrown(thrown);
  return hand(request, handlerFailure(request, thrown), handOver);
}

function answerFor(request: RequestState): MaybePromise<Answer> {
  const { match } = request;
  if (isUnsafe(request) && isFromUntrustedOrigin(request)) return refused(crossOrigin, [], crossOriginDetail);
  if (match === undefined) return answerNoRoute(request);
  const { route, captured } = match;
  request.route = route;
  request.captured = captured;
  const handshake = route.opens?.(request, request.method === "GET" && request.exchange.canUpgrade === true);
  if (handshake !== undefined) return refusalAnswer(handshake);
  const inputs = readHeadInputs(route.plan, request);
  return isPending(inputs) ? handleLater(request, route, inputs) : handle(request, route, inputs);
}

async function handleLater(
  request: RequestState,
  route: CompiledRoute,
  inputs: MaybePromise<InputValues | Refusal | InputReading>,
): Promise<Answer> {
  return handle(request, route, await inputs);
}

/** Calls the handler, once its inputs are read. */
function handle(
  request: RequestState,
  route: CompiledRoute,
  inputs: InputValues | Refusal | InputReading,
): MaybePromise<Answer> {
  if (inputs instanceof Refusal) return refusalAnswer(inputs);
  if (request.ending.at.work === "late") return refusalAnswer(timedOutRefusal);
  if (inputs instanceof InputReading) return handleWithBody(request, route, inputs);
  const { guard } = request.ending;
  if (guard !== undefined) return handleGuarded(request, guard, route, inputs);
  return answerOf(route.route.handler(inputs as never), route.answerOf);
}

/** Calls the handler, unless its guard answers, as with the kept answer of an idempotency key. */
async function handleGuarded(
  request: RequestState,
  guard: HandlerGuard,
  route: CompiledRoute,
  inputs: InputValues,
): Promise<Answer> {
  const instead = await guard.enter();
  if (instead === undefined) {
    if (request.timedOut !== undefined) return refusalAnswer(request.timedOut);
    return answerOf(route.route.handler(inputs as never), route.answerOf);
  }
  // A kept answer was formatted when it was made.
  if (guard.isReplay) request.answerParts().formatted = instead;
  return instead;
}

/** Makes an answer of what an application's function returned, itself or by a promise. */
function answerOf(returned: unknown, toAnswer: (returned: unknown) => MaybePromise<Answer>): MaybePromise<Answer> {
  return isThenable(returned) ? Promise.resolve(returned).then(toAnswer) : toAnswer(returned);
}

/** Reads the body once, whole, unless the handler reads it as it arrives. */
function handleWithBody(request: RequestState, route: CompiledRoute, reading: InputReading): MaybePromise<Answer> {
  const wanted = reading.body as NonNullable<InputReading["body"]>;
  const body = (request.reading ??= new wanted.Reading(request));
  const encoded = body.openEncoding();
  if (encoded !== undefined) return refusalAnswer(encoded);
  const { overload, middleware } = request.app;
  let unread = wanted.isWhole ? body.readWhole() : undefined;
  // A deferred value passes on in the context of the bytes that arrive; a promise, in the one that middleware or Express set here.
  const hasOuter = middleware !== undefined || request.exchange.isMounted === true;
  if (hasOuter && unread instanceof Deferred) unread = unread.valueOrPromise();
  if (overload !== undefined && isPending(unread)) overload.lendPlace(request);
  return chain(unread, (refusal) => {
    if (refusal !== undefined) return refusalAnswer(request.timedOut ?? refusal);
    if (request.place === "lent" && overload?.takePlaceAgain(request) !== true) return refusalAnswer(overloadedRefusal);
    const inputs = readBodyInputs(reading);
    return isPending(inputs) ? handleLater(request, route, inputs) : handle(request, route, inputs);
  });
}

/** The route of the method and path, HEAD's being GET's (RFC 9110 §9.3.2). */
function findRoute(request: RequestState): void {
  const { app, exchange, method, rawPath } = request;
  request.match = exchange.match ?? app.router.find(method === "HEAD" ? "GET" : method, rawPath);
  if (app.redirectsSlash && isRedirected(request)) request.match = undefined;
  if (request.match?.route.readsBody !== true) exchange.dropBody?.();
}

/** For the log: how to allow such a request. */
const crossOriginDetail =
  "it came from a page of another origin: list that origin in trustedOrigins, or in cors if the page also reads the answer";

/** The safe methods (RFC 9110 §9.2.1) that a page can send. */
const safeMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Whether the request may change something: by its method, or as a WebSocket, which any page may open without a preflight. */
function isUnsafe({ method, match, exchange }: RequestState): boolean {
  if (method !== "GET") return !safeMethods.has(method);
  if (match === undefined || match.route.sockets === "never") return false;
  if (match.route.sockets === "always") return true;
  return exchange.canUpgrade === true && exchange.lines("upgrade").length > 0;
}

/** Whether a page of an origin sent it that none of `trustedOrigins`, the route and its CORS policy lists. */
function isFromUntrustedOrigin(request: RequestState): boolean {
  const { trustedOrigins, cors } = request.app;
  if (trustedOrigins === undefined || !isCrossOrigin(request, trustedOrigins)) return false;
  const own = request.match?.route.crossOrigin;
  if (own === "any" || (own !== undefined && isOfListed(request, own))) return false;
  return cors?.admits(request, request.match?.route.route) !== true;
}

/** Contract 4.2, rules 2, 3, 4, 6 and 7: 501, `OPTIONS *`, 308, 405 with its `Allow`, 404. */
function answerNoRoute(request: RequestState): MaybePromise<Answer> {
  const { app, method, target, rawPath } = request;
  if (!knownMethods.has(method) && !app.router.methods.includes(method)) return refused(notImplemented);
  if (method === "OPTIONS" && target === "*") return empty(204);

  const shorter = app.redirectsSlash ? withoutSlash(rawPath) : undefined;
  if (shorter !== undefined && app.router.find(method === "HEAD" ? "GET" : method, shorter) !== undefined) {
    const path = request.prefix + shorter;
    return empty(308, [["location", inAscii(request.search === "" ? path : `${path}?${request.search}`)]]);
  }

  const allowed =
    app.router.allowedMethods(rawPath) ?? (shorter === undefined ? undefined : app.router.allowedMethods(shorter));
  if (allowed !== undefined) {
    const headers = [["allow", allowed.join(", ")] as const];
    return method === "OPTIONS" ? empty(204, headers) : refused(methodNotAllowed, headers);
  }
  if (app.notFound === undefined) return refused(notFound);
  return answerOf(app.notFound(recordOf(request)), (returned) => startBody(answerFrom(returned)));
}

/** Whether a route that takes any path with a slash at its end leaves that slash to the redirect. */
function isRedirected({ match, rawPath }: RequestState): boolean {
  return match !== undefined && takesEmpty(match.route.route.path.segments) && /[^/]\/$/.test(rawPath);
}

// To a browser "//host" and "/\host" are another site: no redirect begins like that.
function withoutSlash(path: string): string | undefined {
  return path.length > 1 && path.endsWith("/") && !/^\/[/\\]/.test(path) ? path.slice(0, -1) : undefined;
}

function refused(code: Code, headers: Refusal["headers"] = [], detail?: string): Answer {
  return refusalAnswer(new Refusal(code, sentenceOf(code), { headers, detail }));
}

function empty(status: number, headers: Answer["headers"] = []): Answer {
  return { status, headers, cookies: [], body: undefined, closes: false };
}
