import { isListOf, isObject, isRecord, isTexts, kindOf, shown, unknownOptions } from "../arguments.ts";
import { wrongMembers } from "../routing/wrong-members.ts";
import type { Answer } from "../exchange/answer.ts";
import type { RefusalFormat } from "../answers/refusal-format.ts";
import type { BodyDecoding } from "../inputs/encoded-body.ts";
import type { RequestRecord } from "../inputs/request.ts";
import { otherCopyOfInput } from "../inputs/copies.ts";
import type { CopyPlaces } from "../inputs/copies.ts";
import type { Awaitable, Supplied } from "../inputs/dep.ts";
import { isInput } from "../inputs/store.ts";
import { attempt } from "../logging/raised.ts";
import { log } from "../logging/writer.ts";
import type { MaybePromise } from "../deferred.ts";
import type { Languages } from "../languages/language.ts";
import { isCode, maxListedProblems } from "../refusals.ts";
import type { Code } from "../refusals.ts";
import { crossOrigin, deadline as deadlineKey } from "../routing/meta.ts";
import type { TimeLimit } from "../routing/meta.ts";
import { otherCopyOf } from "../routing/route.ts";
import type { Route } from "../routing/route.ts";
import { methodsOf } from "../routing/mounted.ts";
import { Router } from "../routing/router.ts";
import type { Match } from "../routing/router.ts";
import type { Exporter } from "../telemetry/exporter.ts";
import { optionNames } from "./option-names.ts";
import { respond } from "./respond.ts";
import type { Background } from "./background.ts";
import { noteStart } from "./failed-start.ts";
import { DeclarationError, checkRoute, checkTogether, declared, isDeadline } from "./checks.ts";
import type { Declared } from "./checks.ts";
import { compile } from "./compile.ts";
import type { CompiledApp, CompiledRoute, Middleware, OnError, RouteSettings } from "./compile.ts";
import type { Cors } from "../security/cors.ts";
import type { Exchange, WireResponse } from "./exchange.ts";
import { readOrigins } from "../security/cross-origin.ts";
import { inTime } from "../async.ts";
import { fetchFrom } from "./web.ts";
import { addressBytes, networkOfClient } from "../http/addresses.ts";
import { isToken } from "../http/fields.ts";
import { expectDeadlines } from "../logging/context.ts";
import { pathOf } from "../http/target.ts";
import type { Overload } from "./overload.ts";
import type { Proxies } from "./proxies.ts";
import { RunningWork } from "./running-work.ts";
import type { HeaderLines } from "./trusted-proxies.ts";
import type { SecureHeaders } from "../security/secure-headers.ts";

