import type { Level } from "../logging/entry.ts";

/** The name of one kind of metadata; made once with {@link key}. */
export interface MetaKey<in out A> {
  readonly description: string;
  /** Only a type. */
  readonly type?: (value: A) => A;
}

/** Metadata of a route. A value never changes: `add` answers another. */
export interface Meta {
  /** With one more; what the key had before is replaced. */
  add<A>(key: MetaKey<A>, value: A): Meta;
  find<A>(key: MetaKey<A>): A | undefined;
}

/** A key of the application's own. */
export function key<A>(description: string): MetaKey<A> {
  return { description };
}

/** The level of a route's access line; `info` unless given. */
export const access: MetaKey<Level> = key("access");

function metaOf(values: ReadonlyMap<object, unknown>): Meta {
  return {
    add: (name, value) => metaOf(new Map(values).set(name, value)),
    // A key is filled only by `add`, which holds the value to the key's type.
    find: <A>(name: MetaKey<A>) => values.get(name) as A | undefined,
  };
}

/** No metadata. */
export const empty: Meta = /* @__PURE__ */ metaOf(new Map());
