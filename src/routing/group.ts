import type { Returns } from "../answers/returns-type.ts";
import { isMeta, isObject, needs, needsObject, needsOptions, needsPath, needsTexts } from "../arguments.ts";
import type { AnyDep, AnyParam, Inputs, PathWire, RefusesOf, Rest, Values, WiresOf } from "../inputs/dep.ts";
import type { Code } from "../refusals.ts";
import { empty } from "./meta.ts";
import type { Meta } from "./meta.ts";
import { join, root } from "./path.ts";
import type { Joined, Path } from "./path.ts";
import { route } from "./route.ts";
import type { PathAdvice } from "./route.ts";
import type {
  AnyLiteral,
  Declaration,
  HasAllRead,
  NotHead,
  Returning,
  Route,
  SentBy,
  StageOf,
  TypesOf,
  WireParts,
} from "./route.ts";

/** What the routes of a group have in common. */
export interface GroupOptions<I extends Inputs, C extends string, P, Checked = unknown> {
  /** What their paths begin with; it may have parameters. */
  readonly prefix?: P;
  /** What each of them reads before its own inputs, by the names that its handler uses. */
  readonly inputs?: I & Checked;
  /** The codes that each handler may refuse with, besides those of its route. */
  readonly refuses?: readonly Code<C>[];
  /** Their tags in the API document, before each route's own. */
  readonly tags?: readonly string[];
  /** Their metadata. Of a key that a route has too, the route's value counts. */
  readonly meta?: Meta;
}

/** Makes the type of an input wrong whose name the group has already, with this sentence in the error. */
type NoneOf<Given> = { readonly [K in keyof Given]?: "The group has an input of this name already." };

/** What a client sends for a route of a group. */
type WireIn<I extends Inputs, Params extends AnyParam | Rest, Wire> = WireParts<
  [Params] extends [never] ? WiresOf<I> & Wire : WiresOf<I> & PathWire<Params> & Wire
>;

/** What a client sends for the parameters of a prefix; nothing where it has none. */
type PrefixWire<Params extends AnyParam | Rest> = [Params] extends [never] ? unknown : PathWire<Params>;

/**
 * Makes a route of a group. `Pattern` is the group's prefix and `Above` its parameters. `Given` are the values of the group's inputs
 * and `Wire` is what a client sends for them. `Codes` are what its handlers may refuse with, and `Names` also what its inputs may.
 */
// The type of a `Method` again: with these parameters in that type a route outside of a group would cost the compiler 16 more.
export type GroupMethod<
  M extends string,
  Pattern extends string,
  Above extends AnyParam | Rest,
  Given,
  Wire,
  Codes extends string,
  Names extends string,
  Clash,
> = <
  A extends AnyLiteral,
  Sent,
  Status extends number,
  const I extends Inputs = {},
  P extends string = string,
  Params extends AnyParam | Rest = never,
  C extends string = never,
  N extends string = never,
>(
  path: Path<Params, P> | PathAdvice,
  declaration: Declaration<I, Returns<A, Sent, Status>, C, HasAllRead<I, Params | Above> & Clash>,
  handler: (inputs: Values<I> & Given) => Returning<StageOf<N>, A, N, C | Codes>,
) => Route<
  M,
  Joined<Pattern, P>,
  WireIn<I, Params | Above, Wire>,
  SentBy<Sent, Status>,
  NoInfer<C> | RefusesOf<I> | Names
>;

/**
 * A group, made by `Route.group`: its functions make whole routes, as the functions of the same names outside of it do. Their handlers
 * also get the values of the group's inputs, and may refuse with the group's codes.
 */
export interface Group<
  Pattern extends string,
  Above extends AnyParam | Rest,
  Given,
  Wire,
  Codes extends string,
  Names extends string,
> {
  /** A `GET` route, which also answers `HEAD`. */
  readonly get: GroupMethod<"GET", Pattern, Above, Given, Wire, Codes, Names, NoneOf<Given>>;
  /** A `POST` route. */
  readonly post: GroupMethod<"POST", Pattern, Above, Given, Wire, Codes, Names, NoneOf<Given>>;
  /** A `PUT` route. */
  readonly put: GroupMethod<"PUT", Pattern, Above, Given, Wire, Codes, Names, NoneOf<Given>>;
  /** A `PATCH` route. */
  readonly patch: GroupMethod<"PATCH", Pattern, Above, Given, Wire, Codes, Names, NoneOf<Given>>;
  /** A `DELETE` route. */
  readonly del: GroupMethod<"DELETE", Pattern, Above, Given, Wire, Codes, Names, NoneOf<Given>>;
  /** A route of any method. */
  readonly route: <
    const M extends string,
    A extends AnyLiteral,
    Sent,
    Status extends number,
    const I extends Inputs = {},
    P extends string = string,
    Params extends AnyParam | Rest = never,
    C extends string = never,
    N extends string = never,
  >(
    method: NotHead<M>,
    path: Path<Params, P> | PathAdvice,
    declaration: Declaration<I, Returns<A, Sent, Status>, C, HasAllRead<I, Params | Above> & NoneOf<Given>>,
    handler: (inputs: Values<I> & Given) => Returning<StageOf<N>, A, N, C | Codes>,
  ) => Route<
    M,
    Joined<Pattern, P>,
    WireIn<I, Params | Above, Wire>,
    SentBy<Sent, Status>,
    NoInfer<C> | RefusesOf<I> | Names
  >;
  /** A group inside of this one. */
  readonly group: GroupMaker<Pattern, Above, Given, Wire, Codes, Names>;
}

