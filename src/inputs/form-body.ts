import { parameterOf } from "../codecs/negotiation.ts";
import type { MediaType } from "../codecs/negotiation.ts";
import { placeOf } from "../arguments.ts";
import { decode } from "../http/bytes.ts";
import { Charsets } from "../http/charset.ts";
import type { Charset } from "../http/charset.ts";
import { stripped } from "../http/fields.ts";
import { unsupportedMediaType } from "../refusals.ts";
import type { Problem, Refusal } from "../refusals.ts";
import { isMultipart, mediaTypeOf, noBoundary, unsupported } from "./body-inputs.ts";
import { bodyRefusal, joined } from "./body-source.ts";
import type { Dep, FileNeed, RouteContext, TextNeed } from "./dep.ts";
import { MultipartReader } from "./multipart-parser.ts";
import type { PartHead } from "./multipart-part.ts";
import { boundaryOf, failureOf } from "./multipart.ts";
import type { InputRequest } from "./request.ts";
import { FieldValues, firstValue, inUnknownCharset, unknownCharset } from "./text.ts";
import type { FieldNames, GivenField } from "./text.ts";
import { wrongText } from "./wrong-text.ts";
import { bodyNeed } from "./body-reading.ts";

/** A file sent with a form. */
export interface UploadedFile {
  /** Chosen by the client: never use it as a path. */
  readonly filename?: string;
  /** As the client sends it: `text/plain` without a type, `application/octet-stream` where the type is malformed. */
  readonly contentType: MediaType;
  /** Its bytes. */
  readonly content: Uint8Array;
}

/** A parsed form of either encoding. */
interface FormBody {
  /** The first field of a name, which is one of `names`. */
  field(name: string, names: FieldNames): GivenField | undefined;
  fields(name: string, names: FieldNames): Iterable<GivenField>;
  files(name: string): readonly UploadedFile[];
}

const maxHead = 16_384;

/**
 * Reads a whole multipart body as a form: a part with a `filename` is a file, any other is a field (RFC 7578).
 *
 * @param names The fields that the route reads.
 * @param charset The charset of its `Content-Type`, for parts that name none.
 */
function multipartForm(
  bytes: Uint8Array,
  boundary: string,
  names: FieldNames,
  charset: string | undefined,
): FormBody | Refusal | Problem {
  const form = new MultipartForm(names, charset);
  const reader = new MultipartReader(boundary, { maxHead });
  reader.feed(bytes);
  let head: PartHead | undefined;
  let contents: Uint8Array[] = [];
  for (;;) {
    const event = reader.next();
    if (event === undefined) reader.end();
    else if (event.kind === "end") return form.readCharset() ?? form;
    else if (event.kind === "failed") return bodyRefusal(failureOf(event));
    else if (event.kind === "head") head = event.head;
    else if (event.kind === "content") contents.push(event.bytes);
    else if (head !== undefined) {
      form.keep(head, whole(contents));
      contents = [];
    }
  }
}

function whole(contents: readonly Uint8Array[]): Uint8Array {
  return joined(
    contents,
    contents.reduce((length, { byteLength }) => length + byteLength, 0),
  );
}

/** A part that is a field. */
interface FieldPart {
  /** The one that the part names, if it does. */
  readonly charset: string | undefined;
  readonly content: Uint8Array;
}

/** The parts with one name. */
class NamedParts {
  readonly name: string;
  readonly fields: FieldPart[] = [];
  readonly files: UploadedFile[] = [];

  constructor(name: string) {
    this.name = name;
  }

  keep({ filename, contentType, headers }: PartHead, content: Uint8Array): void {
    if (filename === undefined) this.fields.push({ charset: charsetOf(headers.get("content-type") ?? ""), content });
    // A file input without a chosen file is sent with an empty name and no content.
    else if (filename !== "") this.files.push({ filename, contentType, content });
    else if (content.byteLength > 0) this.files.push({ contentType, content });
  }
}

class MultipartForm implements FormBody {
  readonly #names: FieldNames;
  /** By the index of the name. */
  readonly #known: (NamedParts | undefined)[] = [];
  /** Fields that the route does not read: a bind may read them during the request. */
  readonly #others: NamedParts[] = [];

  readonly #charsets = new Charsets();
  /** The charset of parts that name none; undefined for UTF-8, as browsers write it. */
  #charset: string | undefined;

  constructor(names: FieldNames, charset: string | undefined) {
    this.#names = names;
    this.#charset = charset;
  }

  /** The charset of a field `_charset_` is that of the other fields (RFC 7578 §4.6); a problem where it is unknown. */
  readCharset(): Problem | undefined {
    const [named] = this.#named(charsetField).flatMap(({ fields }) => fields);
    const label = named === undefined ? undefined : decode(named.content);
    if (label === undefined || label === "") return undefined;
    this.#charset = label;
    return this.#charsets.of(label) === undefined ? unknownCharset(placeOf("form", charsetField)) : undefined;
  }

  keep(head: PartHead, content: Uint8Array): void {
    const { name } = head;
    const index = this.#names.indexOf(name);
    const parts = this.#known[index] ?? new NamedParts(name);
    if (index === -1) this.#others.push(parts);
    else this.#known[index] = parts;
    parts.keep(head, content);
  }

  field(name: string): GivenField | undefined {
    for (const text of this.fields(name)) return text;
    return undefined;
  }

  *fields(name: string): Generator<GivenField, void, undefined> {
    for (const { fields } of this.#named(name)) for (const part of fields) yield this.#textOf(part);
  }

  #textOf({ charset, content }: FieldPart): GivenField {
    const label = charset ?? this.#charset;
    if (label === undefined) return decode(content) ?? null;
    const found = this.#charsets.of(label);
    return found === undefined ? inUnknownCharset : (found.decode(content) ?? null);
  }

