/** Texts of headers and cookies, read and written. */
export { custom, string } from "../codecs/codec.ts";
export type { Codec } from "../codecs/codec.ts";
export type { EntityTag } from "../codecs/conditions.ts";
export { clear, make } from "../codecs/cookie.ts";
export type { Cookie, SetCookie } from "../codecs/cookie.ts";
export { bearerToken, credentials } from "../codecs/credentials.ts";
export type { Credentials } from "../codecs/credentials.ts";
export { preferredCoding } from "../codecs/negotiation.ts";
