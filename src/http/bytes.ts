const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The length of a text in UTF-8, for exchanges without a faster way. */
export function byteLength(text: string): number {
  return encoder.encode(text).byteLength;
}

/**
 * The bytes of a text that a digest or a signature is made of: UTF-8, and a lone surrogate in its three bytes, as WTF-8 has them.
 * `TextEncoder` writes U+FFFD for each of them, so that texts which differ would have one digest.
 */
export function losslessBytes(text: string): Uint8Array<ArrayBuffer> {
  if (text.isWellFormed()) return encoder.encode(text);
  const bytes: number[] = [];
  for (const character of text) {
    const code = character.charCodeAt(0);
    if (character.isWellFormed()) bytes.push(...encoder.encode(character));
    else bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
  }
  return Uint8Array.from(bytes);
}

/** The text of UTF-8 bytes; undefined where they are not UTF-8. */
export function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** A header value in UTF-8, of which listeners and `fetch` give a character for each byte; any other value as it is. */
export function utf8Of(value: string): string {
  const isOfBytes = /^[\t -\xff]*$/.test(value);
  return (isOfBytes ? decode(Uint8Array.from(value, (character) => character.charCodeAt(0))) : undefined) ?? value;
}

/**
 * Whether a value is a `Uint8Array`, also one of another realm (`vm`, Jest). An object that only inherits from `Uint8Array`
 * passes `instanceof`, but reading its length throws.
 */
export function isBytes(value: unknown): value is Uint8Array {
  if (!ArrayBuffer.isView(value)) return false;
  return value instanceof Uint8Array || Object.prototype.toString.call(value) === "[object Uint8Array]";
}

/**
 * Bytes that every platform accepts. A `Response` refuses a `SharedArrayBuffer` and a resizable `ArrayBuffer` (Web IDL), so
 * their bytes are copied.
 */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  const { buffer } = bytes;
  const isPlain = buffer instanceof ArrayBuffer && (buffer as { readonly resizable?: boolean }).resizable !== true;
  return isPlain ? bytes : new Uint8Array(bytes);
}

/** Lower-case hexadecimal digits, two for each byte. */
export function encodeHex(bytes: Uint8Array): string {
  let hex = "";
  for (const byte of bytes) hex += byte.toString(16).padStart(2, "0");
  return hex;
}

/** Base64 with padding (RFC 4648 §4). */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Base64url without padding (RFC 4648 §5). */
export function encodeBase64url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The bytes; undefined for any text that {@link encodeBase64url} would not write. */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  // A last group of one character holds less than a byte: `atob` throws for it.
  if (text.length % 4 === 1 || !/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  // The last character may have unused bits: "QQ" and "QR" both decode to A, and only "QQ" is canonical.
  return encodeBase64url(bytes) === text ? bytes : undefined;
}

/**
 * A client's text as the key of a `Map` or a `Set`: unique for each text, and never digits alone. V8 hashes digits by their
 * number, and V8 15 (Deno 2.9) compares such a key with all former keys of the same hash: 60,000 multiples of 65,536 took 26
 * s.
 */
export function keyOf(text: string): string {
  const first = text.charCodeAt(0);
  return (first >= 0x30 && first <= 0x39) || first === mark ? `#${text}` : text;
}

const mark = 0x23;
