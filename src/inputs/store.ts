import { isObject, needs } from "../arguments.ts";
import { noted } from "./copies.ts";
import { constant } from "./dep.ts";
import type { AnyDep, Dep, DepNode, RefusesOf, RouteContext, WireOf } from "./dep.ts";

/**
 * Where a store comes from: the store itself, a resource, or another input that gives one. The program opens the store and closes it;
 * every route and every app that is given the same one shares it. If the input refuses, that is the answer. `App.make` throws for a
 * resource that its option `resources` lacks.
 *
 * `S` has the codes that the input refuses with, and `X` what a client sends for it.
 *
 * @example
 * ```ts
 * const store = Dep.ofResource<ApiKeyStore>("keys");
 * const keys = ApiKeys.make({ prefix: "shop_live", store });
 * // Where the program starts, once the pool is open:
 * const resources = [Dep.resource(store, ApiKeyTable.store(pool, { table: "api_keys" }))];
 * ```
 */
export type StoreFrom<Store, S extends string = never, X = {}> = Store | Dep<Store, S, X>;

/** The codes that the input of a store refuses with; none of a store itself. */
export type RefusesOfStore<From> = From extends AnyDep ? RefusesOf<{ readonly store: From }> : never;
/** What a client sends for the input of a store; nothing for a store itself. */
export type WireOfStore<From> = From extends AnyDep ? WireOf<{ readonly store: From }> : {};

/** A kind of store, as a function takes it. */
export interface StoreKind {
  /** Where it is given, for errors: `Rate.make: store`. */
  readonly at: string;
  /** What it is, for errors. */
  readonly what: string;
  /** What every such store has. */
  readonly methods: readonly string[];
}

/** Whether it is an input, and no store: that may have a member `node` of its own. */
export function isInput(given: unknown): given is AnyDep {
  return isObject(given) && isObject(given["node"]) && Array.isArray(given["node"]["from"]);
}

/**
 * The input that gives a store, wherever that comes from, or what is made of it. Who uses the store lists it among its own inputs: so
 * `App.make` finds a resource that is missing, and the API document shows what is read. What is known with the app costs a request
 * nothing.
 *
 * @throws TypeError for what is no store. What a resource or an input gives is checked once it is there.
 */
export function storeInput<Store, Made = Store>(
  given: StoreFrom<Store, string, unknown>,
  kind: StoreKind,
  of: (store: Store) => Made = (store) => store as unknown as Made,
): Dep<Made> {
  const made = (store: unknown): Made => {
    needsStore(store, kind);
    return of(store as Store);
  };
  needsStoreFrom(given, kind);
  if (!isInput(given)) return constant(of(given));
  const { constant: known, resource } = given.node;
  const compile: NonNullable<DepNode["compile"]> =
    (_route, [slot = 0]) =>
    (_request, values) =>
      made(values[slot]);
  // `App.make` names a resource that is missing. The check of its store would be a second line for the same mistake.
  const constantOf = (known: (context: RouteContext) => unknown) => (context: RouteContext) =>
    resource !== undefined && context.lacks(resource) ? undefined : made(known(context));
  const read = known === undefined ? { compile } : { constant: constantOf(known) };
  return noted({ node: { from: [given], ...read } });
}

/** @throws TypeError for what is neither an input nor a store of this kind. */
export function needsStoreFrom(given: unknown, kind: StoreKind): void {
  if (!isInput(given))
    needsStore(given, { ...kind, what: `${kind.what}, a resource, or another input that gives one` });
}

/** @throws TypeError for what is no store of this kind. */
export function needsStore(store: unknown, { at, what, methods }: StoreKind): void {
  const isStore = isObject(store) && methods.every((method) => typeof store[method] === "function");
  needs(isStore, at, store, what);
}

/** An input that makes a value once for each app: what one test's app counts is not counted in that of another. */
export function ofApp<A>(make: () => A): Dep<A> {
  const made = new WeakMap<object, { readonly value: A }>();
  const constant = ({ app }: RouteContext): A => {
    let one = made.get(app);
    if (one === undefined) made.set(app, (one = { value: make() }));
    return one.value;
  };
  return noted({ node: { from: [], constant } });
}