/** The options of an app. */
export interface AppOptions {
  /** The resources that the routes read with `Dep.ofResource`, each once. */
  readonly resources?: readonly Supplied[];
  /** Answers a path without a route, instead of the 404, with a status of its own. */
  readonly notFound?: (request: RequestRecord) => Awaitable<Answer | Response>;
  /** Whether `/orders/` is another path than `/orders` (the default), or answers 308 to it. */
  readonly trailingSlash?: "strict" | "redirect";
  /**
   * Whether requests from pages of other sites are refused with 403 `cross_origin`: any method but `GET`, `HEAD` and
   * `OPTIONS`, and a WebSocket. True unless set. Without it, only `SameSite` protects forms and cookies from CSRF.
   */
  readonly checkOrigin?: boolean;
  /** Other sites whose pages may send unsafe requests, each as a browser writes its origin: `https://shop.example`. */
  readonly trustedOrigins?: readonly string[];
  /** Bytes of a body held whole: 1 MiB unless set. A longer one is 413. */
  readonly maxBody?: number;
  /**
   * Reads bodies with a `Content-Encoding`, made by `Decompress.make` of `usher-http/compress`. The limits of a body hold for
   * what comes out. Unless set, such a body is 415 on a route that reads it; a route that reads the header `content-encoding`
   * itself gets the body as it was sent, with or without this.
   */
  readonly decompress?: BodyDecoding;
  /**
   * The most problems that an `invalid` answer lists: 1,000 unless set. Its `more` counts the others. A log line has at most
   * 100 problems.
   */
  readonly maxProblems?: number;
  /** The most tasks of `after` that wait or run: 1,000 unless set. One more is refused with 503 `busy`. */
  readonly maxAfter?: number;
  /**
   * The work of the application's own, made by `Background.create`. When the app stops, its signals abort and its alarms are
   * dropped; a server that stops waits for it, at most `drainMs`. No app of a Worker takes it.
   */
  readonly background?: Background;
  /**
   * How long an answer may take, made by `Deadline.make`: as long as it takes unless set. Past it the answer is 503 `timed_out`, the
   * input `deadline` aborts, and what the handler answers later is dropped. `Meta.deadline` of a route is in its place. Event streams
   * and WebSockets have none of the app's.
   */
  readonly deadline?: TimeLimit;
  /**
   * The header in which a caller says how many milliseconds it waits, such as `x-request-timeout-ms`: none unless set. Where it is
   * less than the route's deadline, it is the deadline. Any other value changes nothing. Every client may send it.
   */
  readonly deadlineHeader?: string;
  /**
   * Bounds past which requests are refused with 503 `busy` before anything of them is read, made by `Overload.make`: of requests in
   * flight, and of the event loop's delay. None unless set. Not on Workers.
   */
  readonly overload?: Overload;
  /** The most bytes of bodies held by all requests: 64 MiB unless set. A body that does not fit is refused with 503 `busy`. */
  readonly bodyBudget?: number;
  /**
   * The most of these bytes for one client: an eighth of `bodyBudget`, and at least `maxBody`, unless set. More is refused with
   * 503 `busy`, while other clients are served. A client is the address of `client`, and of IPv6 its /64. Where no address is
   * known (`app.fetch` without a `peer`, a Worker, a Unix socket) there is no share.
   */
  readonly bodyShare?: number;
  /**
   * The reverse proxies whose forwarding headers are trusted, made by `Proxies.make`: the client's address, the host, whether the
   * client uses HTTPS, and the request's id. None unless set.
   */
  readonly trustedProxies?: Proxies;
  /**
   * Exports spans: `Trace.otlp(…)` or `Trace.exporter(…)`. Without it spans go to the provider that the application registered
   * with `@opentelemetry/api`, if there is one.
   */
  readonly trace?: Exporter;
  /** The clock of `now` and of the `Date` header. */
  readonly now?: () => Date;
  /** Other sites whose pages may read the responses (CORS): no site unless set. */
  readonly cors?: Cors;
  /** Security headers such as `Content-Security-Policy`: no header unless set. */
  readonly secureHeaders?: SecureHeaders;
  /** Middleware around every answer, outermost first. */
  readonly middleware?: readonly Middleware[];
  /** The codes that `notFound` and middleware may refuse with. */
  readonly codes?: readonly Code[];
  /**
   * Gets what a handler, a dependency, middleware, a stream, a socket or a takeover raised, with its message and its `cause`,
   * for an error tracker. A log line and an answer have neither. It is called where the log has a line with `error.kind`, and
   * not for a refusal. The request does not wait for a promise that it returns; a Worker runs until it is settled.
   *
   * @example
   * ```ts
   * const onError: OnError = (error, { id, route, traceId }) =>
   *   Sentry.captureException(error, { tags: { request: id, route: route?.pattern, trace: traceId } });
   * ```
   */
  readonly onError?: OnError;
  /**
   * How every refusal is written, the framework's own too: content type, status and body. `{ error, message, problems }` as
   * JSON unless set. The API document of `Openapi.docs` describes it.
   *
   * @example
   * ```ts
   * const app = App.make(routes, { refusalFormat: RefusalFormat.problemDetails() });
   * ```
   */
  readonly refusalFormat?: RefusalFormat;
  /**
   * The languages of the framework's sentences, by `Accept-Language`; made by `languages` of `usher-http/languages`. English
   * alone unless set.
   */
  readonly languages?: Languages;
}

