/** `Content-Disposition` of a response (RFC 6266). */
import { percentEncoded } from "./target.ts";

// Control characters, line separators, and what turns the direction of a text: `cod\u202Efdp.exe` would be shown as `codexe.pdf`.
const unshown = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

/**
 * `Content-Disposition: attachment` with a file's name (RFC 6266), the text after the last slash: as a quoted text, with `_` for
 * each byte that is not visible ASCII, and where that differs by its UTF-8 (RFC 8187), which newer clients prefer.
 */
export function contentDisposition(path: string): string {
  const name = path
    .slice(path.lastIndexOf("/") + 1)
    .toWellFormed()
    .replace(unshown, "_");
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/gu, (sign) => "_".repeat(encoder.encode(sign).byteLength));
  // Without a name a browser takes that of the URL.
  if (name === "") return "attachment";
  const attachment = `attachment; filename="${plain}"`;
  return plain === name ? attachment : `${attachment}; filename*=UTF-8''${percentEncoded(name, notAttrChars)}`;
}

const encoder = /* @__PURE__ */ new TextEncoder();
/** What is no `attr-char` of RFC 8187 §3.2.1, of what `encodeURIComponent` keeps. */
const notAttrChars = "'()*";
