import { addressBytes } from "./addresses.ts";

// A request target is cut by hand and never by `URL`, which takes `%2E%2E` for a step up and lets a bad `Host` change
// the path.

/** The path and query of a request target (RFC 9112 §3.2), as sent. */
export function originForm(target: string): string {
  const form = target.charCodeAt(0) === 0x2f ? target : withoutAuthority(target);
  const hash = form.indexOf("#");
  return hash === -1 ? form : form.slice(0, hash);
}

/** The path alone. */
export function pathOf(target: string): string {
  const form = originForm(target);
  const question = form.indexOf("?");
  return question === -1 ? form : form.slice(0, question);
}

/** The authority of an absolute target, which then stands for `Host`. */
export function authorityOf(target: string): string | undefined {
  return target.charCodeAt(0) === 0x2f ? undefined : absolute.exec(target)?.[1];
}

const absolute = /^https?:\/\/([^/?#]*)/i;

function withoutAuthority(target: string): string {
  const match = absolute.exec(target);
  if (match === null) return target;
  const rest = target.slice(match[0].length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

// RFC 3986 §3.2.2: a name, or an address in brackets, of which there is a form for those to come.
const named = /^(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+(?::\d*)?$/i;
const bracketed = /^\[(?:([\da-f:.]+)|v[\da-f]+\.[\w.~!$&'()*+,;=:-]+)\](?::\d*)?$/i;

/** Whether a text is a host, with a port or without. */
function isAuthority(text: string): boolean {
  if (named.test(text)) return true;
  const match = bracketed.exec(text);
  if (match === null) return false;
  const [, address] = match;
  return address === undefined || (address.includes(":") && addressBytes(address) !== undefined);
}

/** Whether a text is what `Host` may be (RFC 9110 §7.2): empty, for a target that has no authority, too. */
export function isHost(text: string): boolean {
  return text === "" || isAuthority(text);
}

/** Whether a text is what `CONNECT` may be for (RFC 9110 §9.3.6): with its port. */
export function isHostAndPort(text: string): boolean {
  return /:\d+$/.test(text) && isAuthority(text);
}

const percent = 0x25;
const plus = 0x2b;

const hexDigits = Int8Array.from({ length: 0x80 }, (_, unit) =>
  "0123456789abcdef".indexOf(String.fromCharCode(unit).toLowerCase()),
);

/** Units that are not yet part of the text: put together one by one, 1 MiB of `+` takes 66 ms, and by these 10. */
const units = new Uint16Array(1024);
const longestCopied = 64;

// No exception on the way: `decodeURIComponent` throws for a lone `%`, and 1 MiB of those took 7 s on Node 20.

/**
 * What stands in a form-encoded text from `start` to `end`: `+` is a space, `%XX` a byte, and a `%` with no two digits behind
 * it stands for itself (WHATWG URL §5.1). Null where the bytes are not UTF-8.
 */
export function decodeFormText(text: string, start = 0, end: number = text.length): string | null {
  return unescaped(text, start, end, true);
}

/** What a text with `%XX` for bytes stands for (RFC 3986 §2.1). Null where a `%` is broken, or the bytes are not UTF-8. */
export function decodePercent(text: string): string | null {
  return unescaped(text, 0, text.length, false);
}

/** @param isForm Whether `+` is a space, and a `%` with no two digits behind it stands for itself. */
function unescaped(text: string, start: number, end: number, isForm: boolean): string | null {
  let decoded = "";
  let held = 0;
  let copied = start;
  for (let at = start; at < end;) {
    const unit = text.charCodeAt(at);
    const isSpace = isForm && unit === plus;
    // A `%` before another stands for itself in a form: a text of nothing else is the worst there is.
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
    if (at - copied <= longestCopied) while (copied < at) units[held++] = text.charCodeAt(copied++);
    else {
      decoded += textOf(held) + text.slice(copied, at);
      held = 0;
    }
    if (point > 0xffff) units[held++] = 0xd7c0 + (point >> 10);
    units[held++] = point > 0xffff ? 0xdc00 | (point & 0x3ff) : point;
    at += isSpace ? 1 : 3 * bytesOf(point);
    copied = at;
    if (held > units.length - longestCopied - 2) {
      decoded += textOf(held);
      held = 0;
    }
  }
  if (copied === start) return text.slice(start, end);
  return decoded + textOf(held) + text.slice(copied, end);
}

function textOf(held: number): string {
  return String.fromCharCode.apply(null, units.subarray(0, held) as unknown as number[]);
}

/** The code point whose first byte is at a place; -1 where the bytes there are not UTF-8 (RFC 3629 §4). */
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
  // Of what fits in fewer bytes, and of half a surrogate pair, there is no UTF-8.
  return bytesOf(point) === more + 1 && point >> 11 !== 0x1b && point <= 0x10_ffff ? point : -1;
}

/** How many bytes a code point is in UTF-8. */
function bytesOf(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x1_0000 ? 3 : 4;
}

/** What `%XX` stands for at a place; -1 where no two digits are there. */
function byteAt(text: string, at: number, end: number): number {
  if (at + 2 >= end) return -1;
  const high = hexDigit(text.charCodeAt(at + 1));
  const low = high === -1 ? -1 : hexDigit(text.charCodeAt(at + 2));
  return low === -1 ? -1 : high * 16 + low;
}

function hexDigit(unit: number): number {
  return unit < 0x80 ? (hexDigits[unit] as number) : -1;
}

/** The text a segment stands for; undefined where a percent sequence is broken or is no UTF-8. */
export function decodeSegment(segment: string): string | undefined {
  return segment.includes("%") ? (decodePercent(segment) ?? undefined) : segment;
}

/** A segment of this text, which no URL parser takes away. */
export function encodeSegment(text: string): string {
  return text === "." || text === ".." ? text.replaceAll(".", "%2E") : percentEncoded(text);
}

/** RFC 3986 §2.3: only the unreserved characters stand for themselves. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The methods a client may use though no route declares them; what else is made up is 501, and no name of a span or a figure. */
export const knownMethods: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
]);
