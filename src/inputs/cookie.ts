import type { Cookie } from "../cookies/cookie.ts";
import type { Asked } from "./asked.ts";
import type { Dep } from "./dep.ts";
import { readText, required as missing } from "./read-text.ts";

/** A cookie that must be sent: a 400 problem `required` at `cookie.<name>` where it is not. */
export function required<A>(cookie: Cookie<A>): Dep<A> {
  const absent = missing(`cookie.${cookie.name}`);
  return read(cookie, true, () => absent);
}

/** A cookie's value, or undefined where it is not sent. */
export function optional<A>(cookie: Cookie<A>): Dep<A | undefined> {
  return read(cookie, false, () => undefined);
}

function read<A>({ name, codec }: Cookie<A>, required: boolean, absent: () => unknown): Dep<never, never, never> {
  const at = `cookie.${name}`;
  const compile = () => (asked: Asked) => {
    const text = asked.cookie(name);
    return text === undefined ? absent() : readText(codec, text, at);
  };
  return { node: { from: [], need: { in: "cookie", name, codec, required, repeated: false }, compile } };
}

export { clear, make, named } from "../cookies/cookie.ts";
export type { Cookie, CookieOptions, SetCookie } from "../cookies/cookie.ts";
export { encoded } from "../codecs/base64url-text.ts";
