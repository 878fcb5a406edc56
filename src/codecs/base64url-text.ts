import { ok } from "../result.ts";
import type { Result } from "../result.ts";
import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import type { Codec } from "./codec.ts";
import { malformed } from "./malformed.ts";

const notOurs = /* @__PURE__ */ malformed("a value this server wrote");
// A byte order mark at the start is part of the text, and stays.
const utf8 = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function parse(text: string): Result<string, string> {
  const bytes = decodeBase64url(text);
  if (bytes === undefined) return notOurs;
  try {
    return ok(utf8.decode(bytes));
  } catch {
    return notOurs;
  }
}

function print(value: string): string {
  // A lone surrogate has no UTF-8: TextEncoder would write U+FFFD, another text.
  return value.isWellFormed() ? encodeBase64url(new TextEncoder().encode(value)) : "";
}

/** Any Unicode text, in a form a cookie can hold: base64url of its UTF-8, one spelling for each text. */
export const encoded: Codec<string> = { parse, print, text: { type: "string" } };
