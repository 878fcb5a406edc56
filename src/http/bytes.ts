const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The length of a text in UTF-8, for exchanges with no quicker way. */
export function byteLength(text: string): number {
  return encoder.encode(text).byteLength;
}

/** The text of bytes in UTF-8; undefined where they are none. */
export function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Whether a value is bytes: a `Uint8Array`, one of another realm (`vm`, Jest) too. What only inherits from `Uint8Array`
 * passes `instanceof`, and throws where its length is read.
 */
export function isBytes(value: unknown): value is Uint8Array {
  if (!ArrayBuffer.isView(value)) return false;
  return value instanceof Uint8Array || Object.prototype.toString.call(value) === "[object Uint8Array]";
}

/**
 * Bytes that nobody else can change and every platform takes: a `Response` refuses those of a `SharedArrayBuffer` and of
 * an `ArrayBuffer` that can be resized (Web IDL), which are copied here.
 */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  const { buffer } = bytes;
  const isPlain = buffer instanceof ArrayBuffer && (buffer as { readonly resizable?: boolean }).resizable !== true;
  return isPlain ? bytes : new Uint8Array(bytes);
}

/** Base64url without padding (RFC 4648 §5). */
export function encodeBase64url(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The bytes, or undefined for any text but the one {@link encodeBase64url} writes for them. */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  // A last group of one character holds less than a byte, and atob throws for it.
  if (text.length % 4 === 1 || !/^[A-Za-z0-9_-]*$/.test(text)) return undefined;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  // The last character may carry bits of no byte: "QQ" and "QR" are both A, and only "QQ" is canonical.
  return encodeBase64url(bytes) === text ? bytes : undefined;
}

/**
 * A client's text as the key of a `Map` or a `Set`: another one for each text, and never digits alone. V8 hashes digits by the
 * number that they are, and V8 15 (Deno 2.9) looks such a key up among all that were keys before: 60,000 multiples of 65,536,
 * which are alike to it, took 26 s.
 */
export function keyOf(text: string): string {
  const first = text.charCodeAt(0);
  return (first >= 0x30 && first <= 0x39) || first === mark ? `#${text}` : text;
}

const mark = 0x23;
