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
