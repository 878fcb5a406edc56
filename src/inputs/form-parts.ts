import { decode } from "../codecs/utf8.ts";
import type { Refusal } from "../refusals/refusal.ts";
import { bodyRefusal } from "./body-refusal.ts";
import { joined } from "./body-source.ts";
import type { FormBody, UploadedFile } from "./form-body.ts";
import type { GivenText } from "./query-text.ts";
import type { PartHead } from "./multipart/part-head.ts";
import { failureOf } from "./multipart/parts.ts";
import { MultipartReader } from "./multipart/reader.ts";

const maxHead = 16_384;

/** Reads a whole multipart body as a form: a part with a `filename` is a file, and any other a field (RFC 7578). */
export function multipartForm(bytes: Uint8Array, boundary: string): FormBody | Refusal {
  const fields = new Map<string, Uint8Array[]>();
  const files = new Map<string, UploadedFile[]>();
  const reader = new MultipartReader(boundary, { maxHead });
  reader.feed(bytes);
  let head: PartHead | undefined;
  let contents: Uint8Array[] = [];
  for (;;) {
    const event = reader.next();
    if (event === undefined) reader.end();
    else if (event.kind === "end") return formOf(fields, files);
    else if (event.kind === "failed") return bodyRefusal(failureOf(event));
    else if (event.kind === "head") head = event.head;
    else if (event.kind === "content") contents.push(event.bytes);
    else if (head !== undefined) {
      keep(head, whole(contents), fields, files);
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

function keep(
  { name, filename, contentType }: PartHead,
  content: Uint8Array,
  fields: Map<string, Uint8Array[]>,
  files: Map<string, UploadedFile[]>,
): void {
  if (filename === undefined) add(fields, name, content);
  // A file input that nothing was chosen for is sent with neither name nor content.
  else if (filename !== "") add(files, name, { filename, contentType, content });
  else if (content.byteLength > 0) add(files, name, { contentType, content });
}

function add<A>(to: Map<string, A[]>, name: string, value: A): void {
  const known = to.get(name);
  if (known === undefined) to.set(name, [value]);
  else known.push(value);
}

function formOf(fields: ReadonlyMap<string, Uint8Array[]>, files: ReadonlyMap<string, UploadedFile[]>): FormBody {
  const given = (content: Uint8Array): GivenText => ({ text: decode(content) });
  return {
    field: (name) => fields.get(name)?.slice(0, 1).map(given)[0],
    fields: (name) => (fields.get(name) ?? []).map(given),
    files: (name) => files.get(name) ?? [],
  };
}
