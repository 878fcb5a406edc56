import type { Answer, AnswerBody } from "../exchange/answer.ts";
import { refusal as refusalAnswer } from "../answers/makers.ts";
import { startBody } from "../answers/kinds.ts";
import type { RefusalFormat } from "../answers/refusal-format.ts";
import type { MaybePromise } from "../deferred.ts";
import type { Awaitable, DepNode, RouteContext } from "../inputs/dep.ts";
import { makePlan } from "../inputs/plan.ts";
import type { Plan } from "../inputs/plan.ts";
import type { BodyDecoding } from "../inputs/encoded-body.ts";
import type { InputRequest, RequestRecord } from "../inputs/request.ts";
import { FieldNames } from "../inputs/text.ts";
import type { Languages } from "../languages/language.ts";
import type { Level, Tracer } from "../logging/entry.ts";
import { Refusal, listing } from "../refusals.ts";
import { access, crossOrigin, deadline, emptyQuery as emptyQueryKey, overload } from "../routing/meta.ts";
import { checksOf } from "../routing/param.ts";
import type { TimeLimit } from "../routing/meta.ts";
import type { Route } from "../routing/route.ts";
import type { Router } from "../routing/router.ts";
import type { CorsPolicy } from "../security/cors.ts";
import type { SecureHeaders } from "../security/secure-headers.ts";
import type { BodyBudget } from "../inputs/body-budget.ts";
import type { Bounds } from "./bounds.ts";
import type { Declared } from "./checks.ts";
import type { RunningWork } from "./running-work.ts";
import type { TrustedProxies } from "./trusted-proxies.ts";

/** A request as middleware sees it: its head, and the route that will answer it, if one does. */
export interface MiddlewareRequest extends RequestRecord {
  /** Undefined where no route matches: a 404, a 405, a redirect. */
  readonly route: Route | undefined;
}

/**
 * A function around every answer of an app. `next` answers with what is inside: the routes, the cross-origin check, and
 * the answers where no route matches. It never rejects, since an exception inside is a 500, and it is called once at most.
 * Middleware may answer instead, or make another answer of it. It reads no body, and cannot choose another route.
 */
export type Middleware = (request: MiddlewareRequest, next: () => Promise<Answer>) => Awaitable<Answer | Response>;

/** What the routes answered inside of the app's middleware, which may send something else. */
export interface Inside {
  made: Answer | undefined;
  /** Every refusal on the way out, the innermost first. */
  readonly refused: Refusal[];
  /** The bodies of these answers and of those that middleware made, except texts. */
  readonly bodies: AnswerBody[];
}

/** The request in whose work an error was raised. It has no header and no value that a client sent, except the path. */
export interface FailedRequest {
  /** The request's id, which its response and every log line have. */
  readonly id: string;
  /** The method, as sent. */
  readonly method: string;
  /** The target's path as sent, percent-encoded. */
  readonly rawPath: string;
  /** Undefined where no route matches, and where the request failed before one was found. */
  readonly route: Route | undefined;
  /** 32 hexadecimal digits, the same as in the request's log lines. */
  readonly traceId: string;
  /** 16 hexadecimal digits, the same as in the request's log lines. */
  readonly spanId: string;
  /** What failed: the answer (its inputs, its handler, middleware), or what runs after it. */
  readonly during: "answer" | "stream" | "socket" | "takeover" | "after";
}

/**
 * Gets each error whose log line has `error.kind`, for an error tracker such as Sentry; the error has its message. It runs
 * in the context of the request. What it returns is not awaited by the request, and what it throws becomes a log line.
 */
export type OnError = (error: unknown, request: FailedRequest) => unknown;

/** The constant parts of the access lines of one route and one status. */
export interface AccessTexts {
  /** The status. */
  readonly for: number;
  readonly level: string;
  readonly status: string;
  readonly method: string;
  readonly code: string;
  readonly route: string;
}

