import type { Returns, Succeeded } from "../answers/returns-type.ts";
import type {
  Answering,
  AnyDep,
  AnyParam,
  Awaitable,
  Inputs,
  Names,
  PathWire,
  RefusesOf,
  Rest,
  Values,
  WiresOf,
} from "../inputs/dep.ts";
import { isObject, kindOf } from "../arguments.ts";
import { callerIn, placeOfCopy } from "../logging/raised.ts";
import type { Code, FrameworkCode, Refusal } from "../refusals.ts";
import { empty } from "./meta.ts";
import type { Meta } from "./meta.ts";
import type { MountedOperation } from "./mount-doc.ts";
import { pathAdvice } from "./path-text.ts";
import type { Path } from "./path.ts";

/** What a typed client reads of a route. A route of another copy of the package has it too: no symbol, no private member. */
export interface ClientRoute<
  out M extends string = string,
  out P extends string = string,
  out Wire = unknown,
  out Sent = unknown,
  out Names extends string = string,
> {
  /** The method, in upper case; `*` of a mount. */
  readonly method: M;
  /** As in the API document: `/orders/{order_id}`. */
  readonly pattern: P;
  /** Exists only in types. */
  readonly "~types"?: { readonly wire: Wire; readonly sent: Sent; readonly names: Names };
}

/**
 * A method and a path with the returned type, the inputs and a handler. A route is a value and belongs to no app. The API
 * document needs only this value and never runs it.
 */
export interface Route<
  out M extends string = string,
  out P extends string = string,
  out Wire = unknown,
  out Sent = unknown,
  out Names extends string = string,
> extends ClientRoute<M, P, Wire, Sent, Names> {
  /** The methods of a mount that answers only some. */
  readonly methods?: readonly string[];
  /** What the API document says of a mount, which is otherwise not in it. */
  readonly doc?: readonly MountedOperation[];
  /** The path that it was made with. */
  readonly path: Path<unknown, P>;
  /** The inputs, by the names that the handler uses. */
  readonly inputs: { readonly [name: string]: AnyDep };
  /** The declared kind of response. */
  readonly returns: Returns<never, unknown>;
  /** The route's own codes; the codes of its inputs are theirs. */
  readonly refuses: readonly Code[];
  /** One line for the API document. */
  readonly summary?: string;
  /** A longer text for the API document. */
  readonly description?: string;
  /** The groups of the route in the API document. */
  readonly tags: readonly string[];
  /** Metadata, which middleware may read. */
  readonly meta: Meta;
  /** Internal to the framework. */
  readonly handler: (inputs: never) => unknown;
}

/** The types of a route for a typed client. */
// Read by name: to infer five parameters of a `Route` costs the compiler three times as much.
export type TypesOf<R extends ClientRoute> = NonNullable<R["~types"]>;

/** The declaration of a route. */
export interface Declaration<I extends Inputs, R, C extends string, Checked = unknown> {
  /** One line for the API document. */
  readonly summary?: string;
  /** A longer text for the API document. */
  readonly description?: string;
  /** The groups of the route in the API document. */
  readonly tags?: readonly string[];
  /** By the names that the handler uses. */
  readonly inputs?: I & Checked;
  /** The kind of response, which the value of the handler must fit. */
  readonly returns: R;
  /** The codes that the handler may refuse with, besides the framework's own. */
  readonly refuses?: readonly Code<C>[];
  /** Metadata, such as `Meta.empty.add(Meta.access, "debug")`; none by default. */
  readonly meta?: Meta;
}

/** What a caller of a route gets of its answers; of a WebSocket's route the messages of its protocol. */
export type SentBy<Sent, Status> = Status extends 101 ? WebSocketSent<Sent> : Succeeded<Status, Sent>;

/** The protocol of a WebSocket's route, for a typed client. */
export interface WebSocketSent<out Wire> {
  /** Tells it from an answer. */
  readonly status: 101;
  /** Exists only in types. */
  readonly wire: Wire;
}

/** The literal types that a type parameter keeps; without them the compiler reads `"new"` as `string` in an answer. */
export type AnyLiteral =
  | {}
  | null
  | undefined
  | void
  | ""
  | 0
  | 0n
  | false
  | readonly []
  | { readonly [member: string]: AnyLiteral };

