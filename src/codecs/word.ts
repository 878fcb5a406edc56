import type { FieldScanner } from "./field-scanner.ts";
import { token } from "./field-scanner.ts";

const plain = /[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]+/y;
const escaped = /\\[\t \x21-\x7e\x80-\xff]/y;

/** Whether text is a token (RFC 9110 §5.6.2). */
export function isToken(text: string): boolean {
  token.lastIndex = 0;
  return token.test(text) && token.lastIndex === text.length;
}

/** A token, or what a quoted string says. */
export function readWord(field: FieldScanner): string | undefined {
  return field.match(token) ?? readQuoted(field);
}

/** What a quoted string says (RFC 9110 §5.6.4). */
function readQuoted(field: FieldScanner): string | undefined {
  if (!field.take('"')) return undefined;
  let says = "";
  while (!field.take('"')) {
    const part = field.match(plain) ?? field.match(escaped)?.slice(1);
    if (part === undefined) return undefined;
    says += part;
  }
  return says;
}

/** Text as a token where it is one, and quoted where it is not; undefined where it cannot be quoted either. */
export function printWord(text: string): string | undefined {
  return isToken(text) ? text : printQuoted(text);
}

/** Text as a quoted string; undefined where it has a character no field value holds. */
export function printQuoted(text: string): string | undefined {
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text)) return undefined;
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
