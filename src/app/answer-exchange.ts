import type { Answer } from "../answers/answer.ts";
import { refusal as refusalAnswer } from "../answers/build.ts";
import { builtAnswer } from "../answers/built.ts";
import { plain } from "../answers/plain.ts";
import { readInputs } from "../inputs/evaluate.ts";
import type { InputValues } from "../inputs/evaluate.ts";
import { recordOf } from "../inputs/request-record.ts";
import { context } from "../logging/context.ts";
import { methodNotAllowed, notFound, notImplemented, sentences } from "../refusals/framework-codes.ts";
import type { Code } from "../refusals/code.ts";
import { Refusal } from "../refusals/refusal.ts";
import { AskedExchange } from "./asked.ts";
import type { CompiledApp, CompiledRoute } from "./compiled.ts";
import type { Exchange, Sent } from "./exchange.ts";
import { refusalOf } from "./failure.ts";
import { isLogged, logRaise } from "./request-log.ts";
import { send } from "./send.ts";

/**
 * Answers one request: this file is its whole way, from arrival to the answer a listener writes. It answers at once
 * wherever nothing waits, and never rejects: whatever is thrown on the way is an answer too.
 */
export function answerExchange(app: CompiledApp, exchange: Exchange): Sent | Promise<Sent> {
  const asked = new AskedExchange(app, exchange);
  return context.run(asked, answerAsked, app, asked);
}

function answerAsked(app: CompiledApp, asked: AskedExchange): Sent | Promise<Sent> {
  const startedAt = isLogged() ? performance.now() : 0;
  let answer: Answer | Promise<Answer>;
  try {
    answer = decide(app, asked);
  } catch (thrown) {
    answer = failed(asked, thrown);
  }
  if (!(answer instanceof Promise)) return sendSafely(app, asked, answer, startedAt);
  return answer.then(
    (answer) => sendSafely(app, asked, answer, startedAt),
    (thrown: unknown) => sendSafely(app, asked, failed(asked, thrown), startedAt),
  );
}

// An answer of an application's own making may be no answer at all.
function sendSafely(app: CompiledApp, asked: AskedExchange, answer: Answer, startedAt: number): Sent {
  try {
    return send(app, asked, answer, startedAt);
  } catch (thrown) {
    return send(app, asked, failed(asked, thrown), startedAt);
  }
}

/** The order of decisions (contract 4.2): the method, the cross-origin check, the route, and then what is no route. */
function decide(app: CompiledApp, asked: AskedExchange): Answer | Promise<Answer> {
  const { method, path } = asked;
  if (!knownMethods.has(method) && !app.table.methods.includes(method)) return refused(notImplemented);

  const match = app.table.find(method === "HEAD" ? "GET" : method, path);
  if (match !== undefined) {
    asked.route = match.route;
    asked.captured = match.captured;
    return answerRoute(match.route, asked);
  }
  return answerNoRoute(app, asked);
}

/** A route's own order (contract 4.4): inputs, all problems of a stage at once, then the handler. */
function answerRoute(route: CompiledRoute, asked: AskedExchange): Answer | Promise<Answer> {
  const inputs = readInputs(route.plan, asked);
  if (inputs instanceof Promise) return inputs.then((inputs) => handle(route, inputs));
  return handle(route, inputs);
}

function handle(route: CompiledRoute, inputs: InputValues | Refusal): Answer | Promise<Answer> {
  if (inputs instanceof Refusal) return refusalAnswer(inputs);
  const returned = route.route.handler(inputs as never);
  if (isThenable(returned)) return Promise.resolve(returned).then((returned) => encode(route, returned));
  return encode(route, returned);
}

function encode(route: CompiledRoute, returned: unknown): Answer {
  return returned instanceof Refusal ? refusalAnswer(returned) : route.write(returned);
}

/** Rules 3, 4, 6 and 7 of contract 4.2. */
function answerNoRoute(app: CompiledApp, asked: AskedExchange): Answer | Promise<Answer> {
  const { method, target, path } = asked;
  if (method === "OPTIONS" && target === "*") return { ...plain(204, undefined, undefined), headers: [] };

  const shorter = app.redirectsSlash ? withoutSlash(path) : undefined;
  if (shorter !== undefined && app.table.find(method === "HEAD" ? "GET" : method, shorter) !== undefined) {
    const location = asked.search === "" ? shorter : `${shorter}?${asked.search}`;
    return { ...plain(308, undefined, undefined), headers: [["location", location]] };
  }

  const elsewhere = allowed(app, path) ?? (shorter === undefined ? undefined : allowed(app, shorter));
  if (elsewhere !== undefined) {
    const headers = [["allow", elsewhere] as const];
    return method === "OPTIONS" ? { ...plain(204, undefined, undefined), headers } : refused(methodNotAllowed, headers);
  }
  if (app.notFound === undefined) return refused(notFound);
  const found = app.notFound(recordOf(asked));
  return found instanceof Promise ? found.then(builtAnswer) : builtAnswer(found);
}

function allowed(app: CompiledApp, path: string): string | undefined {
  const elsewhere = app.table.elsewhere(path);
  return elsewhere === "nothing" ? undefined : elsewhere.allow.join(", ");
}

// To a browser "//host" and "/\host" are another site: no redirect ever begins like that.
function withoutSlash(path: string): string | undefined {
  return path.length > 1 && path.endsWith("/") && !/^\/[/\\]/.test(path) ? path.slice(0, -1) : undefined;
}

function failed(asked: AskedExchange, thrown: unknown): Answer {
  const refusal = refusalOf(thrown);
  logRaise(asked, refusal, thrown);
  return refusalAnswer(refusal);
}

function refused(code: Code, headers: Refusal["headers"] = []): Answer {
  return refusalAnswer(new Refusal(code, sentences.get(code.name) as string, { headers }));
}

// A handler may answer what is awaited without being a promise, as some query builders are.
function isThenable(returned: unknown): returned is PromiseLike<unknown> {
  return typeof returned === "object" && returned !== null && "then" in returned && typeof returned.then === "function";
}

const knownMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
