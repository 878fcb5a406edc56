import type { Returns, Succeeded } from "../answers/returned.ts";
import type { AnyDep, Awaitable, Inputs, Names, RefusesOf, Values, WireOf } from "../inputs/dep.ts";
import type { Code, FrameworkCode, Refusal } from "../refusals.ts";
import { empty } from "./meta.ts";
import type { Meta } from "./meta.ts";
import type { Path } from "./path.ts";

// Types of the caller's side only. Reading them by name costs the compiler a third of inferring them.
export declare const wire: unique symbol;
export declare const sent: unique symbol;
export declare const names: unique symbol;

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
> {
  readonly method: M;
  readonly pattern: P;
  readonly path: Path<unknown, P>;
  readonly inputs: { readonly [name: string]: AnyDep };
  readonly returns: Returns<never, unknown>;
  /** The route's own codes; the codes of its inputs are theirs. */
  readonly refuses: readonly Code[];
  readonly summary?: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly meta: Meta;
  /** Internal to the framework. */
  readonly handler: (inputs: never) => unknown;
  readonly [wire]?: Wire;
  readonly [sent]?: Sent;
  readonly [names]?: Names;
}

/** The declaration of a route. */
export interface Declaration<I extends Inputs, R extends Returns<never, unknown>, Codes extends readonly Code[]> {
  /** One line for the API document. */
  readonly summary?: string;
  /** A longer text for the API document. */
  readonly description?: string;
  readonly tags?: readonly string[];
  /** By the names that the handler uses. */
  readonly inputs?: I;
  readonly returns: R;
  /** The codes that the handler may refuse with, besides the framework's own. */
  readonly refuses?: Codes;
  readonly meta?: Meta;
}

type AnswerOf<R> = R extends Returns<infer A, unknown> ? A : never;
// A caller of a WebSocket's route gets only refusals.
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
    // Last, because an object literal that begins with a spread takes V8 seven times the time and memory.
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
  };
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
