export type { Succeeded } from "../answers/returned.ts";
import type { FrameworkCode, Problem } from "../refusals.ts";
import type { Route, names, sent, wire } from "../routing/route.ts";

/**
 * What a typed client is given. `fetch` is the platform's unless set: an app's own `app.fetch` in a test, or one that adds
 * a token that changes. `headers` go with every call; a call's own come before them.
 */
export interface ClientOptions {
  /** What the routes' paths are put behind: `https://orders.example/api`; in a browser `""` is the page's own origin. */
  readonly baseUrl: string;
  readonly fetch?: (request: Request) => Promise<Response>;
  readonly headers?: { readonly [name: string]: string };
}

/** Codes that any call may end with: the framework's own, and `unreachable` where no answer of the application came. */
export type ClientCode = FrameworkCode | "cross_origin" | "unsupported_media_type" | "unreachable";

/** The refusal of a call, by its code. */
export interface Refused<Name, Problems = readonly []> {
  readonly ok: false;
  /** The code's; 0 where nothing answered at all. */
  readonly status: number;
  readonly headers: Headers;
  readonly error: Name;
  /** A sentence for a person. */
  readonly message: string;
  /** Of `invalid` each input that is not what it should be; of any other code none. */
  readonly problems: Problems;
  /** How many problems there are beside those listed, where there are any. */
  readonly more?: number;
}

/** A refusal for each code: `switch (outcome.error)` tells them apart. */
export type RefusedAs<Names> = Names extends "invalid" ? Refused<"invalid", readonly Problem[]> : Refused<Names>;

/** What came of a call: the answer, or the refusal by its code. */
export type Outcome<Sent, Names> = Sent | RefusedAs<Names | ClientCode>;

/** What a call is given beside what its route reads. */
export interface CallOptions {
  /** Ends the call, which is `unreachable` then, or the stream it opened. */
  readonly signal?: AbortSignal;
}

type Sending<Wire> = {} extends Wire ? [given?: Wire & CallOptions] : [given: Wire & CallOptions];

type There<A> = Exclude<A, undefined>;

// A route whose pattern is known only when the program runs has no name to call it by: no member is due for it.
type Name<R extends Route> = {} extends { [P in R["pattern"]]: 1 } ? never : `${R["method"]} ${R["pattern"]}`;
type RouteCall<R extends Route> = (
  ...given: Sending<There<R[typeof wire]>>
) => Promise<Outcome<There<R[typeof sent]>, There<R[typeof names]>>>;

/** A function for each route, under its method and pattern: `api["GET /orders/{order_id}"]`. */
// One function generic in its key was measured at 25 times the cost to the compiler.
export type Calls<Routes extends readonly Route[]> = { readonly [R in Routes[number] as Name<R>]: RouteCall<R> };
