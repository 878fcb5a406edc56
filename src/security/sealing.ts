import type { Codec, TextOptions } from "../codecs/codec.ts";
import { named, oldestMs } from "../codecs/cookie.ts";
import type { Cookie, Sealing } from "../codecs/cookie.ts";
import { needsOptions, needsText, placeOf } from "../arguments.ts";
import { decode, decodeBase64url, encodeBase64url } from "../http/bytes.ts";
import { codecFor } from "../inputs/text-schema.ts";
import type { AnyTextKind, TextKind } from "../inputs/text-schema.ts";
import { ringOf } from "./key-ring.ts";
import type { Keys } from "./keys.ts";

/**
 * Whether a client's text, such as a token or a key, is the secret. The time depends only on the length, so the secret
 * cannot be guessed character by character; `===` ends at the first difference. For passwords use a slow hash, which has its
 * own comparison.
 */
export function isSameSecret(given: string, secret: string): boolean {
  needsText("isSameSecret: what is given", given);
  needsText("isSameSecret: its secret", secret);
  let differing = given.length ^ secret.length;
  for (let i = 0; i < given.length; i++) differing |= given.charCodeAt(i) ^ secret.charCodeAt(i % secret.length);
  return differing === 0;
}

/** The options of a signed or an encrypted cookie. */
export interface SealedOptions extends Pick<TextOptions, "doc" | "deprecated"> {
  /**
   * The greatest age of a value, rounded up to whole seconds. The server enforces it whatever the browser keeps. It is also
   * the cookie's `Max-Age`, which `Cookie.make` may shorten. No limit by default.
   */
  readonly maxAgeMs?: number;
}

/**
 * A signed cookie: the browser can read it, and only the server can write it. The signature covers the cookie's name and the
 * time when it was set. A cookie with a wrong signature, one that is too old, or one that was set over a minute later than now, counts
 * as absent.
 */
export function signed<A, S = unknown>(
  keys: Keys,
  name: string,
  kind: TextKind<A, S>,
  options: SealedOptions = {},
): Cookie<A> {
  const ring = ringOf(keys, "Cookie.signed");
  const text = (stamp: string, value: string): string => `${name}\0${stamp}\0${value}`;
  const close = async (value: string, stamp: string): Promise<string> => {
    const signature = await ring.sign("cookie signing", text(stamp, value));
    return `${stamp}.${encodeBase64url(new TextEncoder().encode(value))}.${encodeBase64url(signature)}`;
  };
  const open = async (sealed: string): Promise<Opened | undefined> => {
    const [stamp = "", encoded = "", signature = "", ...more] = sealed.split(".");
    const value = decodedText(decodeBase64url(encoded));
    const bytes = decodeBase64url(signature);
    if (more.length > 0 || value === undefined || bytes === undefined) return undefined;
    return (await ring.verify("cookie signing", text(stamp, value), bytes)) ? { stamp, value } : undefined;
  };
  return sealedCookie("Cookie.signed", name, kind, options, close, open);
}

/** A cookie that only the server can read or write; otherwise like `Cookie.signed`. */
export function encrypted<A, S = unknown>(
  keys: Keys,
  name: string,
  kind: TextKind<A, S>,
  options: SealedOptions = {},
): Cookie<A> {
  const ring = ringOf(keys, "Cookie.encrypted");
  const close = async (value: string, stamp: string): Promise<string> =>
    encodeBase64url(await ring.seal("cookie sealing", `${stamp}.${value}`, name));
  const open = async (sealed: string): Promise<Opened | undefined> => {
    const bytes = decodeBase64url(sealed);
    const text = bytes === undefined ? undefined : await ring.open("cookie sealing", bytes, name);
    const dot = text?.indexOf(".") ?? -1;
    return text === undefined || dot === -1 ? undefined : { stamp: text.slice(0, dot), value: text.slice(dot + 1) };
  };
  return sealedCookie("Cookie.encrypted", name, kind, options, close, open);
}

/** How far the clock of another process may be ahead. A value that was sealed for a later time is not valid yet. */
const maxAheadSeconds = 60;

interface Opened {
  /** Whole seconds since 1970, in digits. */
  readonly stamp: string;
  readonly value: string;
}

function sealedCookie<A>(
  maker: string,
  name: string,
  kind: AnyTextKind,
  options: SealedOptions,
  close: (value: string, stamp: string) => Promise<string>,
  open: (sealed: string) => Promise<Opened | undefined>,
): Cookie<A> {
  needsOptions(maker, options, "maxAgeMs doc deprecated");
  const { maxAgeMs, ...about } = options;
  if (maxAgeMs !== undefined && !(maxAgeMs > 0 && maxAgeMs <= oldestMs)) {
    const problem = `${maker}: maxAgeMs of cookie ${name} must be milliseconds, more than 0, not ${maxAgeMs}`;
    throw new Error(maxAgeMs > oldestMs ? `${problem}: ${oldestMs} at most` : problem);
  }
  const maxAgeSeconds = maxAgeMs === undefined ? Number.POSITIVE_INFINITY : Math.ceil(maxAgeMs / 1000);
  const sealing: Sealing = {
    ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
    close: (value, now) => close(value, String(secondsOf(now))),
    open: async (text, now) => {
      const opened = await open(text);
      const age = opened === undefined ? Number.NaN : secondsOf(now) - Number(opened.stamp);
      return age >= -maxAheadSeconds && age <= maxAgeSeconds ? opened?.value : undefined;
    },
  };
  const codec = codecFor(kind, placeOf("cookie", name));
  // The API document describes a sealed value as a text, so `App.make` does not look at this codec.
  const problem = codec.schema?.problem;
  if (problem !== undefined) throw new TypeError(`${maker}: it reads cookie.${name} ${problem}`);
  return { ...named(name, codec as Codec<A>, about, maker), sealing };
}

function secondsOf(now: Date): number {
  return Math.floor(now.getTime() / 1000);
}

function decodedText(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : decode(bytes);
}
