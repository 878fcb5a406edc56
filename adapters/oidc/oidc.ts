/** The `Oidc` namespace: sign-in by OpenID Connect. */
export { accessToken } from "./access-token.ts";
export { issuer } from "./issuer.ts";
export { routes } from "./routes.ts";
export { tokens } from "./tokens.ts";
export { signInFailed, signInRefused, signInUnavailable } from "./failures.ts";
