import type { Answer } from "../answers/answer.ts";
import type { RequestRecord } from "../inputs/request.ts";
import type { Awaitable, Supplied } from "../inputs/dep.ts";
import type { MaybePromise } from "../deferred.ts";
import { maxListedProblems } from "../refusals.ts";
import type { Code } from "../refusals.ts";
import type { Route } from "../routing/route.ts";
import { Router } from "../routing/router.ts";
import type { Match } from "../routing/router.ts";
import type { Exporter } from "../telemetry/exporter.ts";
import { respond } from "./respond.ts";
import { BodyBudget } from "./body-budget.ts";
import { DeclarationError, checkRoute, checkTogether, declared } from "./checks.ts";
import { compile } from "./compile.ts";
import type { CompiledApp, CompiledCors, CompiledRoute, Middleware } from "./compile.ts";
import type { Cors } from "../security/cors.ts";
import type { Exchange, WireResponse } from "./exchange.ts";
import { readOrigins } from "../security/cross-origin.ts";
import { inTime } from "../async.ts";
import { fetchFrom } from "./web.ts";
import { pathOf } from "../http/target.ts";
import { TrustedProxies } from "./proxies.ts";
import type { ProxyHeader } from "./proxies.ts";
import type { SecureHeaders } from "../security/secure-headers.ts";

/** What an app may be made with. */
export interface AppOptions {
  /** What the routes' `Dep.ofResource` read; each once. */
  readonly resources?: readonly Supplied[];
  /** Answers a path that no route names, in place of the 404; its own status is sent. */
  readonly notFound?: (request: RequestRecord) => Awaitable<Answer | Response>;
  /** Whether `/orders/` is another path than `/orders` (the default), or answers 308 to it. */
  readonly trailingSlash?: "strict" | "redirect";
  /**
   * Whether what a page of another site sends is refused with 403 `cross_origin`: any method but `GET`, `HEAD` and
   * `OPTIONS`, and a WebSocket. True unless set; without it forms and cookies are protected by nothing but `SameSite`.
   */
  readonly checkOrigin?: boolean;
  /** Other sites whose pages may send what changes something, each as a browser writes it: `https://shop.example`. */
  readonly trustedOrigins?: readonly string[];
  /** Bytes of a body held whole: 1 MiB unless set. A longer one is 413. */
  readonly maxBody?: number;
  /**
   * How many problems an `invalid` answer lists: 1,000 unless set. It says how many more there are, in `more`. A line of the
   * log has 100 of them at most.
   */
  readonly maxProblems?: number;
  /** Bytes of bodies held at once over all requests: 64 MiB unless set. Past that a body is refused with 503 `busy`. */
  readonly bodyBudget?: number;
  /**
   * Bytes of them that one client holds: an eighth of `bodyBudget`, and never less than `maxBody`, unless set. Past that it is
   * refused as above, and everybody else is served. A client is the address that `client` tells, and of IPv6 its /64; where
   * none is told (`app.fetch` with no `peer`, a Worker, a Unix socket) there is no share.
   */
  readonly bodyShare?: number;
  /**
   * Addresses, CIDR ranges (`10.0.0.0/8`) or `unix:<path>` of the proxies in front, whose forwarding headers are
   * believed: `client`, the host, whether it came by HTTPS, and the request's id. None by default.
   */
  readonly trustedProxies?: readonly string[];
  /** Which of the two they speak by, with `x-forwarded-host` and `-proto`: `x-forwarded-for` unless set. */
  readonly proxyHeader?: ProxyHeader;
  /**
   * Where spans go: `Trace.otlp(…)` or `Trace.exporter(…)`. Without it they go to the provider that the application has
   * registered with `@opentelemetry/api`, if it has; otherwise none is made.
   */
  readonly trace?: Exporter;
  /** The clock that `now` and the `date` header read. */
  readonly now?: () => Date;
  /** Other sites whose pages may read the answers: none unless set. */
  readonly cors?: Cors;
  /** Headers that hold browsers to what the pages are meant to do: none unless set. */
  readonly secureHeaders?: SecureHeaders;
  /** What stands around every answer, outermost first. */
  readonly middleware?: readonly Middleware[];
  /** Codes that `notFound` and middleware may answer with. */
  readonly codes?: readonly Code[];
}

/** What a listener knows of a connection and a `Request` cannot say. */
export interface Connection {
  /** The address that opened it. */
  readonly peer?: string;
}

/**
 * A whole application as a pure function. As the default export of a module it is served by `bun run`, `deno serve` and Workers,
 * each with its own limits, and without sockets; `serve` of `usher-http/bun`, `usher-http/deno` and `usher-http/node` has more.
 */
export interface App {
  /**
   * Answers a request; needs no socket, and never rejects. Whoever cancels the body of an answer, as servers do whose client
   * leaves, or aborts the request is a client that has gone.
   */
  readonly fetch: (request: Request, connection?: Connection) => Promise<Response>;
  readonly routes: readonly Route[];
  /** For listeners: the same way, without a `Request` and a `Response`. */
  readonly answer: (exchange: Exchange) => MaybePromise<WireResponse>;
  /** For listeners: the route of a method and a target, for an exchange that has it found already. */
  readonly match: (method: string, target: string) => Match<CompiledRoute> | undefined;
  /**
   * The app is stopping: from now on it is not ready (`Health.routes`). In a server that is not its own its streams of events
   * end, which that server would wait for; where `serve` listens, `server.stop()` does all of it. Not named `stop`: Bun takes a
   * default export with a `stop` for a server that listens already, and serves nothing.
   */
  readonly drain: () => void;
  /** For listeners: calls it once the app is stopping. */
  readonly onDrain: (act: () => void) => void;
  /** For listeners: sends the spans that wait. Undefined where the app has no exporter of its own. */
  readonly flush: (() => Promise<void>) | undefined;
}

