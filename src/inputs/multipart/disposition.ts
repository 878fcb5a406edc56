import { FieldScanner, token } from "../../codecs/field-scanner.ts";
import { keyOf } from "../../codecs/key-of.ts";

/** What a part's `Content-Disposition` says of it. */
export interface Disposition {
  readonly type: string;
  /** By the keys of their names, which are in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

const semicolon = /[ \t]*;[ \t]*/y;
const plain = /[^"\\]+/y;
const escaped = /\\["\\]/y;

/**
 * A part's `Content-Disposition` (RFC 7578 §4.2), decoded from UTF-8; undefined where it is malformed or a parameter is
 * there twice.
 *
 * Not read as other fields are: those hold no character past U+00FF, and know nothing of how browsers quote.
 */
export function readDisposition(value: string): Disposition | undefined {
  const field = new FieldScanner(value);
  const type = field.match(token)?.toLowerCase();
  const parameters = new Map<string, string>();
  while (field.match(semicolon) !== undefined) {
    const name = field.match(token)?.toLowerCase();
    if (name === undefined) continue;
    const value = field.take("=") ? (field.match(token) ?? readQuoted(field)) : undefined;
    if (value === undefined || parameters.has(keyOf(name))) return undefined;
    parameters.set(keyOf(name), value);
  }
  return type !== undefined && field.done ? { type, parameters } : undefined;
}

// Two ways to quote are in use. Browsers write %22, %0D and %0A and leave "\" and "%" alone (WHATWG HTML, "multipart/
// form-data encoding algorithm"); others write \" and \\. So "\" escapes these two and stands for itself before any
// other: "a\b.txt" is a name a browser sends. A name that holds "%22" itself cannot be told from one that holds a
// quote; `Response.formData` takes it for the quote, too.
function readQuoted(field: FieldScanner): string | undefined {
  if (!field.take('"')) return undefined;
  let says = "";
  while (!field.take('"')) {
    const part = field.match(plain) ?? field.match(escaped)?.slice(1) ?? (field.take("\\") ? "\\" : undefined);
    if (part === undefined) return undefined;
    says += part;
  }
  return says.replace(/%(?:22|0D|0A)/g, decodeURIComponent);
}
