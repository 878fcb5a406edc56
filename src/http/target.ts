import { addressBytes } from "./addresses.ts";

// `URL` never parses a request target: it reads `%2E%2E` as a step up and lets a bad `Host` change the path.

/** The path and query of a request target (RFC 9112 §3.2), as sent. */
export function originForm(target: string): string {
  const form = target.charCodeAt(0) === 0x2f ? target : withoutAuthority(target);
  const hash = form.indexOf("#");
  return hash === -1 ? form : form.slice(0, hash);
}

/** The path without the query. */
export function pathOf(target: string): string {
  const form = originForm(target);
  const question = form.indexOf("?");
  return question === -1 ? form : form.slice(0, question);
}

/** The authority of an absolute target, which replaces `Host` (RFC 9112 §3.2.2). */
export function authorityOf(target: string): string | undefined {
  return target.charCodeAt(0) === 0x2f ? undefined : absolute.exec(target)?.[1];
}

/** Where the authority of a URL ends, also of one that no parser has normalised. */
export function endOfAuthority(url: string, start: number): number {
  for (let at = start; at < url.length; at++) {
    const char = url[at];
    if (char === "/" || char === "?" || char === "#") return at;
  }
  return url.length;
}

const absolute = /^https?:\/\/([^/?#]*)/i;

function withoutAuthority(target: string): string {
  const match = absolute.exec(target);
  if (match === null) return target;
  const rest = target.slice(match[0].length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

// RFC 3986 §3.2.2: a name, or an address in brackets, which has a form for future versions.
const named = /^(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+(?::\d*)?$/i;
const bracketed = /^\[(?:([\da-f:.]+)|v[\da-f]+\.[\w.~!$&'()*+,;=:-]+)\](?::\d*)?$/i;

/** Whether a text is a host with an optional port. */
function isAuthority(text: string): boolean {
  if (named.test(text)) return true;
  const match = bracketed.exec(text);
  if (match === null) return false;
  const [, address] = match;
  return address === undefined || (address.includes(":") && addressBytes(address) !== undefined);
}

/** Whether a text is a valid `Host` (RFC 9110 §7.2). It is empty for a target without an authority. */
export function isHost(text: string): boolean {
  return text === "" || isAuthority(text);
}

/** Whether a text is a valid target of `CONNECT` (RFC 9110 §9.3.6): a host and a port. */
export function isHostAndPort(text: string): boolean {
  return /:\d+$/.test(text) && isAuthority(text);
}

const percent = 0x25;
const plus = 0x2b;

const hexDigits = /* @__PURE__ */ Int8Array.from({ length: 0x80 }, (_, unit) =>
  "0123456789abcdef".indexOf(String.fromCharCode(unit).toLowerCase()),
);

/** UTF-16 units that are not yet in the text. 1 MiB of `+` takes 10 ms this way, and 66 ms one by one. */
const units = new Uint16Array(1024);
const maxCopied = 64;

// Decoding never throws inside: `decodeURIComponent` throws for a lone `%`, and 1 MiB of those took 7 s on Node 20.

/**
 * Decodes form-encoded text from `start` to `end` (WHATWG URL §5.1). `+` is a space, `%XX` a byte, and a `%` without two hex
 * digits is itself. Null where the bytes are not UTF-8.
 */
export function decodeFormText(text: string, start = 0, end: number = text.length): string | null {
  return unescaped(text, start, end, true);
}

/** Decodes `%XX` (RFC 3986 §2.1). Null where a `%` has no two hex digits or the bytes are not UTF-8. */
export function decodePercent(text: string): string | null {
  return unescaped(text, 0, text.length, false);
}

/** @param isForm Whether `+` is a space, and a `%` without two hex digits is itself. */
function unescaped(text: string, start: number, end: number, isForm: boolean): string | null {
  let decoded = "";
  let held = 0;
  let copied = start;
  for (let at = start; at < end;) {
    const unit = text.charCodeAt(at);
    const isSpace = isForm && unit === plus;
    // In a form, a `%` before another one is itself; a text of nothing else is the worst case.
    const isEscape = unit === percent && !(isForm && text.charCodeAt(at + 1) === percent);
    if (!isSpace && !isEscape) {
      at++;
      continue;
    }
    const byte = isSpace ? 0x20 : byteAt(text, at, end);
    if (byte === -1) {
      if (!isForm) return null;
      at++;
      continue;
    }
    const point = byte < 0x80 ? byte : pointAt(text, at, end, byte);
    if (point === -1) return null;
    if (at - copied <= maxCopied) while (copied < at) units[held++] = text.charCodeAt(copied++);
    else {
      decoded += heldText(held) + text.slice(copied, at);
      held = 0;
    }
    if (point > 0xffff) units[held++] = 0xd7c0 + (point >> 10);
    units[held++] = point > 0xffff ? 0xdc00 | (point & 0x3ff) : point;
    at += isSpace ? 1 : 3 * utf8LengthOf(point);
    copied = at;
    if (held > units.length - maxCopied - 2) {
      decoded += heldText(held);
      held = 0;
    }
  }
  if (copied === start) return text.slice(start, end);
  return decoded + heldText(held) + text.slice(copied, end);
}

function heldText(held: number): string {
  return String.fromCharCode.apply(null, units.subarray(0, held) as unknown as number[]);
}

/** The code point whose first byte is at `start`; -1 where the bytes are not UTF-8 (RFC 3629 §4). */
function pointAt(text: string, start: number, end: number, lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return -1;
  const more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  let point = lead & (0x3f >> more);
  for (let i = 1; i <= more; i++) {
    const at = start + 3 * i;
    const byte = text.charCodeAt(at) === percent ? byteAt(text, at, end) : -1;
    if (byte >> 6 !== 0b10) return -1;
    point = (point << 6) | (byte & 0x3f);
  }
  // UTF-8 has neither overlong forms nor surrogates.
  return utf8LengthOf(point) === more + 1 && point >> 11 !== 0x1b && point <= 0x10_ffff ? point : -1;
}

/** The length of a code point in UTF-8. */
function utf8LengthOf(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x1_0000 ? 3 : 4;
}

/** The byte of the `%XX` at a position; -1 without two hex digits. */
function byteAt(text: string, at: number, end: number): number {
  if (at + 2 >= end) return -1;
  const high = hexDigit(text.charCodeAt(at + 1));
  const low = high === -1 ? -1 : hexDigit(text.charCodeAt(at + 2));
  return low === -1 ? -1 : high * 16 + low;
}

function hexDigit(unit: number): number {
  return unit < 0x80 ? (hexDigits[unit] as number) : -1;
}

/** A target as a header can have it: workerd shows what its client sent past ASCII as it is. */
export function inAscii(target: string): string {
  return target.replace(/[^\x21-\x7e]+/g, encodeURIComponent);
}

/**
 * A URI in ASCII (RFC 3986 §2.5), white space too: a browser drops a tab, so that `/\t/host` would be another site. Other controls stay:
 * no header can have them. Throws for half of a surrogate pair.
 */
export function encodeNonAscii(uri: string): string {
  return uri.replace(/[^\0-\x08\x0a-\x1f\x21-\x7f]+/g, encodeURIComponent);
}

/** A decoded path segment; undefined where a percent sequence is malformed or not UTF-8. */
export function decodeSegment(segment: string): string | undefined {
  return segment.includes("%") ? (decodePercent(segment) ?? undefined) : segment;
}

/** The segments of a path, decoded as the router decodes them. One that is not UTF-8, or has a broken escape, is as it was sent. */
export function decodedSegments(path: string): readonly string[] {
  if (!path.startsWith("/") || path === "/") return Object.freeze([]);
  const segments = path.slice(1).split("/");
  return Object.freeze(segments.map((segment) => decodeSegment(segment) ?? segment));
}

/** A path with its segments decoded. `%2F` and `%25` stay, so that paths are equal only where their segments are. */
export function decodedPath(path: string): string {
  return path.includes("%") ? path.split("/").map(comparable).join("/") : path;
}

function comparable(segment: string): string {
  return decodeSegment(segment)?.replaceAll("%", "%25").replaceAll("/", "%2F") ?? segment;
}

/** An encoded path segment. A parser of RFC 3986 keeps `%2E` and `%2E%2E`; that of WHATWG removes them as it does `.` and `..`. */
export function encodeSegment(text: string): string {
  return text === "." || text === ".." ? text.replaceAll(".", "%2E") : percentEncoded(text, "!'()*");
}

/**
 * A text of which only the unreserved characters of RFC 3986 §2.3 stay as they are, and those that `encodeURIComponent` keeps too.
 *
 * @param signs Which of these, `!'()*`, are encoded: all of them are reserved.
 */
export function percentEncoded(text: string, signs: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => {
    return signs.includes(sign) ? `%${sign.charCodeAt(0).toString(16).toUpperCase()}` : sign;
  });
}

/**
 * The methods that a client may use though no route declares them. Any other is a 501, and never a name in a span or a
 * metric.
 */
export const knownMethods: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
]);
