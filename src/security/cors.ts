import type { Answer } from "../exchange/answer.ts";
import { isRoutes, needs, needsOptions, needsTexts } from "../arguments.ts";
import { keyOf } from "../http/bytes.ts";
import { isToken, stripped } from "../http/fields.ts";
import type { InputRequest } from "../inputs/request.ts";
import { none } from "../refusals.ts";
import type { Route } from "../routing/route.ts";
import { isListed, readOrigins } from "./cross-origin.ts";
import type { CorsExtension } from "./cross-origin.ts";

/** The Fetch standard's CORS: the origins whose pages may read the app's responses, and send more than a plain form can. */
export interface CorsOptions {
  /** Origins as a browser writes them, `https://shop.example`, or `"any"`. */
  readonly origins: readonly string[] | "any";
  /** Whether those pages may send cookies and read the responses; false by default, and never with `"any"`. */
  readonly credentials?: boolean;
  /**
   * The request headers that those pages may set, besides the CORS-safelisted ones and `last-event-id`: `authorization` and
   * `content-type` by default.
   */
  readonly headers?: readonly string[];
  /** The response headers that those pages may read, besides the CORS-safelisted ones. */
  readonly expose?: readonly string[];
  /** How long a browser may cache a preflight: ten minutes by default. */
  readonly maxAgeMs?: number;
  /** The routes that the policy covers; all by default. */
  readonly routes?: readonly Route[];
}

/** A policy, made by `Cors.make`: the app's option `cors`. */
export interface Cors extends CorsExtension {
  /** Internal to the framework: the policy for the routes of one app. */
  readonly policy: (routes: readonly Route[], problems: string[]) => CorsPolicy;
}

/** What a policy does for the requests of an app. */
export interface CorsPolicy {
  /** The answer to a preflight at a path of the policy's routes; undefined for any other request. */
  readonly preflight: (request: InputRequest, router: RoutesByPath) => Answer | undefined;
  /** The response of a route with its CORS headers, where the policy covers the route. */
  readonly withHeaders: (request: InputRequest, route: Route | undefined, answer: Answer) => Answer;
  /** Whether the policy lets a request to a route pass the cross-origin check. */
  readonly admits: (request: InputRequest, route: Route | undefined) => boolean;
  /** Whether the policy covers a route and names an origin; with `"any"` it names none. */
  readonly names: (origin: string, route: Route | undefined) => boolean;
}

/** The routes of an app, as a preflight asks for them. */
interface RoutesByPath {
  allowedMethods(path: string): readonly string[] | undefined;
  find(method: string, path: string): { readonly route: { readonly route: Route } } | undefined;
}

type Headers = Answer["headers"];

/**
 * A CORS policy. The framework answers preflight requests itself, and requests from the policy's origins pass the
 * cross-origin check. With `"any"`, an unsafe request passes only without what a browser sends by itself: cookies, a login of
 * `Basic`, `Digest` or Windows, and a client certificate.
 *
 * @throws Error for `"any"` with credentials, an origin that no browser writes, or an invalid header name.
 */
export function make(options: CorsOptions): Cors {
  const { origins, credentials, headers: sent, expose, maxAgeMs, routes } = corsSettings(options);
  const headers = sent.map((name) => name.toLowerCase());
  // An `EventSource` resumes its stream without asking; the typed client has to ask.
  const sendable = new Set([...headers, "last-event-id"].map(keyOf));
  if (origins === "any" && credentials) {
    throw new Error(
      "Cors.make: origins any with credentials would let every site act as its visitors: list the origins",
    );
  }
  if (origins.includes("*")) throw new Error('Cors.make: "*" is not an origin: for every site, write origins: "any"');
  const named = readOrigins(origins === "any" ? none : origins, (problem) => {
    throw new Error(`Cors.make: the origin ${problem}`);
  });
  for (const name of [...headers, ...expose]) {
    if (!isToken(name) || name === "*") throw new Error(`Cors.make: ${JSON.stringify(name)} is not a header's name`);
  }
  if (!(maxAgeMs >= 0 && Number.isFinite(maxAgeMs))) {
    throw new Error(`Cors.make: maxAgeMs must be milliseconds, 0 or more, not ${maxAgeMs}`);
  }

  /** The value of `Access-Control-Allow-Origin`; undefined where the request's origin may not read the response. */
  const allowed = (request: InputRequest): string | undefined => {
    const [origin, ...more] = request.lines("origin");
    if (origin === undefined || more.length > 0) return undefined;
    if (origins === "any") return "*";
    return isListed(origin, named) ? origin : undefined;
  };
  const withCredentials: Headers = credentials ? [["access-control-allow-credentials", "true"]] : none;
  const exposed: Headers = expose.length === 0 ? none : [["access-control-expose-headers", expose.join(", ")]];

  const withHeaders = (request: InputRequest, answer: Answer): Answer => {
    // Two such headers let no page read it.
    const origin = isShared(answer) ? undefined : allowed(request);
    const readable: Headers =
      origin === undefined ? none : [["access-control-allow-origin", origin], ...withCredentials, ...exposed];
    const vary: Headers = varies(answer) ? none : [["vary", "Origin"]];
    return { ...answer, headers: [...answer.headers, ...vary, ...readable] };
  };
  const preflight = (request: InputRequest, methods: readonly string[]): Answer => {
    const origin = allowed(request);
    const vary: Headers = [
      ["vary", "Origin"],
      ["vary", "Access-Control-Request-Method, Access-Control-Request-Headers"],
    ];
    const wanted = [...new Set(requestedHeaders(request).filter((name) => sendable.has(keyOf(name))))];
    const granted: Headers = [
      ["access-control-allow-origin", origin ?? ""],
      ["access-control-allow-methods", methods.join(", ")],
      ...(wanted.length === 0 ? none : [["access-control-allow-headers", wanted.join(", ")] as const]),
      ...withCredentials,
      ["access-control-max-age", String(Math.ceil(maxAgeMs / 1000))],
    ];
    const answered = origin === undefined ? vary : [...vary, ...granted];
    return { status: 204, headers: answered, cookies: none, body: undefined, closes: false };
  };
  const admits = (request: InputRequest): boolean => {
    const [origin, ...more] = request.lines("origin");
    if (origin === undefined || more.length > 0 || origin === "null") return false;
    return origins === "any" ? !isOfVisitor(request) : isListed(origin, named);
  };
  const sharing = { named, preflight, allowed, withHeaders, admits };
  const policy: Cors["policy"] = (all, problems) => policyFor(sharing, coverageOf(routes, all, problems));
  return { origins, credentials, headers, expose, maxAgeMs, routes, policy };
}

