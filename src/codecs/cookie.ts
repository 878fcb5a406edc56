import { isObject, needs, needsObject, needsOptions, needsText } from "../arguments.ts";
import { isToken, stripped } from "../http/fields.ts";
import type { Codec, TextOptions } from "./codec.ts";

/** The declaration of a cookie, which reads, sets and removes it. */
export interface Cookie<in out A> {
  /** Its name, a token of RFC 9110. */
  readonly name: string;
  /** Reads and writes its value. */
  readonly codec: Codec<A>;
  /** What the API document says of it. */
  readonly about?: TextOptions;
  /** How the value is signed or encrypted, if it is. */
  readonly sealing?: Sealing;
}

/** Signs or encrypts a cookie's value; made by `Cookie.signed` or `Cookie.encrypted`. */
export interface Sealing {
  /** The greatest age of a value. */
  readonly maxAgeMs?: number;
  /** The sealed value with the time of sealing, as it is sent. */
  readonly close: (value: string, now: Date) => Promise<string>;
  /** The value; undefined for a text that this did not close, or closed more than `maxAgeMs` ago. */
  readonly open: (text: string, now: Date) => Promise<string | undefined>;
}

/** A cookie to be set, made by `Cookie.make` or `Cookie.clear`. */
export interface SetCookie {
  /** Its name. */
  readonly name: string;
  /** As it is sent; empty with `seal`, which makes the value. */
  readonly value: string;
  /** Seals the value when the response is made. */
  readonly seal?: (now: Date) => Promise<string>;
  /** The `Path` attribute. */
  readonly path: string;
  /** Whether scripts of the page cannot read it. */
  readonly httpOnly: boolean;
  /** The `Domain` attribute; without it the cookie goes only to the host that set it. */
  readonly domain?: string;
  /** The `SameSite` attribute. */
  readonly sameSite: "strict" | "lax" | "none";
  /** Whether a page that embeds this site gets cookies of its own: the `Partitioned` attribute. */
  readonly partitioned?: boolean;
  /** Its age in milliseconds, sent as `Max-Age` in seconds; without it, the cookie ends with the browser session. */
  readonly maxAgeMs?: number;
}

/** A cookie's attributes. */
export interface CookieOptions {
  /** `/` by default. */
  readonly path?: string;
  /** How long the browser keeps it, rounded up to whole seconds; until the browser closes by default. */
  readonly maxAgeMs?: number;
  /** Hidden from scripts: true by default. */
  readonly httpOnly?: boolean;
  /**
   * `"lax"` by default. With `"none"` pages of other sites send it too, so that only the check of the request's origin protects from
   * forged requests (CSRF). Such a cookie is always `Secure`, so plain HTTP loses it but on `localhost`.
   */
  readonly sameSite?: "strict" | "lax" | "none";
  /**
   * The domain whose hosts all get it: `shop.example` for `api.shop.example` too. Each of these hosts can read and replace it, also one
   * that another company runs. Without it, which is safer, only the host that set it gets it. A `__Host-` cookie has none.
   */
  readonly domain?: string;
  /**
   * Keeps one cookie for each site that embeds this one (CHIPS), where a browser blocks third-party cookies. It needs `sameSite: "none"`,
   * and is always `Secure`. A user who visits this site itself has another one there.
   */
  readonly partitioned?: boolean;
}

/** Declares a cookie (RFC 6265). Throws where the name is not a token. */
export function named<A>(name: string, codec: Codec<A>, about: TextOptions = {}, maker = "Cookie.named"): Cookie<A> {
  if (typeof name !== "string" || !isToken(name))
    throw new Error(`${maker}: ${JSON.stringify(name)} is not a cookie name`);
  needsOptions(maker, about, "doc example examples deprecated");
  return { name, codec, about };
}

/**
 * A cookie to set.
 *
 * @throws Error where no cookie can hold the printed value or the path, or the age is out of range. `Cookie.encoded` holds
 *   any text.
 */
