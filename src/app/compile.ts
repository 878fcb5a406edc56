import type { Answer } from "../answers/answer.ts";
import { refusal as refusalAnswer } from "../answers/build.ts";
import type { Awaitable, Place } from "../inputs/dep.ts";
import { makePlan } from "../inputs/plan.ts";
import type { Plan } from "../inputs/plan.ts";
import type { InputRequest, RequestRecord } from "../inputs/request.ts";
import { FieldNames } from "../inputs/text.ts";
import type { Level, Tracer } from "../logging/entry.ts";
import { Refusal, listing } from "../refusals.ts";
import { access } from "../routing/meta.ts";
import { checksOf } from "../routing/param.ts";
import type { Route } from "../routing/route.ts";
import type { Router } from "../routing/router.ts";
import type { CorsPolicy } from "../security/cors.ts";
import type { SecureHeaders } from "../security/secure-headers.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { Declared } from "./checks.ts";
import type { TrustedProxies } from "./proxies.ts";

/** A request as middleware sees it: its head, and the route that will answer it, if one does. */
export interface MiddlewareRequest extends RequestRecord {
  /** Undefined where no route matches: a 404, a 405, a redirect. */
  readonly route: Route | undefined;
}

/**
 * What stands around every answer of an app. `next` answers with what is inside: the routes, the cross-origin check, and
 * the answers where no route matches. It never rejects, since an exception inside is a 500, and it is called once at most.
 * Middleware may answer instead, or make another answer of it. It reads no body, and cannot choose another route.
 */
export type Middleware = (request: MiddlewareRequest, next: () => Promise<Answer>) => Awaitable<Answer | Response>;

/** What access lines have in common that tell of one route and one status: the pieces between what differs. */
export interface AccessTexts {
  /** The status that they are for. */
  readonly for: number;
  readonly level: string;
  readonly status: string;
  readonly method: string;
  readonly code: string;
  readonly route: string;
}

/** A route with all that can be known before a request comes. */
export interface CompiledRoute {
  readonly route: Route;
  readonly plan: Plan;
  /** The answer that what the handler returned stands for: a refusal's, or what the route's `Returns` makes of it. */
  readonly answerOf: (returned: unknown) => Answer;
  /** Names of the codes it or its inputs declare. */
  readonly codes: ReadonlySet<string>;
  /** Whether its inputs may read the request's body. */
  readonly readsBody: boolean;
  /** The statuses it lists; undefined where its handler cannot choose one. */
  readonly statuses: ReadonlySet<number> | undefined;
  /** What keeps a request from opening the route's socket; undefined for a route that opens none. */
  readonly opens: ((request: InputRequest, canUpgrade: boolean) => Refusal | undefined) | undefined;
  /** Whether it makes a socket of a connection: always, where the request asks for an upgrade, or never. */
  readonly sockets: "always" | "upgrade" | "never";
  readonly accessLevel: Level;
  /** What its access lines were put together from last. */
  accessTexts: AccessTexts | undefined;
}

/** A policy of sharing with other sites, among an app's routes. */
export interface CompiledCors {
  readonly policy: CorsPolicy;
  /** The routes it is for. */
  readonly table: Router<unknown>;
  readonly covers: (route: Route | undefined) => boolean;
}

/** An app with all that can be known before a request comes. */
export interface CompiledApp {
  readonly table: Router<CompiledRoute>;
  /** Names of the codes of the application's that what is no route may answer with. */
  readonly codes: ReadonlySet<string>;
  readonly notFound: ((request: RequestRecord) => Awaitable<Answer | Response>) | undefined;
  readonly redirectsSlash: boolean;
  /** Those believed beside its own host; undefined where origins are not checked. */
  readonly trustedOrigins: ReadonlySet<string> | undefined;
  readonly cors: CompiledCors | undefined;
  /** Outermost first; undefined where there is none. */
  readonly middleware: readonly Middleware[] | undefined;
  readonly secureHeaders: SecureHeaders | undefined;
  /** Resources, by name. */
  readonly supplied: ReadonlyMap<string, unknown>;
  readonly maxBody: number;
  readonly maxProblems: number;
  readonly budget: BodyBudget;
  /** Undefined where none is trusted. */
  readonly proxies: TrustedProxies | undefined;
  /** Where spans go, if the app says so itself. */
  readonly tracer: Tracer | undefined;
  /** The application's clock, where it brings one. */
  readonly now: (() => Date) | undefined;
  /** Set once, by its listener. */
  isStopping: boolean;
}

/** A route ready for requests, or what its shapes cannot be read or written as. */
export function compile(
  declared: Declared,
  supplied: ReadonlyMap<string, unknown>,
  maxProblems: number,
): CompiledRoute | string {
  try {
    return new ReadyRoute(declared, supplied, maxProblems);
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/**
 * What can be refused is made at once: the writer of an answer, and a plan that reads a body, whose shape may be none.
 * The rest waits for the route's first request, 10 µs later then and 0.1 ms where it is the process's first: a test or an
 * isolate asks few of its routes, and `App.make` of 1,000 takes 7.1 ms with every plan and 6.0 without.
 */
class ReadyRoute implements CompiledRoute {
  readonly route: Route;
  readonly answerOf: (returned: unknown) => Answer;
  readonly readsBody: boolean;
  readonly statuses: ReadonlySet<number> | undefined;
  readonly opens: CompiledRoute["opens"];
  readonly sockets: CompiledRoute["sockets"];
  readonly accessLevel: Level;
  accessTexts: CompiledRoute["accessTexts"] = undefined;
  readonly #declared: Declared;
  readonly #supplied: ReadonlyMap<string, unknown>;
  #plan: Plan | undefined = undefined;
  #codes: ReadonlySet<string> | undefined = undefined;

  constructor(declared: Declared, supplied: ReadonlyMap<string, unknown>, maxProblems: number) {
    const { route, nodes } = declared;
    const { node } = route.returns;
    const write = node.compile();
    this.route = route;
    this.answerOf = (returned) => {
      return returned instanceof Refusal ? refusalAnswer(listing(maxProblems, returned)) : write(returned);
    };
    this.statuses = node.several ? new Set(node.statuses.map(([status]) => status)) : undefined;
    this.opens = node.opens;
    // An answer of the route's own may be a takeover.
    this.sockets = node.opens !== undefined ? "always" : node.kind === "response" ? "upgrade" : "never";
    this.accessLevel = route.meta.find(access) ?? "info";
    this.#declared = declared;
    this.#supplied = supplied;
    const hasBody = nodes.some(({ body }) => body !== undefined);
    this.readsBody = hasBody || nodes.some(({ binds }) => binds === true);
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
    return makePlan(route.inputs, placeOf(this.#declared, this.#supplied), checksOf(route.path.segments, nodes));
  }
}

function placeOf({ route, name }: Declared, supplied: ReadonlyMap<string, unknown>): Place {
  const captured: Place["captured"] = (parameter) => {
    const taking = route.path.segments.filter((segment) => typeof segment === "object");
    const index = taking.indexOf(parameter);
    if (index !== -1) return index;
    return taking.some(({ name }) => name === parameter.name) ? "another" : undefined;
  };
  const [query, form] = [new FieldNames(), new FieldNames()];
  return { route: name, captured, query, form, resource: (name) => supplied.get(name) };
}
