/** The `Form.File` namespace: files of a multipart form, buffered whole up to the app's `maxBody`. */
import { placeOf } from "../arguments.ts";
import type { Dep, FileListOptions, FileOptions } from "./dep.ts";
import { fromForm } from "./form-body.ts";
import type { UploadedFile } from "./form-body.ts";
import { isNeeded, lengthProblem } from "./wire-list.ts";
import { missing } from "./text.ts";

/** A required file: a 400 problem `required` at `form.<name>` where it is absent. */
export function required<const Name extends string>(
  name: Name,
  about: FileOptions = {},
): Dep<UploadedFile, never, { form: { [K in Name]: Blob } }> {
  const absent = missing(placeOf("form", name));
  return fromForm(
    { in: "file", name, required: true, repeated: false, about },
    (form) => form.files(name)[0] ?? absent,
  );
}

/** A file; undefined where it is absent or none was chosen. */
export function optional<const Name extends string>(
  name: Name,
  about: FileOptions = {},
): Dep<UploadedFile | undefined, never, { form?: { [K in Name]?: Blob | undefined } }> {
  return fromForm({ in: "file", name, required: false, repeated: false, about }, (form) => form.files(name)[0]);
}

/** Every file with a name, in order. */
export function list<const Name extends string>(
  name: Name,
  about: FileListOptions = {},
): Dep<readonly UploadedFile[], never, { form?: { [K in Name]?: readonly Blob[] | undefined } }> {
  const at = placeOf("form", name);
  return fromForm({ in: "file", name, required: isNeeded(about), repeated: true, about }, (form) => {
    const files = form.files(name);
    return lengthProblem(at, files.length, about) ?? files;
  });
}
