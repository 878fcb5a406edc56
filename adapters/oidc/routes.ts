import { needsObject } from "../../src/arguments.ts";
import { of } from "../../src/routing/path.ts";
import type { Path } from "../../src/routing/path.ts";
import type { Route } from "../../src/doors/routing.ts";
import { ofApp, storeInput } from "../../src/doors/inputs.ts";
import { memory } from "../../src/doors/security.ts";
import type { RateStore } from "../../src/doors/security.ts";
import { IssuerClient, clientOf } from "./issuer.ts";
import type { OidcIssuer } from "./issuer.ts";
import { checkOptions } from "./options.ts";
import type { OidcRoutesOptions } from "./options.ts";
import { signInRoutes } from "./sign-in.ts";
import { signOutRoute } from "./sign-out.ts";

/**
 * Routes that sign users in by OpenID Connect, with the authorization code flow and PKCE, and out again:
 *
 * - `GET /sign-in` sends the browser to the issuer; `?return_to=/orders` is where it goes in the end.
 * - `GET /sign-in/callback` is where the issuer sends it back to: it starts a session.
 * - `POST /sign-out` ends the session, and sends the browser to the issuer to sign out there.
 *
 * With a record of issuers there is a path for each: `/sign-in/google` and `/sign-in/google/callback`. The redirect URI to
 * register at an issuer is the origin and the path of the callback.
 *
 * @param issuers One issuer, or several by the segment of their path.
 * @throws TypeError for a wrong option.
 * @example
 * ```ts
 * const accounts = Oidc.issuer("https://accounts.example", { clientId: "shop", clientSecret: env.OIDC_SECRET });
 * const signIn = Oidc.routes(accounts, {
 *   origin: "https://shop.example",
 *   keys,
 *   sessions,
 *   onSignIn: ({ claims }) => ({ user: claims.sub }),
 * });
 * ```
 */
export function routes<A, C extends string = never>(
  issuers: OidcIssuer | { readonly [segment: string]: OidcIssuer },
  options: OidcRoutesOptions<A, C>,
): readonly Route[] {
  checkOptions(options);
  const { at = of("sign-in"), signOutAt = of("sign-out") } = options;
  const { seen = ofApp<RateStore>(memory) } = options;
  const used = storeInput(seen, stores);
  const clients = clientsOf(issuers);
  const signIns = [...clients].flatMap(([name, issuer]) => {
    const start = name === "" ? at : of(...segmentsOf(at), name);
    return signInRoutes({ name, issuer, start, options, seen: used });
  });
  return signOutAt === false ? signIns : [...signIns, signOutRoute(signOutAt, [...clients.values()], options)];
}

const stores = { at: "Oidc.routes: seen", what: "a store with take", methods: ["take"] };

/** The text segments of a path without parameters, which `checkOptions` has seen. */
function segmentsOf({ segments }: Path): readonly string[] {
  return segments as readonly string[];
}

function clientsOf(
  issuers: OidcIssuer | { readonly [segment: string]: OidcIssuer },
): ReadonlyMap<string, IssuerClient> {
  if (issuers instanceof IssuerClient) return new Map([["", issuers]]);
  needsObject("Oidc.routes: its issuer", issuers);
  const named = Object.entries(issuers as { readonly [segment: string]: OidcIssuer });
  const clients = named.map(([name, issuer]) => [name, clientOf(issuer, `Oidc.routes: its issuer ${name}`)] as const);
  if (clients.length === 0) throw new TypeError("Oidc.routes: it has no issuer: give one at least");
  const wrong = named.find(([name]) => !/^[A-Za-z0-9_-]+$/.test(name) || name === "callback");
  if (wrong !== undefined) {
    throw new TypeError(
      `Oidc.routes: its issuer ${wrong[0]} must be named by letters, digits, - and _, and not callback`,
    );
  }
  return new Map(clients);
}
