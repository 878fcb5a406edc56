import { noted } from "../inputs/copies.ts";
import { string } from "../codecs/codec.ts";
import type { Codec, EncodedAs, TextOptions } from "../codecs/codec.ts";
import { isCookie, named as namedByCodec } from "../codecs/cookie.ts";
import type { Cookie, Sealing } from "../codecs/cookie.ts";
import { needs, placeOf } from "../arguments.ts";
import type { Dep, TextNeed } from "../inputs/dep.ts";
import type { InputRequest } from "../inputs/request.ts";
import { codecFor } from "../inputs/text-schema.ts";
import type { TextKind } from "../inputs/text-schema.ts";
import { readText, missing } from "../inputs/text.ts";
import { current } from "../logging/context.ts";
import { log } from "../logging/writer.ts";
import { wrongText } from "../inputs/wrong-text.ts";

/**
 * Declares a cookie (RFC 6265), read and written by a codec or a schema. Throws where the name is not a token.
 *
 * @param about What the API document says of it.
 */
export function named<A, S = unknown>(
  name: string,
  kind: TextKind<A, S>,
  about: TextOptions<NoInfer<EncodedAs<S>>> = {},
): Cookie<A> {
  return namedByCodec(name, codecFor(kind, placeOf("cookie", name)) as Codec<A>, about);
}

/** A required cookie: a 400 problem `required` at `cookie.<name>` where it is absent, or sealed and does not open. */
export function required<A>(cookie: Cookie<A>): Dep<A> {
  needs(isCookie(cookie), "Cookie.required: it", cookie, "made by Cookie.named");
  const absent = missing(`cookie.${cookie.name}`);
  return cookieInput(cookie, true, () => absent);
}

/** A cookie's value; undefined where it is absent. */
export function optional<A>(cookie: Cookie<A>): Dep<A | undefined> {
  needs(isCookie(cookie), "Cookie.optional: it", cookie, "made by Cookie.named");
  return cookieInput(cookie, false, () => undefined);
}

function cookieInput<A>(cookie: Cookie<A>, required: boolean, absent: () => unknown): Dep<never, never, never> {
  const { name, codec, sealing, about } = cookie;
  const at = placeOf("cookie", name);
  const compile = () => (request: InputRequest) => {
    const text = request.cookie(name);
    if (text === undefined) return absent();
    return sealing === undefined ? readText(codec, text, at) : readSealed(cookie, sealing, text, request.now, absent);
  };
  // Only the server can write a sealed value, so the API document describes it as a text.
  const need: TextNeed = {
    in: "cookie",
    name,
    codec: sealing === undefined ? codec : string,
    required,
    style: "text",
    ...(about === undefined ? {} : { about }),
  };
  return noted({ node: { from: [], need, check: () => wrongText(need), compile } });
}

/** A sealed cookie that does not open counts as absent: a client that forged it learns nothing. */
async function readSealed<A>(
  { name, codec }: Cookie<A>,
  sealing: Sealing,
  text: string,
  now: Date,
  absent: () => unknown,
): Promise<unknown> {
  const opened = await sealing.open(text, now);
  const read = opened === undefined ? undefined : codec.parse(opened);
  if (read?.ok === true) return read.value;
  const message = `the cookie ${name} did not open, and is read as absent`;
  log({ level: "debug", source: "framework.http", message, fields: {}, context: current() });
  return absent();
}

export { clear, make } from "../codecs/cookie.ts";
export type { Cookie, CookieOptions, SetCookie } from "../codecs/cookie.ts";
export { encrypted, signed } from "./sealing.ts";
export type { SealedOptions } from "./sealing.ts";
export { encoded } from "../codecs/codec.ts";
