/** The `Form` namespace: fields and files of a form, urlencoded or multipart by its content type. */
import type { AnyCodec, Codec, EncodedAs, ListOptions, TextOptions } from "../codecs/codec.ts";
import { bool } from "../codecs/index.ts";
import type { JsonOf, Shape, ValueOf } from "../schema/valibot.ts";
import type { Dep, FileOptions, TextNeed } from "./dep.ts";
import { fromForm } from "./form-body.ts";
import { isNeeded, listReader } from "./text-list.ts";
import { codecFor } from "./text-schema.ts";
import type { TextSchema } from "./text-schema.ts";
import { readGiven, required as missing } from "./text.ts";

export * as File from "./form-file.ts";

/** A required field, read by a codec or a schema: a 400 problem `required` at `form.<name>` where it is absent. */
export function required<const Name extends string, A, S = unknown>(
  name: Name,
  codec: Codec<A, S>,
  options?: TextOptions<NoInfer<A>>,
): Dep<A, never, { form: { [K in Name]: EncodedAs<S> } }>;
export function required<const Name extends string, S extends TextSchema>(
  name: Name,
  schema: S,
  options?: TextOptions<NoInfer<JsonOf<S>>>,
): Dep<ValueOf<S>, never, { form: { [K in Name]: JsonOf<S> } }>;
export function required(name: string, given: AnyCodec | Shape, about: TextOptions = {}): Dep<never, never, never> {
  const absent = missing(`form.${name}`);
  return field(name, given, { about, required: true }, () => absent);
}

/** A field; undefined where it is absent. */
export function optional<const Name extends string, A, S = unknown>(
  name: Name,
  codec: Codec<A, S>,
  options?: TextOptions<NoInfer<A>>,
): Dep<A | undefined, never, { form?: { [K in Name]?: EncodedAs<S> } }>;
export function optional<const Name extends string, S extends TextSchema>(
  name: Name,
  schema: S,
  options?: TextOptions<NoInfer<JsonOf<S>>>,
): Dep<ValueOf<S> | undefined, never, { form?: { [K in Name]?: JsonOf<S> } }>;
export function optional(name: string, given: AnyCodec | Shape, about: TextOptions = {}): Dep<never, never, never> {
  return field(name, given, { about }, () => undefined);
}

/** A field, or the default where it is absent. A field that does not parse is still a problem. */
function withDefault<const Name extends string, A, S = unknown>(
  name: Name,
  codec: Codec<A, S>,
  value: A,
  options?: TextOptions<NoInfer<A>>,
): Dep<A, never, { form?: { [K in Name]?: EncodedAs<S> } }>;
function withDefault<const Name extends string, S extends TextSchema>(
  name: Name,
  schema: S,
  value: NoInfer<ValueOf<S>>,
  options?: TextOptions<NoInfer<JsonOf<S>>>,
): Dep<ValueOf<S>, never, { form?: { [K in Name]?: JsonOf<S> } }>;
function withDefault(
  name: string,
  given: AnyCodec | Shape,
  value: unknown,
  about: TextOptions = {},
): Dep<never, never, never> {
  return field(name, given, { about, default: { value: value as never } }, () => value);
}
export { withDefault as default };

/**
 * Every field with a name, in order; an empty list without any. The codec or the schema is that of one item. A codec's first
 * unreadable item is one problem; a schema's items each have their own, at `form.<name>[<index>]`.
 *
 * @param options What the API document says of it, and `minItems` and `maxItems`.
 */
export function list<const Name extends string, A, S = unknown>(
  name: Name,
  codec: Codec<A, S>,
  options?: ListOptions<NoInfer<A>>,
): Dep<readonly A[], never, { form?: { [K in Name]?: readonly EncodedAs<S>[] } }>;
export function list<const Name extends string, S extends TextSchema>(
  name: Name,
  schema: S,
  options?: ListOptions<NoInfer<JsonOf<S>>>,
): Dep<readonly ValueOf<S>[], never, { form?: { [K in Name]?: readonly JsonOf<S>[] } }>;
export function list(name: string, given: AnyCodec | Shape, about: ListOptions = {}): Dep<never, never, never> {
  const at = `form.${name}`;
  const codec = codecFor(given, at);
  const read = listReader(codec, at, about);
  const need: TextNeed = { in: "form", name, codec, required: isNeeded(about), repeated: true, about };
  return fromForm(need, (form) => read(form.fields(name)));
}

/** Whether a field was sent, with any value: a checkbox. A client sends `true` or nothing. */
export function checked<const Name extends string>(
  name: Name,
  about: FileOptions = {},
): Dep<boolean, never, { form?: { [K in Name]?: true } }> {
  const need = { in: "form", name, codec: bool, required: false, repeated: false, checked: true, about } as const;
  return fromForm(need, (form) => form.field(name) !== undefined);
}

function field(
  name: string,
  given: AnyCodec | Shape,
  what: Partial<TextNeed>,
  absent: () => unknown,
): Dep<never, never, never> {
  const at = `form.${name}`;
  const codec = codecFor(given, at);
  return fromForm({ in: "form", name, codec, required: false, repeated: false, ...what }, (form) => {
    const given = form.field(name);
    return given === undefined ? absent() : readGiven(codec, given, at);
  });
}
