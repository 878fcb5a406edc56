/** The entry `usher-http/jwt`: access tokens that are JWTs, as inputs of routes. It needs the package `jose`. */
export * as Jwt from "./jwt.ts";
export type { Bearer, JwtAlgorithm, JwtClaims, JwtKeys, JwtOptions, JwksOptions, JwtWire } from "./jwt.ts";
