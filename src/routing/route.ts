import type { Returns, Succeeded } from "../answers/returned.ts";
import type { AnyDep, Awaitable, Inputs, Names, RefusesOf, Values, WireOf } from "../inputs/dep.ts";
import type { Code, FrameworkCode, Refusal } from "../refusals.ts";
import { empty } from "./meta.ts";
import type { Meta } from "./meta.ts";
import type { Path } from "./path.ts";

// Types alone, of a caller's side: read by name, which costs the compiler a third of inferring them.
export declare const wire: unique symbol;
export declare const sent: unique symbol;
export declare const names: unique symbol;

/**
 * A method and a path bound to a kind of answer, to inputs and to a handler. A value: it belongs to no app. Everything
 * an application's description needs is known without running it.
 */
export interface Route<
  out M extends string = string,
  out P extends string = string,
  out Wire = unknown,
  out Sent = unknown,
  out Names extends string = string,
> {
  readonly method: M;
  readonly pattern: P;
  readonly path: Path<unknown, P>;
  readonly inputs: { readonly [name: string]: AnyDep };
  readonly returns: Returns<never, unknown>;
  /** The route's own codes; those its inputs may refuse with are theirs. */
  readonly refuses: readonly Code[];
  readonly summary?: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly meta: Meta;
  /** For the framework alone. */
  readonly handler: (inputs: never) => unknown;
  readonly [wire]?: Wire;
  readonly [sent]?: Sent;
  readonly [names]?: Names;
}

/** What a route is declared with. */
export interface Declaration<I extends Inputs, R extends Returns<never, unknown>, Codes extends readonly Code[]> {
  /** One line for the API document. */
  readonly summary?: string;
  /** As long as it needs to be, for the API document. */
  readonly description?: string;
  readonly tags?: readonly string[];
  /** By the name the handler knows them by. */
  readonly inputs?: I;
  readonly returns: R;
  /** The codes the handler may refuse with, beside the framework's own. */
  readonly refuses?: Codes;
  readonly meta?: Meta;
}

type AnswerOf<R> = R extends Returns<infer A, unknown> ? A : never;
// A WebSocket's address has nothing for a caller but a refusal.
type SentBy<R> =
  R extends Returns<never, infer Value, infer Status> ? (Status extends 101 ? never : Succeeded<Status, Value>) : never;
type Handler<I, R, Codes extends readonly Code[]> = (
  inputs: Values<I>,
) => Awaitable<AnswerOf<R> | Refusal<Names<Codes> | FrameworkCode>>;

/** Makes a route of one method. */
export type Method<M extends string> = <
  const I extends Inputs = {},
  R extends Returns<never, unknown> = Returns<never, unknown>,
  P extends string = string,
  const Codes extends readonly Code[] = readonly [],
>(
  path: Path<unknown, P>,
  declaration: Declaration<I, R, Codes>,
  handler: Handler<I, R, Codes>,
) => Route<M, P, WireOf<I>, SentBy<R>, Names<Codes> | RefusesOf<I>>;

/**
 * A route of any method. A method no route declares is answered 501, or 405 where the framework knows it.
 *
 * @example
 * ```ts
 * const hello = get(Path.of("hello", name), { inputs: { who: param(name) }, returns: Returns.text },
 *   ({ who }) => `Hello, ${who}.`);
 * ```
 */
export function route<
  const M extends string,
  const I extends Inputs = {},
  R extends Returns<never, unknown> = Returns<never, unknown>,
  P extends string = string,
  const Codes extends readonly Code[] = readonly [],
>(
  method: M,
  path: Path<unknown, P>,
  declaration: Declaration<I, R, Codes>,
  handler: Handler<I, R, Codes>,
): Route<M, P, WireOf<I>, SentBy<R>, Names<Codes> | RefusesOf<I>> {
  const { inputs = {}, returns, refuses = [], tags = [], meta = empty, summary, description } = declaration;
  return {
    method,
    pattern: path.pattern,
    path,
    inputs,
    returns,
    refuses,
    tags,
    meta,
    handler,
    // Behind the others: an object that begins with a spread takes V8 seven times as long and as much room.
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
  };
}

/** A `GET` route; it answers `HEAD` too. */
export const get: Method<"GET"> = (path, declaration, handler) => route("GET", path, declaration, handler);
/** A `POST` route. */
export const post: Method<"POST"> = (path, declaration, handler) => route("POST", path, declaration, handler);
/** A `PUT` route. */
export const put: Method<"PUT"> = (path, declaration, handler) => route("PUT", path, declaration, handler);
/** A `PATCH` route. */
export const patch: Method<"PATCH"> = (path, declaration, handler) => route("PATCH", path, declaration, handler);
/** A `DELETE` route. */
export const del: Method<"DELETE"> = (path, declaration, handler) => route("DELETE", path, declaration, handler);
