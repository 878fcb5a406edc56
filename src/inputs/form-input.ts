import { unsupportedMediaType } from "../refusals/framework-codes.ts";
import type { Problem } from "../refusals/problem.ts";
import type { Refusal } from "../refusals/refusal.ts";
import type { Asked } from "./asked.ts";
import { isMultipart, mediaTypeOf, noBoundary, unsupported } from "./content-type.ts";
import type { Dep, FileNeed, TextNeed } from "./dep.ts";
import type { FormBody } from "./form-body.ts";
import { multipartForm } from "./form-parts.ts";
import { boundaryOf } from "./multipart/boundary.ts";
import { everyValue, firstValue } from "./query-text.ts";

/** The form of a request: one value, so that it is read once however many fields are. */
const form: Dep<FormBody> = {
  node: {
    from: [],
    codes: [unsupportedMediaType],
    body: { as: "form" },
    before: () => checkFormType,
    compile: () => readForm,
  },
};

/** An input read from the form. */
export function fromForm(need: TextNeed | FileNeed, read: (form: FormBody) => unknown): Dep<never, never, never> {
  const compile = (_place: unknown, [slot = 0]: readonly number[]) => {
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

function readForm(asked: Asked): FormBody | Refusal {
  const [line = ""] = asked.lines("content-type");
  const boundary = boundaryOf(line);
  if (boundary !== undefined) return multipartForm(asked.bytes, boundary);
  return urlencodedForm(asked.text ?? escaped(asked.bytes));
}

function urlencodedForm(text: string): FormBody {
  return {
    field: (name) => firstValue(text, name),
    fields: (name) => everyValue(text, name),
    files: () => [],
  };
}

// Bytes that are no UTF-8 concern the field they stand in and no other, so they are kept, written as a form writes them.
function escaped(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    text += byte < 0x80 ? String.fromCharCode(byte) : `%${byte.toString(16)}`;
  }
  return text;
}