/** The connection of a `Request`, which has no field for it. */
export interface Connection {
  /** The address of the client. */
  readonly peer?: string;
}

/**
 * A whole application as a pure function. As the default export of a module, `bun run`, `deno serve` and Workers serve it, each
 * with its own limits and without sockets. `serve` of `usher-http/bun`, `usher-http/deno` and `usher-http/node` does more.
 */
export interface App {
  /**
   * Answers a request without a socket. Never rejects. Cancelling the body of the response, as a server does when its client
   * disconnects, or aborting the request aborts `clientGone`. A route that reads a body which other code has read answers 500.
   *
   * @param connection A `Connection`, or the object that a runtime passes: `env` of Workers, `info` of Deno, Bun's server, the
   *   context of Next.js. No address is read from an object of a runtime.
   * @param context The context of a Worker's request. By its `waitUntil`, what `after` and the releases of inputs do ends, and
   *   the spans that wait are sent.
   */
  readonly fetch: (request: Request, connection?: Connection & object, context?: object) => Promise<Response>;
  /** The routes that it was made of. */
  readonly routes: readonly Route[];
  /** For listeners: the same, without a `Request` and a `Response`. */
  readonly answer: (exchange: Exchange) => MaybePromise<WireResponse>;
  /**
   * For listeners: the client network that a response counts in, by the address of its connection and, behind a trusted proxy, by the
   * lines of its request. Undefined where no address is known.
   */
  readonly networkOf: (peer: string, lines: HeaderLines) => string | undefined;
  /** For listeners: finds the route of a request, for `Exchange.match`. */
  readonly match: (method: string, target: string) => Match<CompiledRoute> | undefined;
  /**
   * Starts to stop: readiness (`Health.routes`) fails from now on. In another framework's server the event streams end and, on
   * Node, each response closes its connection, since that server would wait for them. Where `serve` listens, call
   * `server.stop()` instead, which includes this. Not named `stop`: Bun takes a default export with a `stop` for a server that
   * is listening already, and serves nothing.
   */
  readonly drain: () => void;
  /** For listeners: calls `act` once the app is stopping. What it throws is an error line. */
  readonly onDrain: (act: () => void) => void;
  /** For listeners: waits for the work that continues after the answers, at most `ms`. Resolves with how many have not ended. */
  readonly settled: (ms: number) => Promise<number>;
  /** For listeners: the work of the application's own, which is drained with the app. */
  readonly background: Background | undefined;
  /** For listeners: exports the queued spans. Undefined where the app has no exporter. */
  readonly flush: (() => Promise<unknown>) | undefined;
}

/**
 * Makes an app of its routes. Compiles everything once, and reports every wrong declaration.
 *
 * @throws DeclarationError naming every declaration that is refused, with its route.
 */
export function make(routes: readonly Route[], options: AppOptions = {}): App {
  const { resources = [], codes = [], maxProblems = maxListedProblems, maxAfter = 1000 } = readOptions(routes, options);
  const { refusalFormat, decompress, deadline } = options;
  const problems: string[] = [];
  const supplied = new Map(resources.map(({ name, value }) => [name, value]));
  const all = routes.map(declared);
  const router = compileAll(all, { supplied, maxProblems, refusalFormat, decompress, deadline }, problems);
  problems.push(...checkTogether(all, resources, codes, refusalFormat));
  checkCounts({ maxProblems, maxAfter }, problems);
  const deadlineHeader = deadlineHeaderOf(options, routes, problems);
  const overload = options.overload?.bounds(problems);
  const bodies = bodyLimits(options, problems);
  const trustedOrigins = readOrigins(options.trustedOrigins ?? [], (problem) => {
    problems.push(`trusted origin ${problem}`);
  });
  const cors = options.cors?.policy(routes, problems);
  if (problems.length > 0) {
    noteStart(options.background, true);
    throw new DeclarationError(problems);
  }

  const app: CompiledApp = {
    router,
    codes: namesOf(codes),
    notFound: options.notFound,
    redirectsSlash: options.trailingSlash === "redirect",
    trustedOrigins: options.checkOrigin === false ? undefined : trustedOrigins,
    cors,
    middleware: options.middleware?.length === 0 ? undefined : options.middleware,
    secureHeaders: options.secureHeaders,
    supplied,
    ...bodies,
    budget: undefined,
    decompress,
    maxProblems,
    overload,
    work: new RunningWork(maxAfter, "tasks"),
    proxies: options.trustedProxies?.trusted,
    deadline,
    deadlineHeader,
    tracer: options.trace?.tracer,
    now: options.now,
    onError: options.onError,
    refusalFormat,
    languages: options.languages,
    isStopping: false,
  };
  for (const { route, name } of all) logCrossOrigin(name, route);
  return appOf(app, routes, options);
}

