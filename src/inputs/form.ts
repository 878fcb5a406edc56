/** The `Form` namespace: fields and files of a form, urlencoded or multipart by its content type. */
import { placeOf } from "../arguments.ts";
import type { EncodedAs, ListOptions, TextOptions } from "../codecs/codec.ts";
import { bool } from "../codecs/index.ts";
import type { Dep, FileOptions, TextNeed } from "./dep.ts";
import { fromForm } from "./form-body.ts";
import { isNeeded, listReader } from "./wire-list.ts";
import { codecFor } from "./text-schema.ts";
import type { AnyTextKind, TextKind } from "./text-schema.ts";
import { filledControls, missing, readControl } from "./text.ts";

export * as File from "./form-file.ts";

/**
 * A required field, read by a codec or a schema: a 400 problem `required` at `form.<name>` where it is absent, or is empty and its
 * type has no empty text.
 */
export function required<const Name extends string, A, S = unknown>(
  name: Name,
  kind: TextKind<A, S>,
  about: TextOptions<NoInfer<EncodedAs<S>>> = {},
): Dep<A, never, { form: { [K in Name]: EncodedAs<S> } }> {
  const absent = missing(placeOf("form", name));
  return field(name, kind, { about, required: true }, () => absent);
}

/** A field; undefined where it is absent, or is empty and its type has no empty text: browsers send every empty control. */
export function optional<const Name extends string, A, S = unknown>(
  name: Name,
  kind: TextKind<A, S>,
  about: TextOptions<NoInfer<EncodedAs<S>>> = {},
): Dep<A | undefined, never, { form?: { [K in Name]?: EncodedAs<S> | undefined } }> {
  return field(name, kind, { about }, () => undefined);
}

/** A field, or the default where `Form.optional` is undefined. Any other field that does not parse is still a problem. */
function withDefault<const Name extends string, A, S = unknown>(
  name: Name,
  kind: TextKind<A, S>,
  value: NoInfer<A>,
  about: TextOptions<NoInfer<EncodedAs<S>>> = {},
): Dep<A, never, { form?: { [K in Name]?: EncodedAs<S> | undefined } }> {
  return field(name, kind, { about, default: { value: value as never } }, () => value);
}
export { withDefault as default };

/**
 * Every field with a name, in order, except for empty ones where the type has no empty text; an empty list without any. The codec or the schema is that of one item. A codec's first
 * unreadable item is one problem; a schema's items each have their own, at `form.<name>[<index>]`.
 *
 * @param about What the API document says of it, and `minItems` and `maxItems`.
 */
export function list<const Name extends string, A, S = unknown>(
  name: Name,
  kind: TextKind<A, S>,
  about: ListOptions<NoInfer<EncodedAs<S>>> = {},
): Dep<readonly A[], never, { form?: { [K in Name]?: readonly EncodedAs<S>[] | undefined } }> {
  const at = placeOf("form", name);
  const codec = codecFor(kind, at);
  const read = listReader(codec, at, about);
  const need: TextNeed = { in: "form", name, codec, required: isNeeded(about), style: "list", about };
  return fromForm(need, (form, { maxProblems }, names) =>
    read(filledControls(form.fields(name, names), codec), maxProblems),
  );
}

/** Whether a field was sent, with any value: a checkbox. A client sends `true` or nothing. */
export function checked<const Name extends string>(
  name: Name,
  about: FileOptions = {},
): Dep<boolean, never, { form?: { [K in Name]?: true | undefined } }> {
  const need = { in: "form", name, codec: bool, required: false, style: "text", checked: true, about } as const;
  return fromForm(need, (form, _request, names) => form.field(name, names) !== undefined);
}

function field(
  name: string,
  kind: AnyTextKind,
  what: Partial<TextNeed>,
  absent: () => unknown,
): Dep<never, never, never> {
  const at = placeOf("form", name);
  const codec = codecFor(kind, at);
  return fromForm({ in: "form", name, codec, required: false, style: "text", ...what }, (form, _request, names) => {
    const given = form.field(name, names);
    return given === undefined ? absent() : readControl(codec, given, at, absent);
  });
}
