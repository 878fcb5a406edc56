/** `usher-http/oidc`: sign-in by OpenID Connect. It needs the package `oauth4webapi`. */
export * as Oidc from "./oidc.ts";
export type { OidcClaims } from "./grants.ts";
export type { OidcIssuer, OidcIssuerOptions } from "./issuer.ts";
export type { OidcRoutesOptions, OidcSignIn } from "./options.ts";
export type { OidcTokens } from "./tokens.ts";
