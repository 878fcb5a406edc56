import { mediaType } from "../codecs/index.ts";
import type { MediaType } from "../codecs/index.ts";
import { decode, keyOf } from "../http/bytes.ts";
import { FieldScanner, isToken, stripped, token } from "../http/fields.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";

/** What a part's `Content-Disposition` says of it. */
interface Disposition {
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
function readDisposition(value: string): Disposition | undefined {
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

/** What a part says of itself before its content. */
export interface PartHead {
  /** The field's name; may be empty. */
  readonly name: string;
  /** Undefined where the part is a field and no file; `""` where it is a file without a name. */
  readonly filename: string | undefined;
  /** `text/plain` where the part names none (RFC 7578 §4.4), `application/octet-stream` where it cannot be read. */
  readonly contentType: MediaType;
  /** Every line by the key of its name, which is in lower case; lines of one name joined with `, `. */
  readonly headers: ReadonlyMap<string, string>;
}

type PartHeaders = ReadonlyMap<string, string>;

const noType: MediaType = { type: "text", subtype: "plain", parameters: /* @__PURE__ */ new Map() };
const unreadableType: MediaType = {
  type: "application",
  subtype: "octet-stream",
  parameters: /* @__PURE__ */ new Map(),
};

/**
 * Reads a part's head, or says what is wrong with it.
 *
 * @param lines its lines, each with its CRLF.
 */
export function readPartHead(lines: Uint8Array): Result<PartHead, string> {
  const text = decode(lines);
  if (text === undefined) return error("the head of a part is no UTF-8");
  const headers = readLines(text);
  if (headers === undefined) return error("a line in the head of a part is malformed");
  const disposition = readDisposition(headers.get("content-disposition") ?? "");
  if (disposition?.type !== "form-data") return error("a part has no Content-Disposition of form-data");
  const name = disposition.parameters.get("name");
  if (name === undefined) return error("a part has no name");
  // RFC 7578 §4.2 bars `filename*`: it is not read.
  const filename = disposition.parameters.get("filename");
  return ok({ name, filename, contentType: contentTypeOf(headers), headers });
}

function contentTypeOf(headers: PartHeaders): MediaType {
  const line = headers.get("content-type");
  if (line === undefined) return noType;
  const read = mediaType.parse(line);
  return read.ok ? read.value : unreadableType;
}

function readLines(text: string): PartHeaders | undefined {
  const headers = new Map<string, string>();
  for (const line of text.split("\r\n").slice(0, -1)) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    // A folded line begins with a blank, which no name does. A line break that is no CRLF is a control character.
    if (!isToken(name) || /[\x00-\x08\x0a-\x1f\x7f]/.test(line)) return undefined;
    const value = stripped(line, colon + 1);
    const before = headers.get(keyOf(name));
    headers.set(keyOf(name), before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}