/** Makes a group, or puts routes into one: the type of `Route.group`. */
export interface GroupMaker<
  Pattern extends string,
  Above extends AnyParam | Rest,
  Given,
  Wire,
  Codes extends string,
  Names extends string,
> {
  /** A group, whose functions make its routes. */
  <
    const I extends Inputs = {},
    C extends string = never,
    P extends string = "/",
    Params extends AnyParam | Rest = never,
  >(
    options: GroupOptions<I, C, Path<Params, P>, HasAllRead<I, Params | Above> & NoneOf<Given>>,
  ): Group<
    Joined<Pattern, P>,
    Params | Above,
    Values<I> & Given,
    WiresOf<I> & Wire,
    C | Codes,
    C | RefusesOf<I> | Names
  >;
  /** The same routes, each in the group: routes that are made already, and whose handlers need none of the group's values. */
  <
    const R extends readonly Route[],
    const I extends Inputs = {},
    C extends string = never,
    P extends string = "/",
    Params extends AnyParam | Rest = never,
  >(
    options: GroupOptions<I, C, Path<Params, P>, HasAllRead<I, Params | Above> & NoneOf<Given>>,
    routes: R,
  ): GroupedRoutes<R, Joined<Pattern, P>, WiresOf<I> & Wire & PrefixWire<Params | Above>, C | RefusesOf<I> | Names>;
}

/** Routes after they were put into a group. */
export type GroupedRoutes<R extends readonly Route[], Pattern extends string, Wire, Names extends string> = {
  readonly [K in keyof R]: Grouped<R[K], Pattern, Wire, Names>;
};

// What a client sends stays an intersection: in one object type, as of any other route, a call costs the compiler 26 more.
type Grouped<R extends Route, Pattern extends string, Wire, Names extends string> = Route<
  R["method"],
  Joined<Pattern, R["pattern"]>,
  TypesOf<R>["wire"] & Wire,
  TypesOf<R>["sent"],
  TypesOf<R>["names"] | Names
>;

/** What a group adds to each of its routes. */
interface Shared {
  readonly prefix: Path;
  readonly inputs: Inputs;
  readonly refuses: readonly Code[];
  readonly tags: readonly string[];
  readonly meta: Meta;
}

const nothing: Shared = { prefix: root, inputs: {}, refuses: [], tags: [], meta: empty };

/**
 * What several routes have in common (elsewhere: a router with a prefix): the beginning of their paths, inputs that are read first,
 * codes, tags and metadata. A group belongs to no app. Its functions `get`, `post`, `put`, `patch`, `del` and `route` make routes whose
 * path, inputs and codes are whole, so that nothing is left of the group when a request comes; its `group` makes one inside of it.
 *
 * With a list of routes it makes the same routes, each in the group.
 *
 * @throws TypeError for a wrong option. A wrong route is refused by `App.make`: an input whose name the group has too, or a parameter
 * that is in the prefix too.
 * @example
 * ```ts
 * const accountId = Path.int("account_id");
 * const accounts = Route.group({ prefix: Path.of("accounts", accountId), inputs: { account: param(accountId), clerk }, tags: ["Accounts"] });
 *
 * // GET /accounts/{account_id}/orders
 * const list = accounts.get(Path.of("orders"), { inputs: { page }, returns: Returns.text },
 *   ({ account, clerk, page }) => `${clerk.name} reads page ${page} of ${account}`);
 *
 * await serve([list, ...Route.group({ prefix: Path.of("internal") }, Health.routes())], { port: 8080 });
 * ```
 */
export const group: GroupMaker<"/", never, unknown, unknown, never, never> = /* @__PURE__ */ makerIn(nothing);

// The compiler cannot follow the type parameters of a `GroupMethod` to here.
const makeRoute = route as (method: string, path: Path<never>, declaration: never, handler: never) => Route;