/**
 * The literals in what a function returns. Of an async function, `async () => "new"`, the compiler keeps a bare literal only where
 * the expected type has a `then`. A union of a value and a promise of it has none.
 */
type LiteralReturned = ("" | 0 | 0n | false | readonly [] | { readonly [member: string]: AnyLiteral }) & {
  then(fulfilled: (value: AnyLiteral) => void): void;
};

/**
 * What a handler may return, `Answering`. While the compiler infers, it knows no more of `Stage` than that it is a text, and takes
 * this type for `LiteralReturned`; once it has inferred, `Stage` is `""`.
 */
export type Returning<Stage extends string, A, N extends string, C extends string> = Stage extends (
  string extends Stage ? string : never
)
  ? LiteralReturned
  : Answering<A, N, C>;
// A conditional type that is always true, and that the compiler resolves only when it knows `N`.
export type StageOf<N extends string> = never extends N ? "" : string;

/** The handler of a route: it gets the values of the inputs `I`, and returns an answer `A` or a refusal of one of `Codes`. */
export type Handler<I extends Inputs, A, Codes extends readonly Code[] = readonly []> = (
  inputs: Values<I>,
) => Awaitable<NoInfer<A> | Refusal<Names<Codes> | FrameworkCode>>;

/**
 * What a client sends: all parameters of the path, whether an input reads them or not, and what the inputs read. One object type
 * in place of an intersection of all inputs, for an editor to show.
 */
type RouteWire<I extends Inputs, Params extends AnyParam | Rest> = WireParts<
  [Params] extends [never] ? WiresOf<I> : WiresOf<I> & PathWire<Params>
>;
// `& {}` keeps the name of the alias out of what an editor shows.
export type WireParts<W> = { [K in keyof W]: K extends "json" | "body" ? W[K] : Fields<W[K]> } & {};
type Fields<W> = { [K in keyof W]: W[K] } & {};

/**
 * Makes the type of the inputs wrong, with this sentence in the error, where one reads a parameter that the path lacks. Of a
 * path without parameters, or whose parameters are not known, nothing is checked: a helper of any inputs could not satisfy it.
 */
export type HasAllRead<I extends Inputs, Params extends AnyParam | Rest> =
  // Of what all send together the path is the same, or an input has added to it. `RouteWire` has this intersection too.
  PathWire<Params>["path"] extends (WiresOf<I> & PathWire<Params>)["path"]
    ? unknown
    : [Params] extends [never]
      ? unknown
      : string extends Params["name"]
        ? unknown
        : "An input reads a path parameter that this path does not have, or has with another type.";

/** Methods that a program writes in lower case by mistake: no client sends them so. */
type LowerCase = "get" | "post" | "put" | "patch" | "delete" | "options" | "head";
export type NotHead<M> = M extends "HEAD"
  ? "A HEAD is answered by the GET route: declare that instead."
  : M extends LowerCase
    ? `A method is in upper case: ${Uppercase<M>}.`
    : M extends `${string} ${string}`
      ? "A method has no space."
      : M;

/** No path: the text that the compiler's error has where one is given as text. */
export type PathAdvice = 'Write Path.of("orders", Path.int("id")) for /orders/:id.';

/** Makes a route of one method. */
export type Method<M extends string> = <
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
  declaration: Declaration<I, Returns<A, Sent, Status>, C, HasAllRead<I, Params>>,
  handler: (inputs: Values<I>) => Returning<StageOf<N>, A, N, C>,
) => Route<M, P, RouteWire<I, Params>, SentBy<Sent, Status>, NoInfer<C> | RefusesOf<I>>;

/**
 * A route of any method. A method that no route declares is answered 501, or 405 if the framework knows it.
 *
 * @example
 * ```ts
 * const hello = get(Path.of("hello", name), { inputs: { who: param(name) }, returns: Returns.text },
 *   ({ who }) => `Hello, ${who}.`);
 * ```
 */