/** Prepares for deadlines where there are any. Returns the name of the header with the caller's limit, in lower case. */
function deadlineHeaderOf(
  { deadline, deadlineHeader }: AppOptions,
  routes: readonly Route[],
  problems: string[],
): string | undefined {
  const has = deadline !== undefined || routes.some(({ meta }) => isDeadline(meta.find(deadlineKey)));
  if (has) expectDeadlines();
  if (deadlineHeader === undefined) return undefined;
  if (typeof deadlineHeader !== "string" || !isToken(deadlineHeader)) {
    problems.push(`deadlineHeader is the name of a header, and not ${shown(deadlineHeader)}`);
    return undefined;
  }
  if (!has) problems.push("deadlineHeader needs a deadline that bounds it: set deadline, or Meta.deadline of a route");
  return deadlineHeader.toLowerCase();
}

/** A route that other sites may send requests to is seen where the app starts. */
function logCrossOrigin(name: string, { meta }: Route): void {
  const origins = meta.find(crossOrigin);
  if (origins === undefined) return;
  const whose = origins === "any" ? "any origin" : origins.join(", ");
  const message = `${name} takes requests from pages of ${whose}, by its Meta.crossOrigin`;
  log({ level: "info", source: "framework.http", message, fields: {}, context: undefined });
}

/** Compiles the routes. What is wrong with one is a problem, and leaves it out. */
function compileAll(all: readonly Declared[], settings: RouteSettings, problems: string[]): Router<CompiledRoute> {
  const router = new Router<CompiledRoute>();
  const routes = all.map(({ route }) => route);
  for (const one of all) {
    const wrong = checkRoute(one, routes, settings.refusalFormat);
    problems.push(...wrong);
    if (wrong.length > 0) continue;
    const compiled = compile(one, settings);
    if (typeof compiled === "string") problems.push(`${one.name}: ${compiled}`);
    else for (const method of methodsOf(one.route)) router.add(method, one.route.path, compiled);
  }
  return router;
}

/** What listeners call of a compiled app. */
function appOf(app: CompiledApp, routes: readonly Route[], { background, trace }: AppOptions): App {
  const answering = { answer: (exchange: Exchange) => respond(app, exchange), flush: flushOf(trace) };
  const match = (method: string, target: string) => matchOf(app.router, method, target);
  const fetch: App["fetch"] = (request, connection, ctx) => fetchFrom(answering, request, peerOf(connection), ctx);
  const settled = (ms: number) => app.work.settled(ms);
  const networkOf: App["networkOf"] = (peer, lines) => {
    const { proxies } = app;
    const forwarded = proxies?.trusts(peer) === true ? proxies.forwardedValues(lines).client : undefined;
    return networkOfClient(forwarded ?? peer);
  };
  return { ...answering, fetch, routes, match, networkOf, ...draining(app, background), settled, background };
}

function draining(app: CompiledApp, background: Background | undefined): Pick<App, "drain" | "onDrain"> {
  const whenStopping: (() => void)[] = [];
  return {
    drain: () => {
      app.isStopping = true;
      background?.drain();
      app.overload?.drain();
      for (const act of whenStopping.splice(0)) attempt(undefined, act);
    },
    onDrain: (act) => {
      if (app.isStopping) attempt(undefined, act);
      else whenStopping.push(act);
    },
  };
}