export function make<A>(cookie: Cookie<A>, value: A, options: CookieOptions = {}): SetCookie {
  needs(isCookie(cookie), "Cookie.make: its cookie", cookie, "made by Cookie.named");
  needsOptions("Cookie.make", options, "path maxAgeMs httpOnly sameSite domain partitioned");
  const { name, codec, sealing } = cookie;
  const printed = codec.print(value);
  needsText("Cookie.make: its value, printed by the codec,", printed);
  // A sealed value may be any text, because the cookie holds base64url.
  const canHold = sealing === undefined ? isCookieValue(printed) : printed.isWellFormed();
  if (!canHold) throw new Error(`Cookie.make: cookie ${name} has a value no cookie can hold`);
  // The length of a sealed value is known when it is sealed.
  const bytes = sealing === undefined ? name.length + printed.length : 0;
  if (bytes > maxBytes) {
    throw new Error(`Cookie.make: cookie ${name} has ${bytes} bytes, and a browser drops one of more than ${maxBytes}`);
  }
  const maxAgeMs = shorter(options.maxAgeMs, sealing?.maxAgeMs);
  if (maxAgeMs !== undefined && !isAge(maxAgeMs)) {
    throw new Error(
      `Cookie.make: maxAgeMs of cookie ${name} must be milliseconds, from 0 to ${oldestMs}, not ${maxAgeMs}`,
    );
  }
  const { sameSite = "lax", partitioned = false, domain } = options;
  if (!sameSites.has(sameSite))
    throw new Error(`Cookie.make: sameSite of cookie ${name} must be "strict", "lax" or "none"`);
  if (partitioned && sameSite !== "none") {
    throw new Error(`Cookie.make: cookie ${name} is partitioned, which needs sameSite: "none"`);
  }
  return {
    name,
    ...(sealing === undefined ? { value: printed } : { value: "", seal: (now) => sealing.close(printed, now) }),
    path: cookiePath(name, options.path),
    httpOnly: options.httpOnly ?? true,
    sameSite,
    ...cookieScope(name, domain, partitioned),
    ...(maxAgeMs === undefined ? {} : { maxAgeMs }),
  };
}

/** Whether a value can be a cookie's declaration: from JavaScript it may be anything. */
export function isCookie(value: unknown): boolean {
  return isObject(value) && isObject(value["codec"]);
}

const sameSites: ReadonlySet<unknown> = /* @__PURE__ */ new Set(["strict", "lax", "none"]);

function cookieScope(name: string, domain: string | undefined, partitioned: boolean) {
  if (domain !== undefined) {
    if (typeof domain !== "string" || !isDomain(domain))
      throw new Error(`Cookie.make: cookie ${name} has a domain no cookie can hold`);
    if (needsRoot.test(name)) throw new Error(`Cookie.make: cookie ${name} must have no domain, or a browser drops it`);
  }
  return { ...(domain === undefined ? {} : { domain }), ...(partitioned ? { partitioned } : {}) };
}

/** Removes a cookie. The path, the domain and `partitioned` must be those that it was set with. */
export function clear<A>(
  cookie: Cookie<A>,
  options: Pick<CookieOptions, "path" | "domain" | "partitioned"> = {},
): SetCookie {
  needsObject("Cookie.clear: its cookie", cookie);
  needsOptions("Cookie.clear", options, "path domain partitioned");
  const path = cookiePath(cookie.name, options.path);
  const { domain, partitioned = false } = options;
  const scope = cookieScope(cookie.name, domain, partitioned);
  return {
    name: cookie.name,
    value: "",
    path,
    httpOnly: true,
    sameSite: partitioned ? "none" : "lax",
    ...scope,
    maxAgeMs: 0,
  };
}

/** A name whose cookie is dropped without `Secure` (RFC 6265bis §4.1.3), in either case. */
const needsSecure = /^__(?:Secure|Host)-/i;
/** A name whose cookie is also dropped with another path than `/`. */
const needsRoot = /^__Host-/i;

const sameSiteTexts = { strict: "Strict", lax: "Lax", none: "None" } as const;

/**
 * The value of a `Set-Cookie` line. `Secure` is left out where some browsers would then drop the cookie, unless its name
 * makes every browser drop it without.
 */
export function setCookieLine(cookie: SetCookie, secure: boolean): string {
  let line = `${cookie.name}=${cookie.value}; Path=${cookie.path}`;
  if (cookie.httpOnly) line += "; HttpOnly";
  // A browser drops one for other sites without it (RFC 6265bis §5.7).
  if (secure || cookie.sameSite === "none" || needsSecure.test(cookie.name)) line += "; Secure";
  line += `; SameSite=${sameSiteTexts[cookie.sameSite]}`;
  if (cookie.domain !== undefined) line += `; Domain=${cookie.domain}`;
  if (cookie.partitioned === true) line += "; Partitioned";
  if (cookie.maxAgeMs !== undefined) line += `; Max-Age=${Math.ceil(cookie.maxAgeMs / 1000)}`;
  return line;
}