  files(name: string): readonly UploadedFile[] {
    return this.#named(name).flatMap(({ files }) => files);
  }

  #named(name: string): readonly NamedParts[] {
    const known = this.#known[this.#names.indexOf(name)];
    return known === undefined ? this.#others.filter((parts) => parts.name === name) : [known];
  }
}

const hexDigits = "0123456789ABCDEF";

/** The field in which a browser names the charset of a form (WHATWG HTML, "constructing the entry list"). */
const charsetField = "_charset_";

/** The form of a request: one input, so that the form is parsed once for all fields. */
const form: Dep<FormBody> = {
  node: {
    from: [],
    codes: [unsupportedMediaType],
    body: /* @__PURE__ */ bodyNeed({ as: "form" }),
    before: () => checkFormType,
    compile: (context) => (request) => readForm(request, context.form),
  },
};

/** An input read from the form. */
export function fromForm(
  need: TextNeed | FileNeed,
  read: (form: FormBody, request: InputRequest, names: FieldNames) => unknown,
): Dep<never, never, never> {
  const compile = ({ form: names }: RouteContext, [slot = 0]: readonly number[]) => {
    names.add(need.name, "style" in need && need.style === "list");
    return (request: InputRequest, values: readonly unknown[]) => read(values[slot] as FormBody, request, names);
  };
  return { node: { from: [form], need, check: () => wrongText(need), compile } };
}

const urlencoded = "application/x-www-form-urlencoded";
const formTypes = [urlencoded, "multipart/form-data"];

// A form without a `Content-Type` counts as urlencoded, the default of `enctype`.
function checkFormType(request: InputRequest): Refusal | Problem | undefined {
  const lines = request.lines("content-type");
  if (lines.length === 0) return undefined;
  const [line = ""] = lines;
  if (lines.length > 1) return unsupported(formTypes);
  const isParts = isMultipart(line);
  if (isParts && boundaryOf(line) === undefined) return noBoundary;
  if (!isParts && mediaTypeOf(line) !== urlencoded) return unsupported(formTypes);
  const label = charsetOf(line);
  const charset = label === undefined ? undefined : new Charsets().of(label);
  const isRead = label === undefined || (charset !== undefined && (isParts || charset.hasAscii));
  return isRead ? undefined : unknownCharset(placeOf("header", "content-type"));
}

/** The charset of a `Content-Type`; undefined where it names none. */
function charsetOf(line: string): string | undefined {
  if (!/charset/i.test(line)) return undefined;
  const label = parameterOf(stripped(line), "charset");
  // `charset=""` names nothing.
  return label === "" ? undefined : label;
}

function readForm(request: InputRequest, names: FieldNames): FormBody | Refusal | Problem {
  const [line = ""] = request.lines("content-type");
  const boundary = boundaryOf(line);
  const charset = charsetOf(line);
  if (boundary !== undefined) return multipartForm(request.bytes, boundary, names, charset);
  const text = request.text?.replace(/^\ufeff/, "") ?? escaped(withoutBom(request.bytes));
  const named = text.includes(charsetField) ? firstValue(text, charsetField) : undefined;
  const label = typeof named === "string" && named !== "" ? named : charset;
  if (label === undefined) return urlencodedForm(text);
  const found = new Charsets().of(label);
  if (found?.hasAscii !== true) return unknownCharset(placeOf("form", charsetField));
  return urlencodedForm(/^utf-?8$/i.test(label) ? text : inUtf8(escaped(request.bytes), found));
}

function withoutBom(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** A urlencoded form in another charset, as it is in UTF-8. Bytes that are not text stay so: `%FF` is no UTF-8. */
function inUtf8(text: string, charset: Charset): string {
  return text.replace(/[^&=]+/g, (piece) => {
    const decoded = charset.decode(unescapedBytes(piece));
    return decoded === undefined ? "%FF" : decoded.replace(/[%&+= ]/g, encodeURIComponent);
  });
}

/** The bytes of an ASCII text of a form. A `%` without two hex digits is itself. */
function unescapedBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const isEscape = unit === 0x25 && /^[0-9A-Fa-f]{2}$/.test(text.slice(at + 1, at + 3));
    bytes[length++] = isEscape ? Number.parseInt(text.slice(at + 1, at + 3), 16) : unit === 0x2b ? 0x20 : unit;
    if (isEscape) at += 2;
  }
  return bytes.subarray(0, length);
}

function urlencodedForm(text: string): FormBody {
  // The fields of the route, and those that a bind chose.
  const read = new Map<FieldNames, FieldValues>();
  const valuesOf = (names: FieldNames): FieldValues => {
    let values = read.get(names);
    if (values?.isOf(names) !== true) read.set(names, (values = new FieldValues(text, names)));
    return values;
  };
  return {
    field: (name, names) => valuesOf(names).first(names.indexOf(name)),
    fields: (name, names) => valuesOf(names).all(names.indexOf(name)),
    files: () => [],
  };
}

// Invalid UTF-8 must fail only its own field, so other bytes are percent-encoded as in a form.
function escaped(bytes: Uint8Array): string {
  const text = new Uint8Array(3 * bytes.length);
  let length = 0;
  for (const byte of bytes) {
    if (byte < 0x80) text[length++] = byte;
    else {
      text[length++] = 0x25;
      text[length++] = hexDigits.charCodeAt(byte >> 4);
      text[length++] = hexDigits.charCodeAt(byte & 0xf);
    }
  }
  return decode(text.subarray(0, length)) as string;
}
