import type { MediaType } from "../codecs/negotiation.ts";
import { decode } from "../http/bytes.ts";
import { unsupportedMediaType } from "../refusals.ts";
import type { Problem, Refusal } from "../refusals.ts";
import { isMultipart, mediaTypeOf, noBoundary, unsupported } from "./body-inputs.ts";
import { bodyRefusal, joined } from "./body-source.ts";
import type { Dep, FileNeed, Place, TextNeed } from "./dep.ts";
import { MultipartReader } from "./multipart-parser.ts";
import type { PartHead } from "./multipart-part.ts";
import { boundaryOf, failureOf } from "./multipart.ts";
import type { InputRequest } from "./request.ts";
import { FieldValues, everyValue, firstValue } from "./text.ts";
import type { FieldNames, GivenText } from "./text.ts";

/** A file sent with a form. */
export interface UploadedFile {
  /** A text a person chose: never a path to trust. */
  readonly filename?: string;
  /** As the client says: `text/plain` where it says nothing, `application/octet-stream` where it cannot be read. */
  readonly contentType: MediaType;
  readonly content: Uint8Array;
}

/** A form that was read, however it was encoded. */
interface FormBody {
  /** The first field of a name. */
  field(name: string): GivenText | undefined;
  fields(name: string): Iterable<GivenText>;
  files(name: string): readonly UploadedFile[];
}

const maxHead = 16_384;

/**
 * Reads a whole multipart body as a form: a part with a `filename` is a file, and any other a field (RFC 7578).
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

/** The parts of one name. */
class NamedParts {
  readonly name: string;
  readonly fields: Uint8Array[] = [];
  readonly files: UploadedFile[] = [];

  constructor(name: string) {
    this.name = name;
  }

  keep({ filename, contentType }: PartHead, content: Uint8Array): void {
    if (filename === undefined) this.fields.push(content);
    // A file input that nothing was chosen for is sent with neither name nor content.
    else if (filename !== "") this.files.push({ filename, contentType, content });
    else if (content.byteLength > 0) this.files.push({ contentType, content });
  }
}

class MultipartForm implements FormBody {
  readonly #names: FieldNames;
  /** By the index of its name. */
  readonly #known: (NamedParts | undefined)[] = [];
  /** What is none of the route's: a bind may ask for it while the request runs. */
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

/** The form of a request: one value, so that it is read once however many fields are. */
const form: Dep<FormBody> = {
  node: {
    from: [],
    codes: [unsupportedMediaType],
    body: { as: "form" },
    before: () => checkFormType,
    compile: (place) => (asked) => readForm(asked, place.form),
  },
};

/** An input read from the form. */
export function fromForm(need: TextNeed | FileNeed, read: (form: FormBody) => unknown): Dep<never, never, never> {
  const compile = ({ form }: Place, [slot = 0]: readonly number[]) => {
    form.add(need.name, need.repeated);
    return (_asked: unknown, values: readonly unknown[]) => read(values[slot] as FormBody);
  };
  return { node: { from: [form], need, compile } };
}

// A form without a type is taken for what a form without an `enctype` is.
function checkFormType(asked: InputRequest): Refusal | Problem | undefined {
  const lines = asked.lines("content-type");
  if (lines.length === 0) return undefined;
  const [line = ""] = lines;
  if (lines.length > 1) return unsupported();
  if (isMultipart(line)) return boundaryOf(line) === undefined ? noBoundary : undefined;
  return mediaTypeOf(line) === "application/x-www-form-urlencoded" ? undefined : unsupported();
}

function readForm(asked: InputRequest, names: FieldNames): FormBody | Refusal {
  const [line = ""] = asked.lines("content-type");
  const boundary = boundaryOf(line);
  if (boundary !== undefined) return multipartForm(asked.bytes, boundary, names);
  return urlencodedForm(asked.text ?? escaped(asked.bytes), names);
}

function urlencodedForm(text: string, names: FieldNames): FormBody {
  const values = new FieldValues(text, names);
  // A field that a bind reads while the request runs is none of the route's, and is looked for by itself.
  const indexOf = (name: string): number => (values.isOf(names) ? names.indexOf(name) : -1);
  return {
    field: (name) => {
      const index = indexOf(name);
      return index === -1 ? firstValue(text, name) : values.first(index);
    },
    fields: (name) => {
      const index = indexOf(name);
      return index === -1 ? everyValue(text, name) : values.all(index);
    },
    files: () => [],
  };
}

// Bytes that are no UTF-8 concern the field they stand in and no other, so they are kept, written as a form writes them.
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
