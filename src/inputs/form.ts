/** The `Form` namespace: fields and files of a form, urlencoded or multipart by its content type. */
import type { AnyCodec, Codec, EncodedAs } from "../codecs/codec.ts";
import { bool } from "../codecs/index.ts";
import { Problem } from "../refusals.ts";
import type { Dep } from "./dep.ts";
import { fromForm } from "./form-body.ts";
import { readGiven, required as missing } from "./text.ts";

export * as File from "./form-file.ts";

/** A required field: a 400 problem `required` at `form.<name>` where it is absent. */
export function required<const Name extends string, A, S = unknown>(
  name: Name,
  codec: Codec<A, S>,
): Dep<A, never, { form: { [K in Name]: EncodedAs<S> } }> {
  const absent = missing(`form.${name}`);
  return field(name, codec, true, () => absent);
}

/** A field; undefined where it is absent. */
export function optional<const Name extends string, A, S = unknown>(
  name: Name,
  codec: Codec<A, S>,
): Dep<A | undefined, never, { form?: { [K in Name]?: EncodedAs<S> } }> {
  return field(name, codec, false, () => undefined);
}

/** Every field with a name, in order; an empty list without any. One that does not parse is one problem. */
export function list<const Name extends string, A, S = unknown>(
  name: Name,
  codec: Codec<A, S>,
): Dep<readonly A[], never, { form?: { [K in Name]?: readonly EncodedAs<S>[] } }> {
  const at = `form.${name}`;
  return fromForm({ in: "form", name, codec, required: false, repeated: true }, (form) => {
    const values: unknown[] = [];
    for (const given of form.fields(name)) {
      const value = readGiven(codec, given, at);
      if (value instanceof Problem) return value;
      values.push(value);
    }
    return values;
  });
}

/** Whether a field was sent, with any value: a checkbox. A client sends `true` or nothing. */
export function checked<const Name extends string>(name: Name): Dep<boolean, never, { form?: { [K in Name]?: true } }> {
  const need = { in: "form", name, codec: bool, required: false, repeated: false, checked: true } as const;
  return fromForm(need, (form) => form.field(name) !== undefined);
}

function field(name: string, codec: AnyCodec, required: boolean, absent: () => unknown): Dep<never, never, never> {
  const at = `form.${name}`;
  return fromForm({ in: "form", name, codec, required, repeated: false }, (form) => {
    const given = form.field(name);
    return given === undefined ? absent() : readGiven(codec, given, at);
  });
}
