import { clear, make, string } from "../../src/doors/codecs.ts";
import type { Cookie, SetCookie } from "../../src/doors/codecs.ts";
import { isObject } from "../../src/arguments.ts";
import { encodeBase64url, stripped } from "../../src/doors/http.ts";
import type { RequestRecord } from "../../src/doors/inputs.ts";
import { encrypted, isSameSecret } from "../../src/doors/security.ts";
import type { Keys } from "../../src/doors/security.ts";
import { isOwnPath } from "./return-address.ts";

/** A sign-in that began in one browser and whose answer has not come. */
export interface Attempt {
  /** Ties the issuer's answer to the browser. */
  readonly state: string;
  /** Ties the ID token to the attempt. */
  readonly nonce: string;
  /** The secret of PKCE. */
  readonly verifier: string;
  /** Where the browser goes when it is signed in. */
  readonly returnTo: string;
}

/**
 * How many attempts a browser keeps. Each has a cookie of its own, so that several tabs do not take each other's. The oldest are
 * removed, so that no page fills the browser's `Cookie` header with attempts: at most 8 kB.
 */
const maxOpen = 8;
/** How many cookies one response removes. */
const maxRemoved = 50;

/** The attempts of browsers, in sealed cookies: the server keeps nothing for a sign-in that never ends. */
export class Attempts {
  readonly #cookie: Cookie<string>;
  readonly #redirectUri: string;

  /** @param redirectUri An attempt counts for this address alone, and so for one issuer. */
  constructor(keys: Keys, redirectUri: string, maxAgeMs: number) {
    this.#cookie = encrypted(keys, "oidc", string, { maxAgeMs });
    this.#redirectUri = redirectUri;
  }

  /** A new attempt, and the cookies to set for it. */
  start(returnTo: string, request: RequestRecord): { attempt: Attempt; cookies: readonly SetCookie[] } {
    const attempt = { state: random(), nonce: random(), verifier: random(), returnTo };
    const { state, nonce, verifier } = attempt;
    const text = JSON.stringify([state, nonce, verifier, returnTo, this.#redirectUri]);
    const removed = tooMany(request).map((name) => clear({ ...this.#cookie, name }));
    return { attempt, cookies: [...removed, make(this.#of(state, request), text)] };
  }

  /** The attempt that a state is of; undefined where this browser has none. */
  async find(state: string, request: RequestRecord): Promise<Attempt | undefined> {
    if (!isState(state)) return undefined;
    const { name, sealing } = this.#of(state, request);
    const sealed = request.cookie(name);
    const text = sealed === undefined ? undefined : await sealing?.open(sealed, request.now);
    const attempt = text === undefined ? undefined : this.#read(text);
    return attempt !== undefined && isSameSecret(state, attempt.state) ? attempt : undefined;
  }

  /** Removes the cookie of an attempt. */
  end({ state }: Attempt, request: RequestRecord): SetCookie {
    return clear(this.#of(state, request));
  }

  #of(state: string, request: RequestRecord): Cookie<string> {
    return { ...this.#cookie, name: prefixOf(request) + state.slice(0, 8) };
  }

  // Only this server seals such a text; an older release may have written another one.
  #read(text: string): Attempt | undefined {
    const parts: unknown = JSON.parse(text);
    if (!isObject(parts)) return undefined;
    const [state, nonce, verifier, returnTo, redirectUri] = Object.values(parts);
    const areTexts = [state, nonce, verifier].every((part) => typeof part === "string");
    if (!areTexts || !isOwnPath(returnTo) || redirectUri !== this.#redirectUri) return undefined;
    return { state: state as string, nonce: nonce as string, verifier: verifier as string, returnTo };
  }
}

/** 256 random bits, in the 43 characters that PKCE needs at least (RFC 7636 §4.1). */
function random(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(32)));
}

function isState(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

function isName(text: string): boolean {
  return /^[A-Za-z0-9_-]{8}$/.test(text);
}

/** `__Host-`: no sibling subdomain can set such a cookie, and so sign a victim in to an account of the attacker. */
function prefixOf({ secureCookies }: RequestRecord): string {
  return secureCookies ? "__Host-oidc-" : "oidc-";
}

// A browser sends the oldest cookie first (RFC 6265 §5.4).
function tooMany(request: RequestRecord): readonly string[] {
  const prefix = prefixOf(request);
  const pairs = (request.header("cookie") ?? "").split(/[;,]/);
  const names = pairs.map((pair) => stripped(pair.slice(0, Math.max(0, pair.indexOf("=")))));
  const ours = names.filter((name) => name.startsWith(prefix) && isName(name.slice(prefix.length)));
  return ours.slice(0, Math.min(maxRemoved, Math.max(0, ours.length - maxOpen + 1)));
}
