/** The `Form.File` namespace: files of a multipart form, buffered whole up to the app's `maxBody`. */
import type { Dep } from "./dep.ts";
import { fromForm } from "./form-body.ts";
import type { UploadedFile } from "./form-body.ts";
import { required as missing } from "./text.ts";

/** A required file: a 400 problem `required` at `form.<name>` where it is absent. */
export function required<const Name extends string>(
  name: Name,
): Dep<UploadedFile, never, { form: { [K in Name]: Blob } }> {
  const absent = missing(`form.${name}`);
  return fromForm({ in: "file", name, required: true, repeated: false }, (form) => form.files(name)[0] ?? absent);
}

/** A file; undefined where it is absent or none was chosen. */
export function optional<const Name extends string>(
  name: Name,
): Dep<UploadedFile | undefined, never, { form?: { [K in Name]?: Blob } }> {
  return fromForm({ in: "file", name, required: false, repeated: false }, (form) => form.files(name)[0]);
}

/** Every file with a name, in order. */
export function list<const Name extends string>(
  name: Name,
): Dep<readonly UploadedFile[], never, { form?: { [K in Name]?: readonly Blob[] } }> {
  return fromForm({ in: "file", name, required: false, repeated: true }, (form) => form.files(name));
}
