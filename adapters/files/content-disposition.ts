import { basename } from "node:path";

/**
 * `Content-Disposition: attachment` with a file's name (RFC 6266): as a quoted text, with `_` for each byte that is not visible ASCII, and
 * where that differs by its UTF-8 (RFC 8187), which newer clients prefer.
 */
export function contentDisposition(path: string): string {
  const name = basename(path).toWellFormed();
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/gu, (sign) => "_".repeat(Buffer.byteLength(sign)));
  const attachment = `attachment; filename="${plain}"`;
  return plain === name ? attachment : `${attachment}; filename*=UTF-8''${percentEncoded(name)}`;
}

/** RFC 8187 §3.2.1: `attr-char` stays as it is. */
function percentEncoded(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
