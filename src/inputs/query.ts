import type { AnyCodec, Codec, EncodedAs, ListOptions, TextOptions } from "../codecs/codec.ts";
import type { JsonOf, Shape, ValueOf } from "../schema/valibot.ts";
import type { InputRequest } from "./request.ts";
import type { Dep, Place, TextNeed } from "./dep.ts";
import { isNeeded, listReader } from "./text-list.ts";
import { codecFor } from "./text-schema.ts";
import type { TextSchema } from "./text-schema.ts";
import { readGiven, required as missing } from "./text.ts";

/**
 * A required query value, read by a codec or a schema: a 400 problem `required` at `query.<name>` where it is absent.
 *
 * @param options What the API document says of it.
 */
export function required<const Name extends string, A, S = unknown>(
  name: Name,
  codec: Codec<A, S>,
  options?: TextOptions<NoInfer<A>>,
): Dep<A, never, { query: { [K in Name]: EncodedAs<S> } }>;
export function required<const Name extends string, S extends TextSchema>(
  name: Name,
  schema: S,
  options?: TextOptions<NoInfer<JsonOf<S>>>,
): Dep<ValueOf<S>, never, { query: { [K in Name]: JsonOf<S> } }>;
export function required(name: string, given: AnyCodec | Shape, about: TextOptions = {}): Dep<never, never, never> {
  const absent = missing(`query.${name}`);
  return one(name, given, { about, required: true }, () => absent);
}

/**
 * A query value; undefined where it is absent.
 *
 * @example
 * ```ts
 * const limit = Query.optional("limit", v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100)));
 * ```
 */
export function optional<const Name extends string, A, S = unknown>(
  name: Name,
  codec: Codec<A, S>,
  options?: TextOptions<NoInfer<A>>,
): Dep<A | undefined, never, { query?: { [K in Name]?: EncodedAs<S> } }>;
export function optional<const Name extends string, S extends TextSchema>(
  name: Name,
  schema: S,
  options?: TextOptions<NoInfer<JsonOf<S>>>,
): Dep<ValueOf<S> | undefined, never, { query?: { [K in Name]?: JsonOf<S> } }>;
export function optional(name: string, given: AnyCodec | Shape, about: TextOptions = {}): Dep<never, never, never> {
  return one(name, given, { about }, () => undefined);
}

/** A query value, or the default where it is absent. A value that does not parse is still a problem. */
function withDefault<const Name extends string, A, S = unknown>(
  name: Name,
  codec: Codec<A, S>,
  value: A,
  options?: TextOptions<NoInfer<A>>,
): Dep<A, never, { query?: { [K in Name]?: EncodedAs<S> } }>;
function withDefault<const Name extends string, S extends TextSchema>(
  name: Name,
  schema: S,
  value: NoInfer<ValueOf<S>>,
  options?: TextOptions<NoInfer<JsonOf<S>>>,
): Dep<ValueOf<S>, never, { query?: { [K in Name]?: JsonOf<S> } }>;
function withDefault(
  name: string,
  given: AnyCodec | Shape,
  value: unknown,
  about: TextOptions = {},
): Dep<never, never, never> {
  return one(name, given, { about, default: { value: value as never } }, () => value);
}

/**
 * Every value, in order: `?tag=a&tag=b`; an empty list without any. The codec or the schema is that of one item. A codec's first
 * unreadable item is one problem; a schema's items each have their own, at `query.<name>[<index>]`.
 *
 * @param options What the API document says of it, and `minItems` and `maxItems`.
 */
export function list<const Name extends string, A, S = unknown>(
  name: Name,
  codec: Codec<A, S>,
  options?: ListOptions<NoInfer<A>>,
): Dep<readonly A[], never, { query?: { [K in Name]?: readonly EncodedAs<S>[] } }>;
export function list<const Name extends string, S extends TextSchema>(
  name: Name,
  schema: S,
  options?: ListOptions<NoInfer<JsonOf<S>>>,
): Dep<readonly ValueOf<S>[], never, { query?: { [K in Name]?: readonly JsonOf<S>[] } }>;
export function list(name: string, given: AnyCodec | Shape, about: ListOptions = {}): Dep<never, never, never> {
  const at = `query.${name}`;
  const codec = codecFor(given, at);
  const read = listReader(codec, at, about);
  const compile = ({ query }: Place) => {
    const index = query.add(name, true);
    return (request: InputRequest): unknown => read(request.query(query).all(index));
  };
  const need: TextNeed = { in: "query", name, codec, required: isNeeded(about), repeated: true, about };
  return { node: { from: [], need, compile } };
}

function one(
  name: string,
  given: AnyCodec | Shape,
  what: Partial<TextNeed>,
  absent: () => unknown,
): Dep<never, never, never> {
  const at = `query.${name}`;
  const codec = codecFor(given, at);
  const compile = ({ query }: Place) => {
    const index = query.add(name, false);
    return (request: InputRequest): unknown => {
      const given = request.search === "" ? undefined : request.query(query).first(index);
      return given === undefined ? absent() : readGiven(codec, given, at);
    };
  };
  const need: TextNeed = { in: "query", name, codec, required: false, repeated: false, ...what };
  return { node: { from: [], need, compile } };
}

export { withDefault as default };
