import type { Answer } from "../answers/answer.ts";
import type { RequestRecord } from "../inputs/asked.ts";
import type { Awaitable } from "../inputs/dep.ts";
import type { Refusal } from "../refusals/refusal.ts";
import type { Route } from "../routes/route.ts";
import type { Sent } from "./exchange.ts";

/** A request as middleware sees it: its head, and the route that will answer it, if one does. */
export interface MiddlewareRequest extends RequestRecord {
  /** Undefined for what is no route's: a 404, a 405, a redirect. */
  readonly route: Route | undefined;
}

/**
 * What stands around every answer of an app. `next` answers with what is inside: the routes, the cross-origin check, and
 * what is no route; it never rejects, since what raises inside is a 500, and it is called once at most. Middleware may
 * answer in its place or make another answer of it; it has no body to read, and nothing it does leads to another route.
 */
export type Middleware = (request: MiddlewareRequest, next: () => Promise<Answer>) => Awaitable<Answer | Response>;

/** What was made inside of the middleware, in the place of what would be sent. */
export interface Inside {
  readonly made: Answer | undefined;
  /** Every refusal that was made on the way out, the innermost first: middleware may have answered something else. */
  readonly refused: readonly Refusal[];
  take(answer: Answer): Sent;
}

/** The code that a line and a span tell: the answer's, or of what was refused where middleware answered with no refusal. */
export function codeOf(inside: Inside | undefined, refused: Refusal | undefined): string | undefined {
  return (refused ?? inside?.refused[0])?.code.name;
}

/** The code of what was refused where middleware answered with another refusal. */
export function replacedCode(inside: Inside | undefined, refused: Refusal | undefined): string | undefined {
  if (refused === undefined || inside === undefined) return undefined;
  return inside.refused.find((other) => other !== refused && other.code.name !== refused.code.name)?.code.name;
}
