import { mediaType } from "../codecs/index.ts";
import type { MediaType } from "../codecs/index.ts";
import { decode, keyOf } from "../http/bytes.ts";
import { FieldScanner, isToken, stripped, token } from "../http/fields.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";

/** A part's `Content-Disposition`. */
interface Disposition {
  readonly type: string;
  /** By the keys of their lower-case names. */
  readonly parameters: ReadonlyMap<string, string>;
}

const semicolon = /[ \t]*;[ \t]*/y;
const plain = /[^"\\]+/y;
const escaped = /\\["\\]/y;

/**
 * Parses a part's `Content-Disposition` (RFC 7578 §4.2), decoded from UTF-8; undefined where it is malformed or a parameter
 * is repeated.
 *
 * The functions for other fields do not fit: those have no character past U+00FF, and do not quote as browsers do.
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

// Two ways to quote are in use. Browsers write %22, %0D and %0A and leave "\" and "%" as they are (WHATWG HTML,
// "multipart/form-data encoding algorithm"); others write \" and \\. So "\" escapes these two and is itself before any
// other: "a\b.txt" is a name that a browser sends. A name with "%22" in it looks the same as one with a quote;
// `Response.formData` reads a quote, too.
function readQuoted(field: FieldScanner): string | undefined {
  if (!field.take('"')) return undefined;
  let text = "";
  while (!field.take('"')) {
    const part = field.match(plain) ?? field.match(escaped)?.slice(1) ?? (field.take("\\") ? "\\" : undefined);
    if (part === undefined) return undefined;
    text += part;
  }
  return text.replace(/%(?:22|0D|0A)/g, decodeURIComponent);
}

/** The head of a part. */
export interface PartHead {
  /** The field's name; may be empty. */
  readonly name: string;
  /** Undefined for a field; `""` for a file without a name. */
  readonly filename: string | undefined;
  /** `text/plain` without a type (RFC 7578 §4.4), `application/octet-stream` where the type is malformed. */
  readonly contentType: MediaType;
  /** Every line by the key of its lower-case name; repeated lines are joined with `, `. */
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
 * Parses a part's head; the error names what is malformed.
 *
 * @param lines Its lines, each with its CRLF.
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
  // RFC 7578 §4.2 forbids `filename*`, so it is not read.
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
    // A folded line begins with white space, which no name does. A line break other than CRLF is a control character.
    if (!isToken(name) || /[\x00-\x08\x0a-\x1f\x7f]/.test(line)) return undefined;
    const value = stripped(line, colon + 1);
    const before = headers.get(keyOf(name));
    headers.set(keyOf(name), before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}
