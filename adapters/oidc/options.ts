import {
  isObject,
  needs,
  needsFunction,
  needsObject,
  needsOptions,
  needsPath,
  needsText,
  needsTexts,
} from "../../src/arguments.ts";
import type { Awaitable, Dep, StoreFrom } from "../../src/doors/inputs.ts";
import type { Code, Refusal } from "../../src/refusals.ts";
import type { Path } from "../../src/routing/path.ts";
import { ringOf } from "../../src/doors/security.ts";
import type { Keys, RateStore, SessionStore, Sessions } from "../../src/doors/security.ts";
import type { OidcClaims } from "./grants.ts";
import { isLoopback } from "./issuer.ts";
import { isOwnPath } from "./return-address.ts";
import type { OidcTokens } from "./tokens.ts";

/** A user whose sign-in was verified. */
export interface OidcSignIn {
  /** The name of the issuer in the record of issuers; empty where there is one issuer. */
  readonly issuer: string;
  /** The claims of the ID token. */
  readonly claims: OidcClaims;
  /** What the issuer gave: keep it in the session's member `tokens` to call APIs in the name of the user. */
  readonly tokens: OidcTokens;
  /** The claims of the issuer's UserInfo endpoint, with the option `userInfo`. */
  readonly userInfo: { readonly [claim: string]: unknown } | undefined;
}

/** The options of the routes. */
export interface OidcRoutesOptions<A, C extends string = never> {
  /** Where browsers find this server: `https://shop.example`. It is https, except for `localhost`. */
  readonly origin: string;
  /** Seals the cookie of a sign-in that has begun. */
  readonly keys: Keys;
  /** The application's sessions. */
  readonly sessions: Pick<Sessions<A, Dep<SessionStore, string, unknown>>, "optional" | "withStore">;
  /**
   * Makes the session of a user who signed in; or refuses, with a code in `refuses`. Look the user up by `claims.iss` and
   * `claims.sub`, never by the mail address alone: another issuer may give it to another person.
   */
  readonly onSignIn: (signIn: OidcSignIn) => Awaitable<NoInfer<A> | Refusal<C>>;
  /** The codes that `onSignIn` refuses with. */
  readonly refuses?: readonly Code<C>[];
  /** The path of the routes: `Path.of("sign-in")` by default. */
  readonly at?: Path<never>;
  /** The path of the sign-out: `Path.of("sign-out")` by default; `false` for none, where other routes have one. */
  readonly signOutAt?: Path<never> | false;
  /** Where a browser goes that asked for no address: `/` by default. */
  readonly home?: string;
  /** Where a browser goes after the sign-out: `/` by default. The issuer must know the URL. */
  readonly signedOut?: string;
  /** What the issuer shows: `"login"` asks for the password again, `"select_account"` for the account. */
  readonly prompt?: "consent" | "create" | "login" | "none" | "select_account";
  /** The user must have proved who they are within this time, in milliseconds; the ID token is checked for it. */
  readonly maxAgeMs?: number;
  /** How strongly the user must prove who they are: the claim `acr` must be one of these. */
  readonly acr?: readonly string[];
  /** Whether the UserInfo endpoint is read too: many issuers give a name and a mail address there alone. */
  readonly userInfo?: boolean;
  /** More parameters for the issuer: `{ ui_locales: "fr" }`. */
  readonly parameters?: { readonly [name: string]: string };
  /** How long a user may take to sign in, in milliseconds: ten minutes by default. */
  readonly attemptMs?: number;
  /**
   * Where used states are remembered, so that each answer of an issuer is taken once: a store, a resource, or an input that gives one, as
   * `StoreFrom` says. By default a `Rate.memory()` in each app. Several processes need a store that they share, as `rateStore` of
   * `usher-http/redis`; without one, the issuer itself refuses a code's second use.
   */
  readonly seen?: StoreFrom<RateStore, string, unknown>;
}

/** Parameters that are this module's own, and that an application must not set. */
const ownParameters = new Set([
  "acr_values",
  "client_id",
  "client_secret",
  "code_challenge",
  "code_challenge_method",
  "max_age",
  "nonce",
  "prompt",
  "redirect_uri",
  "request",
  "request_uri",
  "response_mode",
  "response_type",
  "scope",
  "state",
]);
const prompts = ["consent", "create", "login", "none", "select_account"];

/** Throws where an option is wrong. */
export function checkOptions<A, C extends string>(options: OidcRoutesOptions<A, C>): void {
  needsOptions(
    "Oidc.routes",
    options,
    "origin keys sessions onSignIn refuses at signOutAt home signedOut prompt maxAgeMs acr userInfo parameters attemptMs seen",
  );
  const { origin, keys, sessions, onSignIn, refuses = [], at, signOutAt } = options;
  checkOrigin(origin);
  ringOf(keys, "Oidc.routes");
  needsObject("Oidc.routes: sessions", sessions);
  needs(isObject(sessions.withStore), "Oidc.routes: sessions", sessions, "made by Sessions.make");
  needsFunction("Oidc.routes: onSignIn", onSignIn);
  needs(Array.isArray(refuses), "Oidc.routes: refuses", refuses, "a list of codes");
  checkPath("Oidc.routes: at", at);
  if (signOutAt !== false) checkPath("Oidc.routes: signOutAt", signOutAt);
  checkRequest(options);
}

/** What a sign-in asks of the issuer, and where it ends. */
function checkRequest<A, C extends string>(options: OidcRoutesOptions<A, C>): void {
  const { home = "/", signedOut = "/", prompt, acr = ["-"], parameters = {} } = options;
  for (const [name, path] of Object.entries({ home, signedOut })) {
    needs(isOwnPath(path), `Oidc.routes: ${name}`, path, "a path of this site, like /orders");
  }
  const isPrompt = prompt === undefined || prompts.includes(prompt);
  if (!isPrompt) throw new TypeError(`Oidc.routes: prompt must be one of ${prompts.join(", ")}`);
  for (const name of ["maxAgeMs", "attemptMs"] as const) checkTime(name, options[name]);
  needsTexts("Oidc.routes: acr", acr);
  needs(acr.length > 0, "Oidc.routes: acr", acr, "a list with a text at least");
  needsObject("Oidc.routes: parameters", parameters);
  for (const [name, value] of Object.entries(parameters)) {
    needsText(`Oidc.routes: parameters.${name}`, value);
    if (ownParameters.has(name)) throw new TypeError(`Oidc.routes: parameters.${name} is set by the framework itself`);
  }
}

function checkOrigin(origin: string): void {
  needsText("Oidc.routes: origin", origin);
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  const isSecure = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url));
  const isOrigin = url !== undefined && isSecure && (origin === url.origin || origin === `${url.origin}/`);
  if (!isOrigin) throw new TypeError("Oidc.routes: origin must be https, or http of localhost, and have no path");
}

function checkPath(at: string, path: Path | undefined): void {
  if (path === undefined) return;
  needsPath(at, path);
  const isPlain = path.segments.every((segment) => typeof segment === "string");
  if (!isPlain || path.segments.length === 0) throw new TypeError(`${at} must be a path without parameters, and not /`);
}

function checkTime(name: string, ms: number | undefined): void {
  const isTime = ms === undefined || (typeof ms === "number" && ms > 0 && ms <= 365 * 86_400_000);
  needs(isTime, `Oidc.routes: ${name}`, ms, "milliseconds, more than 0 and at most a year");
}