/** A route, compiled before its first request. */
export interface CompiledRoute {
  readonly route: Route;
  readonly plan: Plan;
  /** Makes the answer of what the handler returned: a refusal's, or the one of the route's `Returns`. */
  readonly answerOf: (returned: unknown) => MaybePromise<Answer>;
  /** Names of the codes that the route or its inputs declare. */
  readonly codes: ReadonlySet<string>;
  /** Whether its inputs may read the request's body. */
  readonly readsBody: boolean;
  /** Whether an input reads `Content-Encoding`: then the body is for it as it was sent. */
  readonly readsEncoding: boolean;
  /** The statuses it lists; undefined where its handler cannot choose one. */
  readonly statuses: ReadonlySet<number> | undefined;
  /** Checks the handshake of the route's socket, and refuses a wrong one; undefined for a route without a socket. */
  readonly opens: ((request: InputRequest, canUpgrade: boolean) => Refusal | undefined) | undefined;
  /** Whether the route takes the connection over: always, where the request has an `Upgrade`, or never. */
  readonly sockets: "always" | "upgrade" | "never";
  readonly accessLevel: Level;
  /** The limit of its answer; undefined where it has as long as it takes. */
  readonly deadline: TimeLimit | undefined;
  /** Whether the event stream or the socket that it answers with ends then, too. */
  readonly endsAtDeadline: boolean;
  /** Whether the app's bounds of requests in flight and of the event loop's delay are not for it. */
  readonly isExempt: boolean;
  /** The origins whose pages may send requests to it, besides the app's. */
  readonly crossOrigin: "any" | ReadonlySet<string> | undefined;
  /** Cached by the access log. */
  accessTexts: AccessTexts | undefined;
}

/** An app, compiled before its first request. */
export interface CompiledApp {
  readonly router: Router<CompiledRoute>;
  /** Names of the codes that `notFound` and middleware may refuse with. */
  readonly codes: ReadonlySet<string>;
  readonly notFound: ((request: RequestRecord) => Awaitable<Answer | Response>) | undefined;
  readonly redirectsSlash: boolean;
  /** The origins that are trusted besides the own host; undefined where origins are not checked. */
  readonly trustedOrigins: ReadonlySet<string> | undefined;
  readonly cors: CorsPolicy | undefined;
  /** Outermost first; undefined without middleware. */
  readonly middleware: readonly Middleware[] | undefined;
  readonly secureHeaders: SecureHeaders | undefined;
  /** Resources, by name. */
  readonly supplied: ReadonlyMap<string, unknown>;
  readonly maxBody: number;
  /** How encoded bodies are read; undefined where they are refused. */
  readonly decompress: BodyDecoding | undefined;
  readonly maxProblems: number;
  /** The most bytes of bodies that all requests hold, and the most of them for one client. */
  readonly bodyBudget: number;
  readonly bodyShare: number;
  /** Counts these bytes; made with the first body that is read. */
  budget: BodyBudget | undefined;
  /** Its bounds of requests in flight and of the event loop's delay, if it has any. */
  readonly overload: Bounds | undefined;
  /** What continues after its answers. */
  readonly work: RunningWork;
  /** Undefined where no proxy is trusted. */
  readonly proxies: TrustedProxies | undefined;
  /** How long an answer may take; undefined for as long as it takes. */
  readonly deadline: TimeLimit | undefined;
  /** The header with the time of a caller, in lower case. */
  readonly deadlineHeader: string | undefined;
  /** The app's own tracer, if it has one. */
  readonly tracer: Tracer | undefined;
  /** The application's clock, if it has one. */
  readonly now: (() => Date) | undefined;
  /** The application's function for what was raised, if it has one. */
  readonly onError: OnError | undefined;
  /** The application's own format of refusals, if it has one. */
  readonly refusalFormat: RefusalFormat | undefined;
  /** The languages of the sentences besides the English that is compiled in, if there are any. */
  readonly languages: Languages | undefined;
  /** Set once, by the listener. */
  isStopping: boolean;
}

/** The settings of its app that a route is compiled with. */
export type RouteSettings = Pick<CompiledApp, "supplied" | "maxProblems" | "refusalFormat" | "decompress" | "deadline">;