export function route<
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
  at: Path<Params, P> | PathAdvice,
  declaration: Declaration<I, Returns<A, Sent, Status>, C, HasAllRead<I, Params>>,
  handler: (inputs: Values<I>) => Returning<StageOf<N>, A, N, C>,
): Route<M, P, RouteWire<I, Params>, SentBy<Sent, Status>, NoInfer<C> | RefusesOf<I>> {
  checkArguments(method, at, declaration);
  const path = at as Path<Params, P>;
  if (typeof handler === "function") noteDeclared(handler);
  const { inputs = {}, returns, refuses = [], tags = [], meta = empty, summary, description } = declaration;
  return {
    method: method as M,
    pattern: path.pattern,
    path,
    inputs,
    returns,
    refuses,
    tags,
    meta,
    handler,
    // Last, because an object literal that begins with a spread takes V8 seven times the time and memory.
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
  };
}

/** Errors that were made where routes were declared, by their handlers. An engine writes the text of a stack where it is read. */
type DeclaredRoutes = WeakMap<object, Error>;
const declared: DeclaredRoutes = /* @__PURE__ */ new WeakMap();

/** Those of each copy of the package in the program: two know nothing of each other. */
const copies = Symbol.for("usher-http.copies");

function noteDeclared(handler: object): void {
  const shared = globalThis as { [copies]?: Set<DeclaredRoutes> };
  (shared[copies] ??= new Set()).add(declared);
  declared.set(handler, new Error());
}

/**
 * Where another copy of the package lies that made a route; undefined for a route of this one. Its refusals would be errors here, as
 * each copy has classes of its own.
 */
export function otherCopyOf({
  handler,
}: Pick<Route, "handler">): { readonly other: string; readonly own: string } | undefined {
  if (declared.has(handler)) return undefined;
  for (const copy of (globalThis as { [copies]?: Set<DeclaredRoutes> })[copies] ?? []) {
    const made = copy.get(handler);
    if (made !== undefined) return { other: placeOfCopy(made), own: placeOfCopy(new Error()) };
  }
  return undefined;
}

/**
 * Where a route was declared, like a frame: `GET /orders (file:///srv/orders.ts:12:5)`. What a runtime's own function rejects with may
 * have no frame of the application. In a bundle it is the route alone.
 */
export function placeOfRoute({ method, pattern, handler }: Pick<Route, "method" | "pattern" | "handler">): string {
  const at = callerIn(declared.get(handler));
  return at === undefined ? `${method} ${pattern}` : `${method} ${pattern} (${at})`;
}

const members: readonly string[] = ["inputs", "returns", "refuses", "meta", "summary", "description", "tags"];

// JavaScript may leave them out. The members of a declaration are checked by `App.make`, which names the route.
function checkArguments(method: unknown, path: unknown, declaration: unknown): void {
  const called = typeof method === "string" ? method : kindOf(method);
  if (typeof path === "string")
    throw new TypeError(
      `a route of ${called}: its path is a text: write ${pathAdvice(path)}, with Path from usher-http`,
    );
  if (!isObject(path)) throw new TypeError(`a route of ${called}: its path is not made by Path.of`);
  const at = `${called} ${typeof path["pattern"] === "string" ? path["pattern"] : ""}`;
  if (!isObject(declaration)) throw new TypeError(`${at}: its second argument is no object with \`returns\``);
  // A misspelt one would leave the route without an input that guards it.
  for (const member of Object.keys(declaration)) {
    if (!members.includes(member))
      throw new TypeError(`${at}: ${member} is none of a route's members: ${members.join(", ")}`);
  }
}

/** A `GET` route, which also answers `HEAD`. */
export const get: Method<"GET"> = (path, declaration, handler) => route("GET", path, declaration, handler);
/** A `POST` route. */
export const post: Method<"POST"> = (path, declaration, handler) => route("POST", path, declaration, handler);
/** A `PUT` route. */
export const put: Method<"PUT"> = (path, declaration, handler) => route("PUT", path, declaration, handler);
/** A `PATCH` route. */
export const patch: Method<"PATCH"> = (path, declaration, handler) => route("PATCH", path, declaration, handler);
/** A `DELETE` route. */
export const del: Method<"DELETE"> = (path, declaration, handler) => route("DELETE", path, declaration, handler);
