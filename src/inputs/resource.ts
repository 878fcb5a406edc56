import type { Dep } from "./dep.ts";

/** Something the application holds, made once where the program starts: a pool, a client, a hub. */
export interface Resource<in out A> extends Dep<A> {
  readonly name: string;
  /** Only a type. */
  readonly holds?: (value: A) => A;
}

/** A resource with its value, for `App.make`. */
export interface Supplied {
  readonly name: string;
  readonly value: unknown;
}

/** Declares a resource. A route that reads one is refused when the app is made without it. */
export function ofResource<A>(name: string): Resource<A> {
  return { name, node: { from: [], resource: name, constant: (place) => place.resource(name) } };
}

/** Supplies a resource: `App.make(routes, { resources: [Dep.resource(store, new Store())] })`. */
export function resource<A>(resource: Resource<A>, value: A): Supplied {
  return { name: resource.name, value };
}
