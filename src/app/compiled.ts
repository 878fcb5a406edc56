import type { Answer } from "../answers/answer.ts";
import type { Asked, RequestRecord } from "../inputs/asked.ts";
import type { Awaitable } from "../inputs/dep.ts";
import type { Plan } from "../inputs/plan.ts";
import type { Level } from "../logging/level.ts";
import type { Refusal } from "../refusals/refusal.ts";
import type { Route } from "../routes/route.ts";
import type { Table } from "../routes/table.ts";
import type { Tracer } from "../tracing/span.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { CorsPolicy } from "./cors.ts";
import type { Middleware } from "./middleware.ts";
import type { SecureHeaders } from "./secure-headers.ts";
import type { TrustedProxies } from "./proxies/trusted-proxies.ts";

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
  readonly opens: ((asked: Asked, canUpgrade: boolean) => Refusal | undefined) | undefined;
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
  readonly table: Table<unknown>;
  readonly covers: (route: Route | undefined) => boolean;
}

/** An app with all that can be known before a request comes. */
export interface CompiledApp {
  readonly table: Table<CompiledRoute>;
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