function makerIn(outer: Shared): GroupMaker<"/", never, unknown, unknown, never, never> {
  const make = (options: GroupOptions<Inputs, string, Path>, ...given: readonly unknown[]): unknown => {
    const shared = within(outer, sharedOptions(options));
    if (given.length === 0) return makersOf(shared);
    const routes = given[0] as readonly Route[];
    needs(Array.isArray(routes), "Route.group: its routes", routes, "a list of routes");
    return routes.map((one, index) => {
      needs(isObject(one) && isObject(one.path), `Route.group: the route ${index} of its list`, one, "a route");
      return inGroup(one, shared);
    });
  };
  return make as GroupMaker<"/", never, unknown, unknown, never, never>;
}

function makersOf(shared: Shared): unknown {
  type Made = readonly [path: Path<never>, declaration: never, handler: never];
  const of = (method: string, ...made: Made): Route => inGroup(makeRoute(method, ...made), shared);
  return {
    get: (...made: Made) => of("GET", ...made),
    post: (...made: Made) => of("POST", ...made),
    put: (...made: Made) => of("PUT", ...made),
    patch: (...made: Made) => of("PATCH", ...made),
    del: (...made: Made) => of("DELETE", ...made),
    route: of,
    group: makerIn(shared),
  };
}

/** The options with their defaults: from JavaScript they may be anything. A misspelt one would leave routes without their guard. */
function sharedOptions(options: GroupOptions<Inputs, string, Path>): Shared {
  needsOptions("Route.group", options, "prefix inputs refuses tags meta");
  const { prefix, inputs, refuses, tags, meta } = { ...nothing, ...options };
  needsPath("Route.group: prefix", prefix);
  needsObject("Route.group: inputs", inputs);
  needs(Array.isArray(refuses), "Route.group: refuses", refuses, "a list of codes of Refusal.code");
  needsTexts("Route.group: tags", tags);
  needs(isMeta(meta), "Route.group: meta", meta, "made from Meta.empty");
  return { prefix, inputs, refuses, tags, meta };
}

function within(outer: Shared, own: Shared): Shared {
  return {
    prefix: join(outer.prefix, own.prefix),
    inputs: bothInputs(outer.inputs, own.inputs),
    refuses: both(outer.refuses, own.refuses),
    tags: both(outer.tags, own.tags),
    meta: outer.meta === empty ? own.meta : over(outer.meta, own.meta),
  };
}

/** A route in its group. A member that is none of a route's is left as it is: `App.make` refuses it, with the route's name. */
function inGroup(one: Route, { prefix, inputs, refuses, tags, meta }: Shared): Route {
  const { summary, description, methods, doc } = one;
  const isPath = Array.isArray(one.path.segments);
  const path = isPath ? join(prefix, one.path as Path) : one.path;
  return {
    method: one.method,
    pattern: path.pattern,
    path,
    inputs: isObject(one.inputs) ? bothInputs(inputs, one.inputs) : one.inputs,
    returns: one.returns,
    refuses: Array.isArray(one.refuses) ? both(refuses, one.refuses) : one.refuses,
    tags: Array.isArray(one.tags) ? both(tags, one.tags) : one.tags,
    meta: meta === empty || !isMeta(one.meta) ? one.meta : over(meta, one.meta),
    handler: one.handler,
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
    ...(methods === undefined ? {} : { methods }),
    ...(doc === undefined ? {} : { doc }),
  };
}

/** Of a key that both have, the route's own value. */
function over(group: Meta, own: Meta): Meta {
  return {
    add: (key, value) => over(group, own.add(key, value)),
    find(key) {
      const value = own.find(key);
      return value === undefined ? group.find(key) : value;
    },
  };
}

function both<A>(group: readonly A[], own: readonly A[]): readonly A[] {
  return group.length === 0 ? own : [...new Set([...group, ...own])];
}

/** The group's inputs are first, and are so read first. */
function bothInputs(group: Inputs, own: Inputs): Inputs {
  const clashes = Object.keys(own)
    .filter((name) => Object.hasOwn(group, name))
    .map((name) => [name, declaredTwice(name, group[name] as AnyDep, own[name] as AnyDep)]);
  return { ...group, ...own, ...Object.fromEntries(clashes) };
}

/** Two inputs of one name, which `App.make` refuses with every other wrong declaration. */
function declaredTwice(name: string, ...from: readonly AnyDep[]): AnyDep {
  const problem = `has the input ${name} twice, of its own and of its group: give one of them another name`;
  return { node: { from, check: () => [problem] } };
}

export { mount } from "./mount.ts";
export type { MountDoc, MountOperation, MountResponse } from "./mount-doc.ts";
export type { MountHandler, MountOptions } from "./mount.ts";
