import { decode } from "../codecs/utf8.ts";
import { unsupportedMediaType } from "../refusals/framework-codes.ts";
import type { Problem } from "../refusals/problem.ts";
import type { Refusal } from "../refusals/refusal.ts";
import type { Asked } from "./asked.ts";
import { isMultipart, mediaTypeOf, noBoundary, unsupported } from "./content-type.ts";
import type { Dep, FileNeed, Place, TextNeed } from "./dep.ts";
import type { FormBody } from "./form-body.ts";
import { multipartForm } from "./form-parts.ts";
import { boundaryOf } from "./multipart/boundary.ts";
import { FieldValues, everyValue, firstValue } from "./query-text.ts";
import type { FieldNames } from "./query-text.ts";

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
function checkFormType(asked: Asked): Refusal | Problem | undefined {
  const lines = asked.lines("content-type");
  if (lines.length === 0) return undefined;
  const [line = ""] = lines;
  if (lines.length > 1) return unsupported();
  if (isMultipart(line)) return boundaryOf(line) === undefined ? noBoundary : undefined;
  return mediaTypeOf(line) === "application/x-www-form-urlencoded" ? undefined : unsupported();
}

function readForm(asked: Asked, names: FieldNames): FormBody | Refusal {
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
