/** The namespace `Jwt`. */
export { bearer } from "./bearer.ts";
export type { Bearer, JwtOptions, JwtWire } from "./bearer.ts";
export { jwks } from "./jwks.ts";
export type { JwksOptions } from "./jwks.ts";
export { publicKeys, secrets } from "./keys.ts";
export type { JwtAlgorithm, JwtKeys } from "./keys.ts";
export type { JwtClaims } from "./verifier.ts";
export { notAllowed, signedOut } from "../../src/doors/security.ts";