/**
 * Makes an app of its routes: what matches, reads and writes is compiled once, and everything wrong with it is told here.
 *
 * @throws DeclarationError naming every declaration the framework refuses, with its route.
 */
export function make(routes: readonly Route[], options: AppOptions = {}): App {
  const { resources = [], codes = [], maxProblems = maxListedProblems } = options;
  const problems: string[] = [];
  const table = new Router<CompiledRoute>();
  const supplied = new Map(resources.map(({ name, value }) => [name, value]));
  const all = routes.map(declared);
  for (const one of all) {
    const broken = checkRoute(one, supplied);
    problems.push(...broken);
    if (broken.length > 0) continue;
    const compiled = compile(one, supplied, maxProblems);
    if (typeof compiled === "string") problems.push(`${one.name}: ${compiled}`);
    else table.add(one.route.method, one.route.path, compiled);
  }
  problems.push(...checkTogether(all, resources, codes));
  if (!Number.isSafeInteger(maxProblems) || maxProblems < 1) {
    problems.push(`maxProblems is a whole number, 1 or more, and not ${maxProblems}`);
  }
  const { maxBody, budget } = bodyLimits(options, problems);
  const { trustedProxies = [], proxyHeader = "x-forwarded-for" } = options;
  const proxies = TrustedProxies.read(trustedProxies, proxyHeader, (problem) => problems.push(problem));
  const trustedOrigins = readOrigins(options.trustedOrigins ?? [], (problem) => {
    problems.push(`trusted origin ${problem}`);
  });
  const cors = options.cors === undefined ? undefined : compileCors(options.cors, routes, table, problems);
  if (problems.length > 0) throw new DeclarationError(problems);

  const app: CompiledApp = {
    table,
    codes: namesOf(codes),
    notFound: options.notFound,
    redirectsSlash: options.trailingSlash === "redirect",
    trustedOrigins: options.checkOrigin === false ? undefined : trustedOrigins,
    cors,
    middleware: options.middleware?.length === 0 ? undefined : options.middleware,
    secureHeaders: options.secureHeaders,
    supplied,
    maxBody,
    maxProblems,
    budget,
    proxies,
    tracer: options.trace?.tracer,
    now: options.now,
    isStopping: false,
  };
  const answer = (exchange: Exchange) => respond(app, exchange);
  const match = (method: string, target: string) => matchOf(table, method, target);
  const fetch = (request: Request, connection?: Connection) => fetchFrom(answer, request, peerOf(connection));
  const whenStopping: (() => void)[] = [];
  const onDrain = (act: () => void) => {
    if (app.isStopping) act();
    else whenStopping.push(act);
  };
  const drain = () => {
    app.isStopping = true;
    for (const act of whenStopping.splice(0)) act();
  };
  const { trace } = options;
  const flush = trace && (() => inTime(trace.flush(), flushMs));
  return { fetch, routes, answer, match, drain, onDrain, flush };
}

function compileCors(
  { policy, routes: covered }: Cors,
  routes: readonly Route[],
  all: Router<CompiledRoute>,
  problems: string[],
): CompiledCors {
  if (covered === undefined) return { policy, table: all, covers: (route) => route !== undefined };
  const table = new Router<unknown>();
  for (const route of covered) {
    table.add(route.method, route.path, route);
    if (!routes.includes(route))
      problems.push(`cors is for ${route.method} ${route.pattern}, which is no route of the app`);
  }
  const set = new Set<Route | undefined>(covered);
  return { policy, table, covers: (route) => set.has(route) };
}

// A collector that is down keeps nobody from stopping.
const flushMs = 5000;

function bodyLimits(options: AppOptions, problems: string[]): Pick<CompiledApp, "maxBody" | "budget"> {
  const { maxBody = 1_048_576, bodyBudget = 67_108_864, bodyShare } = options;
  for (const [name, limit] of Object.entries({ maxBody, bodyBudget, bodyShare })) {
    if (limit === undefined || (Number.isSafeInteger(limit) && limit >= 0)) continue;
    problems.push(`${name} is a whole number of bytes, 0 or more, and not ${limit}`);
  }
  // With less, a client could never send what `maxBody` allows.
  const share = bodyShare ?? Math.max(Math.floor(bodyBudget / 8), maxBody);
  return { maxBody, budget: new BodyBudget(bodyBudget, share) };
}

function matchOf(table: Router<CompiledRoute>, method: string, target: string): Match<CompiledRoute> | undefined {
  try {
    return table.find(method, pathOf(target));
  } catch {
    // A codec of the application's own threw, as it will again where the request is answered.
    return undefined;
  }
}

// What a runtime hands over beside a request is its own: Bun its server, Workers their bindings.
function peerOf(connection: Connection | null | undefined): string {
  const peer: unknown = connection?.peer;
  return typeof peer === "string" ? peer : "";
}

function namesOf(codes: readonly Code[]): ReadonlySet<string> {
  return new Set(codes.map(({ name }) => name));
}
