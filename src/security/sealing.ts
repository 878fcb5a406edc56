import type { Codec } from "../codecs/codec.ts";
import { named, oldestMs } from "../codecs/cookie.ts";
import type { Cookie, Sealing } from "../codecs/cookie.ts";
import { decode, decodeBase64url, encodeBase64url } from "../http/bytes.ts";
import { ringOf } from "./key-ring.ts";
import type { Keys } from "./keys.ts";

/**
 * Whether what a client gave is the secret: a token, a key. It takes as long for a text that begins like the secret as for
 * any other of that length, so that nobody finds it out letter by letter; `===` ends at the first that differs. A password
 * is not compared at all, but hashed by a slow hash, which compares by itself.
 */
export function isSameSecret(given: string, secret: string): boolean {
  let differing = given.length ^ secret.length;
  for (let i = 0; i < given.length; i++) differing |= given.charCodeAt(i) ^ secret.charCodeAt(i % secret.length);
  return differing === 0;
}

/** How a cookie is sealed. */
export interface SealedOptions {
  /**
   * How old a value may be, in whole seconds rounded up: the server holds it to that, whatever the browser keeps. It is
   * the `Max-Age` it is set with, which `Cookie.make` may shorten. As old as it gets, unless set.
   */
  readonly maxAgeMs?: number;
}

/**
 * A cookie whoever has it can read, and nobody but the server can change. Its value is bound to the cookie's name and to
 * when it was set; what does not hold, or is too old, is as if it had not been sent.
 */
export function signed<A>(keys: Keys, name: string, codec: Codec<A>, options: SealedOptions = {}): Cookie<A> {
  const ring = ringOf(keys);
  const text = (stamp: string, value: string): string => `${name}\0${stamp}\0${value}`;
  const close = async (value: string, stamp: string): Promise<string> => {
    const signature = await ring.sign("cookie signing", text(stamp, value));
    return `${stamp}.${encodeBase64url(new TextEncoder().encode(value))}.${encodeBase64url(signature)}`;
  };
  const open = async (sealed: string): Promise<Opened | undefined> => {
    const [stamp = "", encoded = "", signature = "", ...more] = sealed.split(".");
    const value = textOf(decodeBase64url(encoded));
    const bytes = decodeBase64url(signature);
    if (more.length > 0 || value === undefined || bytes === undefined) return undefined;
    return (await ring.verify("cookie signing", text(stamp, value), bytes)) ? { stamp, value } : undefined;
  };
  return sealedCookie("Cookie.signed", name, codec, options, close, open);
}

/** A cookie nobody but the server can read or change; otherwise as {@link signed}. */
export function encrypted<A>(keys: Keys, name: string, codec: Codec<A>, options: SealedOptions = {}): Cookie<A> {
  const ring = ringOf(keys);
  const close = async (value: string, stamp: string): Promise<string> =>
    encodeBase64url(await ring.seal("cookie sealing", `${stamp}.${value}`, name));
  const open = async (sealed: string): Promise<Opened | undefined> => {
    const bytes = decodeBase64url(sealed);
    const text = bytes === undefined ? undefined : await ring.open("cookie sealing", bytes, name);
    const dot = text?.indexOf(".") ?? -1;
    return text === undefined || dot === -1 ? undefined : { stamp: text.slice(0, dot), value: text.slice(dot + 1) };
  };
  return sealedCookie("Cookie.encrypted", name, codec, options, close, open);
}

interface Opened {
  /** Whole seconds since 1970, in digits. */
  readonly stamp: string;
  readonly value: string;
}

function sealedCookie<A>(
  maker: string,
  name: string,
  codec: Codec<A>,
  { maxAgeMs }: SealedOptions,
  close: (value: string, stamp: string) => Promise<string>,
  open: (sealed: string) => Promise<Opened | undefined>,
): Cookie<A> {
  if (maxAgeMs !== undefined && !(maxAgeMs > 0 && maxAgeMs <= oldestMs)) {
    const said = `${maker}: maxAgeMs of cookie ${name} is milliseconds, more than 0, and not ${maxAgeMs}`;
    throw new Error(maxAgeMs > oldestMs ? `${said}: ${oldestMs} at most` : said);
  }
  const oldest = maxAgeMs === undefined ? Number.POSITIVE_INFINITY : Math.ceil(maxAgeMs / 1000);
  const sealing: Sealing = {
    ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
    close: (value, now) => close(value, String(secondsOf(now))),
    open: async (text, now) => {
      const opened = await open(text);
      return opened !== undefined && secondsOf(now) - Number(opened.stamp) <= oldest ? opened.value : undefined;
    },
  };
  return { ...named(name, codec), sealing };
}

function secondsOf(now: Date): number {
  return Math.floor(now.getTime() / 1000);
}

function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : decode(bytes);
}
