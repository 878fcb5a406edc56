/** What verifies tokens, of `jose`: of a package that is imported on demand a bundler keeps all, and of this file what it names. */
export { createLocalJWKSet, decodeProtectedHeader, errors, jwtVerify } from "jose";
