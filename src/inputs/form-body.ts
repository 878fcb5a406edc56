import type { MediaType } from "../codecs/negotiation.ts";
import { decode } from "../http/bytes.ts";
import { unsupportedMediaType } from "../refusals.ts";
import type { Problem, Refusal } from "../refusals.ts";
import { isMultipart, mediaTypeOf, noBoundary, unsupported } from "./body-inputs.ts";
import { bodyRefusal, joined } from "./body-source.ts";
import type { Dep, FileNeed, RouteContext, TextNeed } from "./dep.ts";
import { MultipartReader } from "./multipart-parser.ts";
import type { PartHead } from "./multipart-part.ts";
import { boundaryOf, failureOf } from "./multipart.ts";
import type { InputRequest } from "./request.ts";
import { FieldValues } from "./text.ts";
import type { FieldNames, GivenText } from "./text.ts";

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
  field(name: string, names: FieldNames): GivenText | undefined;
  fields(name: string, names: FieldNames): Iterable<GivenText>;
  files(name: string): readonly UploadedFile[];
}

const maxHead = 16_384;

/**
 * Reads a whole multipart body as a form: a part with a `filename` is a file, any other is a field (RFC 7578).
 *
 * @param names The fields that the route reads.
 */
function multipartForm(bytes: Uint8Array, boundary: string, names: FieldNames): FormBody | Refusal {
  const form = new MultipartForm(names);
  const reader = new MultipartReader(boundary, { maxHead });
  reader.feed(bytes);
  let head: PartHead | undefined;
  let contents: Uint8Array[] = [];
  for (;;) {
    const event = reader.next();
    if (event === undefined) reader.end();
    else if (event.kind === "end") return form;
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

/** The parts with one name. */
class NamedParts {
  readonly name: string;
  readonly fields: Uint8Array[] = [];
  readonly files: UploadedFile[] = [];

  constructor(name: string) {
    this.name = name;
  }

  keep({ filename, contentType }: PartHead, content: Uint8Array): void {
    if (filename === undefined) this.fields.push(content);
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

  constructor(names: FieldNames) {
    this.#names = names;
  }

  keep(head: PartHead, content: Uint8Array): void {
    const { name } = head;
    const index = this.#names.indexOf(name);
    const parts = this.#known[index] ?? new NamedParts(name);
    if (index === -1) this.#others.push(parts);
    else this.#known[index] = parts;
    parts.keep(head, content);
  }

  field(name: string): GivenText | undefined {
    for (const text of this.fields(name)) return text;
    return undefined;
  }

  *fields(name: string): Generator<GivenText, void, undefined> {
    for (const { fields } of this.#named(name)) for (const content of fields) yield decode(content) ?? null;
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

/** The form of a request: one input, so that the form is parsed once for all fields. */
const form: Dep<FormBody> = {
  node: {
    from: [],
    codes: [unsupportedMediaType],
    body: { as: "form" },
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
    names.add(need.name, need.repeated);
    return (request: InputRequest, values: readonly unknown[]) => read(values[slot] as FormBody, request, names);
  };
  return { node: { from: [form], need, compile } };
}

const formTypes = ["application/x-www-form-urlencoded", "multipart/form-data"];

// A form without a `Content-Type` counts as urlencoded, the default of `enctype`.
function checkFormType(request: InputRequest): Refusal | Problem | undefined {
  const lines = request.lines("content-type");
  if (lines.length === 0) return undefined;
  const [line = ""] = lines;
  if (lines.length > 1) return unsupported(formTypes);
  if (isMultipart(line)) return boundaryOf(line) === undefined ? noBoundary : undefined;
  return mediaTypeOf(line) === "application/x-www-form-urlencoded" ? undefined : unsupported(formTypes);
}

function readForm(request: InputRequest, names: FieldNames): FormBody | Refusal {
  const [line = ""] = request.lines("content-type");
  const boundary = boundaryOf(line);
  if (boundary !== undefined) return multipartForm(request.bytes, boundary, names);
  return urlencodedForm(request.text ?? escaped(request.bytes));
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
