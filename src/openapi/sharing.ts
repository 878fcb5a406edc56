import type { Route } from "../routes/route.ts";

/** Whose pages may read what routes answer: a policy of `Cors.make`. */
export interface Sharing {
  readonly origins: readonly string[] | "any";
  readonly credentials: boolean;
  /** In lower case. */
  readonly headers: readonly string[];
  readonly expose: readonly string[];
  readonly maxAgeMs: number;
  /** Undefined where it is for all of them. */
  readonly routes: readonly Route[] | undefined;
}

/** What an operation says of the policy, which OpenAPI has no word for; undefined for a route it does not cover. */
export function sharingOf(sharing: Sharing | undefined, route: Route): object | undefined {
  if (sharing === undefined || sharing.routes?.includes(route) === false) return undefined;
  const { origins, credentials, headers, expose, maxAgeMs } = sharing;
  return { origins, credentials, headers, expose, maxAge: Math.floor(maxAgeMs / 1000) };
}