/** A compiled route, or why its shapes cannot be compiled. */
export function compile(declared: Declared, settings: RouteSettings): CompiledRoute | string {
  try {
    return new ReadyRoute(declared, settings);
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/**
 * What `App.make` can refuse is compiled at once: the writer of an answer, and a plan that reads a body by a shape. Any other
 * plan is made at the route's first request, which takes 10 µs (0.1 ms for the first of the process): a test or an isolate
 * calls few of its routes, and `App.make` of 1,000 takes 7.1 ms with every plan and 6.0 without.
 */
class ReadyRoute implements CompiledRoute {
  readonly route: Route;
  readonly answerOf: (returned: unknown) => MaybePromise<Answer>;
  readonly readsBody: boolean;
  readonly readsEncoding: boolean;
  readonly statuses: ReadonlySet<number> | undefined;
  readonly opens: CompiledRoute["opens"];
  readonly sockets: CompiledRoute["sockets"];
  readonly accessLevel: Level;
  readonly deadline: TimeLimit | undefined;
  readonly endsAtDeadline: boolean;
  readonly isExempt: boolean;
  readonly crossOrigin: CompiledRoute["crossOrigin"];
  accessTexts: CompiledRoute["accessTexts"] = undefined;
  readonly #declared: Declared;
  readonly #settings: RouteSettings;
  #plan: Plan | undefined = undefined;
  #codes: ReadonlySet<string> | undefined = undefined;

  constructor(declared: Declared, settings: RouteSettings) {
    const { route, nodes } = declared;
    const { maxProblems } = settings;
    const { node } = route.returns;
    const write = node.compile();
    this.route = route;
    this.answerOf = (returned) => {
      if (returned instanceof Refusal) return refusalAnswer(listing(maxProblems, returned));
      const answer = write(returned);
      return typeof answer.body === "object" ? startBody(answer) : answer;
    };
    this.statuses = node.several ? new Set(node.statuses.map(([status]) => status)) : undefined;
    this.opens = node.opens;
    // `Returns.response` may answer with a takeover.
    this.sockets = node.opens !== undefined ? "always" : node.kind === "response" ? "upgrade" : "never";
    this.accessLevel = route.meta.find(access) ?? "info";
    const own = route.meta.find(deadline);
    this.endsAtDeadline = typeof own === "object" && isOpenEnded(route);
    this.deadline =
      typeof own === "object" ? own : own === "none" || isOpenEnded(route) ? undefined : settings.deadline;
    const origins = route.meta.find(crossOrigin);
    this.crossOrigin = Array.isArray(origins) ? new Set(origins) : (origins as "any" | undefined);
    this.isExempt = route.meta.find(overload) === "exempt";
    this.#declared = declared;
    this.#settings = settings;
    const hasBody = nodes.some(({ body }) => body !== undefined);
    this.readsBody = hasBody || nodes.some(({ binds }) => binds === true);
    this.readsEncoding = this.readsBody && nodes.some(readsEncoding);
    if (hasBody) this.#plan = this.#makePlan();
  }

  get plan(): Plan {
    return (this.#plan ??= this.#makePlan());
  }

  get codes(): ReadonlySet<string> {
    return (this.#codes ??= new Set(this.#declared.codes.map(({ name }) => name)));
  }

  #makePlan(): Plan {
    const { route, nodes } = this.#declared;
    return makePlan(route.inputs, contextOf(this.#declared, this.#settings), checksOf(route.path.segments, nodes));
  }
}

/** Whether it answers with an event stream or a WebSocket, which have no end of their own. */
function isOpenEnded({ returns }: Route): boolean {
  return returns.node.kind === "events" || returns.node.kind === "websocket";
}

function readsEncoding({ need, needs = [] }: DepNode): boolean {
  return [...needs, ...(need === undefined ? [] : [need])].some(
    (one) => "in" in one && one.in === "header" && one.name.toLowerCase() === "content-encoding",
  );
}

function contextOf({ route, name }: Declared, settings: RouteSettings): RouteContext {
  const { supplied, refusalFormat, decompress, deadline } = settings;
  const captured: RouteContext["captured"] = (parameter) => {
    const taking = route.path.segments.filter((segment) => typeof segment === "object");
    const index = taking.indexOf(parameter);
    if (index !== -1) return index;
    return taking.some(({ name }) => name === parameter.name) ? "another" : undefined;
  };
  const [query, form] = [new FieldNames(), new FieldNames()];
  const resource: RouteContext["resource"] = (name) => supplied.get(name);
  const lacks: RouteContext["lacks"] = (name) => !supplied.has(name);
  const encodings = decompress?.encodings ?? [];
  const emptyQuery = route.meta.find(emptyQueryKey);
  return {
    route: name,
    captured,
    query,
    form,
    emptyQuery,
    app: supplied,
    resource,
    lacks,
    refusalFormat,
    encodings,
    deadline,
  };
}