type ValueTest = (value: unknown) => boolean;
const isFunction: ValueTest = (value) => typeof value === "function";
/** The test of an object by one of its members. */
const has =
  (member: string, test: ValueTest = isObject): ValueTest =>
  (value) =>
    isObject(value) && test(value[member]);
/** The options by name, the test of their value, and what an error says that it must be. */
const optionTests: readonly (readonly [names: readonly string[], test: ValueTest, what: string])[] = [
  [["resources", "codes"], Array.isArray, "a list"],
  [["trustedOrigins"], isTexts, "a list of texts"],
  [["middleware"], (value) => isListOf(value, isFunction), "a list of functions"],
  [["notFound", "now", "onError"], isFunction, "a function"],
  [["checkOrigin"], (value) => typeof value === "boolean", "true or false"],
  [["trailingSlash"], (value) => value === "strict" || value === "redirect", '"strict" or "redirect"'],
  [["deadline"], isDeadline, "made by Deadline.make: write Deadline.make(ms)"],
  [["overload"], has("bounds", isFunction), "made by Overload.make: write Overload.make({ maxInFlight })"],
  [
    ["trustedProxies"],
    (value) => isObject(value) && "trusted" in value,
    "made by Proxies.make: write Proxies.make(addresses)",
  ],
  [["cors"], has("policy", isFunction), "made by Cors.make"],
  [["secureHeaders"], has("headers", Array.isArray), "made by SecureHeaders.make"],
  [["trace"], has("tracer"), "made by Trace"],
  [["languages"], has("node"), "made by languages"],
  [["background"], has("drain", isFunction), "made by Background.create"],
  [["decompress"], has("decoded", isFunction), "made by Decompress.make"],
];

/** Settings of values that are options: JavaScript would leave an app without a limit that it seems to have. */
const withinValues: { readonly [name: string]: string } = {
  deadlineMs: "deadline: Deadline.make(ms)",
  maxInFlight: "overload: Overload.make({ maxInFlight })",
  maxEventLoopDelayMs: "overload: Overload.make({ maxEventLoopDelayMs })",
  proxyHeader: "trustedProxies: Proxies.make(addresses, { header })",
};

/** Those have a sentence of their own. */
const placed = Object.fromEntries(Object.keys(withinValues).map((name) => [name, undefined]));

// Before the checks of the declarations, which read members that only JavaScript can leave out.
function readOptions(routes: unknown, options: AppOptions): AppOptions {
  if (!Array.isArray(routes))
    throw new DeclarationError([`the routes are ${kindOf(routes)}, and not a list of routes`]);
  if (!isRecord(options)) {
    throw new DeclarationError([`the options are ${kindOf(options)}, and not an object`]);
  }
  const problems = Array.from(routes).flatMap(wrongMembers);
  if (problems.length === 0) problems.push(...ofOtherCopies(routes as readonly Route[]));
  const given: { readonly [name: string]: unknown } = options;
  for (const [name, instead] of Object.entries(withinValues)) {
    if (given[name] !== undefined) problems.push(`${name} is no option of an app: write ${instead}`);
  }
  for (const [names, test, what] of optionTests) {
    for (const name of names) {
      const value = given[name];
      if (value !== undefined && !test(value)) problems.push(`${name} is ${kindOf(value)}, and not ${what}`);
    }
  }
  for (const problem of unknownOptions({ ...given, ...placed }, optionNames)) problems.push(problem);
  if (
    given["checkOrigin"] === false &&
    isListOf(given["trustedOrigins"], () => true) &&
    given["trustedOrigins"].length > 0
  )
    problems.push("checkOrigin is false, so every origin may send: leave out trustedOrigins, or checkOrigin");
  const { resources, codes } = given;
  // A value of a resource may be anything; its name is read like a code's.
  if (Array.isArray(resources) && !isListOf(resources, isCode))
    problems.push("resources has a member not made by Dep.resource");
  if (Array.isArray(codes) && !isListOf(codes, isCode)) problems.push("codes has a member not made by Refusal.code");
  if (problems.length > 0) throw new DeclarationError(problems);
  return options;
}

