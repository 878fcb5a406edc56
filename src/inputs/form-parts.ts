import { decode } from "../codecs/utf8.ts";
import type { Refusal } from "../refusals/refusal.ts";
import { bodyRefusal } from "./body-refusal.ts";
import { joined } from "./body-source.ts";
import type { FormBody, UploadedFile } from "./form-body.ts";
import type { FieldNames, GivenText } from "./query-text.ts";
import type { PartHead } from "./multipart/part-head.ts";
import { failureOf } from "./multipart/parts.ts";
import { MultipartReader } from "./multipart/reader.ts";

const maxHead = 16_384;

/**
 * Reads a whole multipart body as a form: a part with a `filename` is a file, and any other a field (RFC 7578).
 *
 * @param names The fields that the route reads.
 */
export function multipartForm(bytes: Uint8Array, boundary: string, names: FieldNames): FormBody | Refusal {
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
