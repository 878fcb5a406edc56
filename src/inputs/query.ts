import type { AnyCodec, Codec, EncodedAs } from "../codecs/codec.ts";
import type { InputRequest } from "./request.ts";
import type { Dep, Place, TextNeed } from "./dep.ts";
import { readGiven, required as missing } from "./text.ts";
import { Problem } from "../refusals.ts";

/** A required query value: a 400 problem `required` at `query.<name>` where it is absent. */
export function required<const Name extends string, A, S = unknown>(
  name: Name,
  codec: Codec<A, S>,
): Dep<A, never, { query: { [K in Name]: EncodedAs<S> } }> {
  const absent = missing(`query.${name}`);
  return one(name, codec, { required: true }, () => absent);
}

/** A query value; undefined where it is absent. */
export function optional<const Name extends string, A, S = unknown>(
  name: Name,
  codec: Codec<A, S>,
): Dep<A | undefined, never, { query?: { [K in Name]?: EncodedAs<S> } }> {
  return one(name, codec, {}, () => undefined);
}

/** A query value, or the default where it is absent. A value that does not parse is still a problem. */
function withDefault<const Name extends string, A, S = unknown>(
  name: Name,
  codec: Codec<A, S>,
  value: A,
): Dep<A, never, { query?: { [K in Name]?: EncodedAs<S> } }> {
  return one(name, codec, { default: codec.print(value) }, () => value);
}

/** Every value, in order: `?tag=a&tag=b`; an empty list without any. One that does not parse is one problem. */
export function list<const Name extends string, A, S = unknown>(
  name: Name,
  codec: Codec<A, S>,
): Dep<readonly A[], never, { query?: { [K in Name]?: readonly EncodedAs<S>[] } }> {
  const at = `query.${name}`;
  const compile = ({ query }: Place) => {
    const index = query.add(name, true);
    return (request: InputRequest): unknown => {
      const values: unknown[] = [];
      for (const given of request.query(query).all(index)) {
        const value = readGiven(codec, given, at);
        if (value instanceof Problem) return value;
        values.push(value);
      }
      return values;
    };
  };
  return { node: { from: [], need: need(name, codec, { repeated: true }), compile } };
}

function one(name: string, codec: AnyCodec, what: Partial<TextNeed>, absent: () => unknown): Dep<never, never, never> {
  const at = `query.${name}`;
  const compile = ({ query }: Place) => {
    const index = query.add(name, false);
    return (request: InputRequest): unknown => {
      const given = request.search === "" ? undefined : request.query(query).first(index);
      return given === undefined ? absent() : readGiven(codec, given, at);
    };
  };
  return { node: { from: [], need: need(name, codec, what), compile } };
}

function need(name: string, codec: AnyCodec, what: Partial<TextNeed>): TextNeed {
  return { in: "query", name, codec, required: false, repeated: false, ...what };
}

export { withDefault as default };
