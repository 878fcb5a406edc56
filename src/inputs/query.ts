import { noted } from "./copies.ts";
import { placeOf } from "../arguments.ts";
import type { EncodedAs, ListOptions, TextOptions } from "../codecs/codec.ts";
import type { InputRequest } from "./request.ts";
import type { Dep, RouteContext, TextNeed } from "./dep.ts";
import { textObject } from "./wire-object.ts";
import type { TextObjectSchema } from "./wire-object.ts";
import { isNeeded, listReader } from "./wire-list.ts";
import { codecFor } from "./text-schema.ts";
import type { AnyTextKind, TextKind } from "./text-schema.ts";
import { filledControls, missing, readControl, readGiven } from "./text.ts";
import { wrongText } from "./wrong-text.ts";

/**
 * A required query value, read by a codec or a schema: a 400 problem `required` at `query.<name>` where it is absent.
 *
 * @param about What the API document says of it.
 */
export function required<const Name extends string, A, S = unknown>(
  name: Name,
  kind: TextKind<A, S>,
  about: TextOptions<NoInfer<EncodedAs<S>>> = {},
): Dep<A, never, { query: { [K in Name]: EncodedAs<S> } }> {
  const absent = missing(placeOf("query", name));
  return one(name, kind, { about, required: true }, () => absent);
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
  kind: TextKind<A, S>,
  about: TextOptions<NoInfer<EncodedAs<S>>> = {},
): Dep<A | undefined, never, { query?: { [K in Name]?: EncodedAs<S> | undefined } }> {
  return one(name, kind, { about }, () => undefined);
}

/** A query value, or the default where it is absent. A value that does not parse is still a problem. */
function withDefault<const Name extends string, A, S = unknown>(
  name: Name,
  kind: TextKind<A, S>,
  value: NoInfer<A>,
  about: TextOptions<NoInfer<EncodedAs<S>>> = {},
): Dep<A, never, { query?: { [K in Name]?: EncodedAs<S> | undefined } }> {
  return one(name, kind, { about, default: { value: value as never } }, () => value);
}

/**
 * Every value, in order: `?tag=a&tag=b`; an empty list without any. The codec or the schema is that of one item. A codec's first
 * unreadable item is one problem; a schema's items each have their own, at `query.<name>[<index>]`.
 *
 * @param about What the API document says of it, and `minItems` and `maxItems`.
 */
export function list<const Name extends string, A, S = unknown>(
  name: Name,
  kind: TextKind<A, S>,
  about: ListOptions<NoInfer<EncodedAs<S>>> = {},
): Dep<readonly A[], never, { query?: { [K in Name]?: readonly EncodedAs<S>[] | undefined } }> {
  const at = placeOf("query", name);
  const codec = codecFor(kind, at);
  const read = listReader(codec, at, about);
  const compile = ({ query, emptyQuery }: RouteContext) => {
    const index = query.add(name, true);
    return (request: InputRequest): unknown => {
      const given = request.query(query).all(index);
      return read(emptyQuery === "absent" ? filledControls(given, codec) : given, request.maxProblems);
    };
  };
  const need: TextNeed = { in: "query", name, codec, required: isNeeded(about), style: "list", about };
  return noted({ node: { from: [], need, check: () => wrongText(need), compile } });
}

/**
 * An object of the style `deepObject`: `?filter[status]=open&filter[min]=3`. The schema is a `v.object` or a `v.strictObject` of texts,
 * numbers, booleans, words, and lists of these, which repeat the name of their member. The value is an object also where no member was
 * sent. A problem is at its member, as `query.filter.min`: `required` for a missing one. Of a member that is sent twice the first
 * counts. An unknown member is passed over; with `v.strictObject` it is a problem `unknown_member`.
 *
 * @param about What the API document says of it. Its examples are objects.
 *
 * @example
 * ```ts
 * const status = v.optional(v.picklist(["open", "paid"]));
 * const filter = Query.object("filter", v.object({ status, min: v.optional(v.number()) }));
 * ```
 */
export function object<const Name extends string, A, J>(
  name: Name,
  schema: TextObjectSchema<A, J>,
  about: TextOptions<NoInfer<J>> = {},
): Dep<A, never, {} extends J ? { query?: { [K in Name]?: J | undefined } } : { query: { [K in Name]: J } }> {
  const { codec, required, compile } = textObject(schema, name, placeOf("query", name));
  const need: TextNeed = { in: "query", name, codec, required, style: "deepObject", about };
  const compiled = ({ query, emptyQuery }: RouteContext) => {
    const read = compile(query, emptyQuery);
    return (request: InputRequest): unknown =>
      read(request.search === "" ? undefined : request.query(query), request.maxProblems);
  };
  return noted({ node: { from: [], need, check: () => wrongText(need), compile: compiled } });
}

function one(
  name: string,
  kind: AnyTextKind,
  what: Partial<TextNeed>,
  absent: () => unknown,
): Dep<never, never, never> {
  const at = placeOf("query", name);
  const codec = codecFor(kind, at);
  const compile = ({ query, emptyQuery }: RouteContext) => {
    const index = query.add(name, false);
    return (request: InputRequest): unknown => {
      const given = request.search === "" ? undefined : request.query(query).first(index);
      if (given === undefined) return absent();
      return emptyQuery === "absent" ? readControl(codec, given, at, absent) : readGiven(codec, given, at);
    };
  };
  const need: TextNeed = { in: "query", name, codec, required: false, style: "text", ...what };
  return noted({ node: { from: [], need, check: () => wrongText(need), compile } });
}

export { withDefault as default };