/** What the origins of a policy get, for any route. */
interface Sharing {
  /** None with `"any"`. */
  readonly named: ReadonlySet<string>;
  readonly preflight: (request: InputRequest, methods: readonly string[]) => Answer;
  /** The origin whose pages may read answers: that of the request, or `*`; undefined for another one. */
  readonly allowed: (request: InputRequest) => string | undefined;
  readonly withHeaders: (request: InputRequest, answer: Answer) => Answer;
  readonly admits: (request: InputRequest) => boolean;
}

type Coverage = (route: Route | undefined) => boolean;

function policyFor({ named, preflight, allowed, withHeaders, admits }: Sharing, covers: Coverage): CorsPolicy {
  return {
    preflight: (request, router) => {
      if (!isPreflight(request)) return undefined;
      const isCovered = (method: string): boolean =>
        covers(router.find(method === "HEAD" ? "GET" : method, request.rawPath)?.route.route);
      const methods = router.allowedMethods(request.rawPath)?.filter(isCovered) ?? none;
      if (methods.length > 0) return preflight(request, methods);
      // A mount that answers every method lists none. Its handler may share with other origins.
      const [wanted = ""] = request.lines("access-control-request-method");
      return isToken(wanted) && isCovered(wanted) && allowed(request) !== undefined
        ? preflight(request, [wanted])
        : undefined;
    },
    withHeaders: (request, route, answer) => (covers(route) ? withHeaders(request, answer) : answer),
    admits: (request, route) => covers(route) && admits(request),
    names: (origin, route) => covers(route) && named.has(origin),
  };
}

/** Which routes a policy covers: those of its own list, which the app must have, or every one. */
function coverageOf(covered: readonly Route[] | undefined, all: readonly Route[], problems: string[]): Coverage {
  if (covered === undefined) return (route) => route !== undefined;
  for (const route of covered) {
    if (!all.includes(route))
      problems.push(`cors is for ${route.method} ${route.pattern}, which is no route of the app`);
  }
  const set = new Set<Route | undefined>(covered);
  return (route) => set.has(route);
}

function isPreflight(request: InputRequest): boolean {
  const isSent = (name: string): boolean => request.lines(name).length > 0;
  return request.method === "OPTIONS" && isSent("origin") && isSent("access-control-request-method");
}

/** The options with their defaults: from JavaScript they may be anything. */
function corsSettings(options: CorsOptions) {
  needsOptions("Cors.make", options, "origins credentials headers expose maxAgeMs routes");
  const { origins, credentials = false, expose = none, maxAgeMs = 600_000, routes } = options;
  const { headers = ["authorization", "content-type"] } = options;
  if (origins !== "any") needsTexts("Cors.make: origins", origins);
  needsTexts("Cors.make: headers", headers);
  needsTexts("Cors.make: expose", expose);
  needs(routes === undefined || isRoutes(routes), "Cors.make: routes", routes, "a list of routes");
  return { origins, credentials, headers, expose, maxAgeMs, routes };
}

/** The schemes of logins that a browser remembers, and sends with every request to the site. */
const remembered = /^[\t ]*(?:basic|digest|negotiate|ntlm)(?![^\t ,])/i;

/** Whether the request has what a browser sends by itself, so that a page of any site could act as its visitor. */
function isOfVisitor(request: InputRequest): boolean {
  const { peerCertificate, tlsClientAuth } = request.exchange;
  const hasCertificate = peerCertificate !== undefined || tlsClientAuth?.certPresented === "1";
  const hasLogin = request.lines("authorization").some((line) => remembered.test(line));
  return hasCertificate || hasLogin || request.lines("cookie").length > 0;
}

function requestedHeaders(request: InputRequest): readonly string[] {
  const names = request.lines("access-control-request-headers").join(",").toLowerCase().split(",");
  return names.map((name) => stripped(name));
}

/** Whether the route itself says whose pages may read it. */
function isShared({ headers }: Answer): boolean {
  return headers.some(([name]) => name.toLowerCase() === "access-control-allow-origin");
}

/** Whether the route's own `Vary` already names `Origin`. */
function varies({ headers }: Answer): boolean {
  return headers.some(
    ([name, value]) => name.toLowerCase() === "vary" && /(?:^|[\t ,])(?:origin|\*)(?:$|[\t ,])/i.test(value),
  );
}