/** Routes of another copy of the package, and own routes with an input of one, in a sentence each. */
function ofOtherCopies(routes: readonly Route[]): readonly string[] {
  const others = routes.filter((route) => otherCopyOf(route) !== undefined);
  const [first] = others;
  const places = first && otherCopyOf(first);
  if (first === undefined || places === undefined) return routes.flatMap(inputsOfOtherCopies).slice(0, 1);
  const more = others.length === 1 ? "is" : `and ${others.length - 1} more are`;
  return [ofTwoCopies(`${first.method} ${first.pattern} ${more}`, places)];
}

/** The first input of a route that another copy made, or that uses one. */
function inputsOfOtherCopies({ method, pattern, inputs }: Route): readonly string[] {
  for (const [name, input] of Object.entries(inputs)) {
    const places = placesOf(input, new Set());
    if (places !== undefined) return [ofTwoCopies(`${method} ${pattern}: its input ${name} is`, places)];
  }
  return [];
}

function placesOf(input: unknown, seen: Set<unknown>): CopyPlaces | undefined {
  if (!isInput(input) || seen.has(input)) return undefined;
  seen.add(input);
  let places = otherCopyOfInput(input);
  for (const used of input.node.from) places ??= placesOf(used, seen);
  return places;
}

function ofTwoCopies(what: string, { other, own }: CopyPlaces): string {
  return `${what} of another copy of usher-http, ${other}, and the app is of ${own}: install one (npm ls usher-http shows both)`;
}

function checkCounts(counts: { readonly [option: string]: number }, problems: string[]): void {
  for (const [name, count] of Object.entries(counts)) {
    if (Number.isSafeInteger(count) && count >= 1) continue;
    problems.push(`${name} is a whole number, 1 or more, and not ${count}`);
  }
}

function flushOf(trace: AppOptions["trace"]): App["flush"] {
  return trace && (() => inTime(trace.flush(), flushMs));
}

// The stop of a server does not wait longer for a collector that is down.
const flushMs = 5000;

function bodyLimits(
  options: AppOptions,
  problems: string[],
): Pick<CompiledApp, "maxBody" | "bodyBudget" | "bodyShare"> {
  const { maxBody = 1_048_576, bodyBudget = 67_108_864, bodyShare } = options;
  for (const [name, limit] of Object.entries({ maxBody, bodyBudget, bodyShare })) {
    if (limit === undefined || (Number.isSafeInteger(limit) && limit >= 0)) continue;
    problems.push(`${name} is a whole number of bytes, 0 or more, and not ${limit}`);
  }
  // With a smaller share, a client could never send a body of `maxBody`.
  return { maxBody, bodyBudget, bodyShare: bodyShare ?? Math.max(Math.floor(bodyBudget / 8), maxBody) };
}

function matchOf(router: Router<CompiledRoute>, method: string, target: string): Match<CompiledRoute> | undefined {
  try {
    return router.find(method, pathOf(target));
  } catch {
    // A codec of the application's own threw, as it will again where the request is answered.
    return undefined;
  }
}

// A runtime passes its own object as the second argument: Bun its server, Workers the bindings.
function peerOf(connection: Connection | null | undefined): string {
  try {
    const peer: unknown = connection?.peer;
    if (typeof peer !== "string") return "";
    // A variable of a Worker's `env` may be named `peer`.
    const isConnection = Object.keys(connection as Connection).every((name) => name === "peer");
    return isConnection || addressBytes(peer) !== undefined ? peer : "";
  } catch {
    // A getter of another's object threw.
    return "";
  }
}

function namesOf(codes: readonly Code[]): ReadonlySet<string> {
  return new Set(codes.map(({ name }) => name));
}