/**
 * A cookie as JavaScript may build it, whose parts may be of any type.
 */
type WrittenCookie = { readonly [part in keyof SetCookie]?: unknown };

/**
 * The part of a cookie that cannot be sent, in words for the log; undefined for a valid cookie. A `;` in any part would
 * begin another attribute, and a control character another header.
 */
export function wrongPart(cookie: WrittenCookie | null): string | undefined {
  if (typeof cookie !== "object" || cookie === null) return "no cookie";
  const { name, value, path, domain, sameSite, partitioned, maxAgeMs } = cookie;
  if (typeof name !== "string" || !isToken(name)) return "the name of a cookie";
  if (typeof value !== "string" || !isCookieValue(value)) return `the value of cookie ${name}`;
  if (name.length + value.length > maxBytes) return `the length of cookie ${name}`;
  if (typeof path !== "string" || !isCookiePath(path) || isMisplaced(name, path)) return `the path of cookie ${name}`;
  if (domain !== undefined && !(typeof domain === "string" && isDomain(domain) && !needsRoot.test(name)))
    return `the domain of cookie ${name}`;
  if (sameSite !== undefined && !sameSites.has(sameSite)) return `sameSite of cookie ${name}`;
  if (partitioned === true && sameSite !== "none") return `partitioned of cookie ${name}`;
  return maxAgeMs === undefined || isAge(maxAgeMs) ? undefined : `maxAgeMs of cookie ${name}`;
}

/**
 * The cookies without those that a later one of the same name, path and domain replaces: a server should not send two lines for one
 * cookie (RFC 6265 §4.1.1). JavaScript may list what is no cookie, which {@link wrongPart} finds.
 */
export function lastOfEach(cookies: readonly SetCookie[]): readonly SetCookie[] {
  const last = new Map<string, SetCookie>();
  for (const cookie of cookies) {
    const { name, path, domain } = (cookie as WrittenCookie | null) ?? {};
    const key = JSON.stringify([name, path, domain]);
    last.delete(key);
    last.set(key, cookie);
  }
  return [...last.values()];
}

/** The first cookie with this name in one `Cookie` line. The quotes of a quoted value belong to it. */
export function findCookie(line: string, name: string): string | undefined {
  // `=` is searched again only after the last one found. Else each `;` of a line of semicolons would search to the line's
  // end.
  let equals = line.indexOf("=");
  for (let start = 0; equals !== -1;) {
    const semicolon = line.indexOf(";", start);
    const end = semicolon === -1 ? line.length : semicolon;
    if (equals < end && stripped(line, start, equals) === name) return stripped(line, equals + 1, end);
    start = end + 1;
    if (equals < start) equals = line.indexOf("=", start);
  }
  return undefined;
}

function shorter(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

function cookiePath(name: string, path = "/"): string {
  if (!isCookiePath(path)) throw new Error(`Cookie.make: cookie ${name} has a path no cookie can hold`);
  if (isMisplaced(name, path)) throw new Error(`Cookie.make: cookie ${name} needs the path /, or a browser drops it`);
  return path;
}

/** A browser drops a cookie whose name and value have more (RFC 6265bis §5.6). */
const maxBytes = 4096;

// RFC 6265 §4.1.1: a path-value is any character but controls and ";". A browser takes the directory of the request in place of
// a path without "/" at its start (§5.2.4), or of more than 1024 bytes (RFC 6265bis §5.6).
function isCookiePath(path: string): boolean {
  return /^\/[\x20-\x3a\x3c-\x7e]{0,1023}$/.test(path);
}

function isMisplaced(name: string, path: string): boolean {
  return path !== "/" && needsRoot.test(name);
}

function isDomain(text: string): boolean {
  return /^[A-Za-z0-9.-]+$/.test(text);
}

/** The greatest age for which `Date` still has a time: its last is 8.64e15 ms after 1970. */
export const oldestMs = 8e15;

function isAge(ms: unknown): boolean {
  return typeof ms === "number" && ms >= 0 && ms <= oldestMs;
}

// RFC 6265 §4.1.1: cookie-octets, optionally in double quotes.
function isCookieValue(text: string): boolean {
  return /^(?:[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*|"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*")$/.test(text);
}
