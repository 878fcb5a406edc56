import type { AnyCodec } from "../codecs/codec.ts";
import type { Code } from "../refusals/code.ts";
import type { AnyParam, Rest } from "../routes/path.ts";
import type { Shape } from "../shapes/shape.ts";
import type { Asked, Need } from "./asked.ts";
import type { FieldNames } from "./query-text.ts";

/** A value, or a promise of it. */
export type Awaitable<A> = A | Promise<A>;

declare const value: unique symbol;
declare const refuses: unique symbol;
declare const wire: unique symbol;

/**
 * An input: what it reads is known without running it. One value defined once is read once a request, however many
 * others use it. `Refuses` names the codes it may answer with; `Wire` is what a caller sends for it
 * (`{ path, query, headers, form, json, body }`, each as far as it is read).
 */
export interface Dep<out A, out Refuses extends string = never, out Wire = {}> {
  /** For the framework alone. */
  readonly node: DepNode;
  readonly [value]?: A;
  // As a function's answer, `never` is told from what is merely absent, without `exactOptionalPropertyTypes` too.
  readonly [refuses]?: () => Refuses;
  readonly [wire]?: Wire;
}

/** An input of any kind. */
export type AnyDep = Dep<unknown, string, unknown>;

/** Inputs by the name the handler knows them by. */
export interface Inputs {
  readonly [name: string]: AnyDep;
}
export type Values<I> = { readonly [K in keyof I]: I[K] extends Dep<infer A, string, unknown> ? A : never };
type All<Union> = (Union extends unknown ? (u: Union) => void : never) extends (i: infer I) => void ? I : never;
export type WireOf<I> = {} & All<{ [K in keyof I]: I[K] extends Dep<unknown, string, infer W> ? W : never }[keyof I]>;
export type RefusesOf<I> = { [K in keyof I]: I[K] extends Dep<unknown, infer R, unknown> ? R : never }[keyof I];
export type Names<Codes extends readonly Code[]> = Codes[number]["name"];

/** How a route's body is read: one body, one way. */
export type BodyNeed =
  | { readonly as: "json"; readonly shape: Shape; readonly examples: readonly unknown[] }
  | { readonly as: "bytes"; readonly contentTypes?: readonly string[] }
  | { readonly as: "form" }
  | { readonly as: "stream"; readonly max: number; readonly contentTypes?: readonly string[] }
  | { readonly as: "multipart"; readonly max: number; readonly maxHead: number };

/** What one text input reads, for the checks and the API document. */
export interface TextNeed {
  readonly in: "path" | "query" | "header" | "cookie" | "form";
  readonly name: string;
  readonly required: boolean;
  readonly repeated: boolean;
  readonly codec: AnyCodec;
  /** Which of a path's parameters it is: one of the same name is another. */
  readonly parameter?: AnyParam | Rest;
  /** Printed. */
  readonly default?: string;
  /** Only whether it is sent counts. */
  readonly checked?: true;
}

/** What a file input reads. */
export interface FileNeed {
  readonly in: "file";
  readonly name: string;
  readonly required: boolean;
  readonly repeated: boolean;
}

/** An input as the framework handles it. */
export interface DepNode {
  /** What it is made from, in the order it is read. */
  readonly from: readonly AnyDep[];
  readonly need?: TextNeed | FileNeed;
  /** What an application's own reader says it reads. */
  readonly needs?: readonly Need[];
  readonly codes?: readonly Code[];
  readonly body?: BodyNeed;
  /** Where the input proves who asks: the scheme's name in the API document, and what it is. */
  readonly credential?: { readonly scheme: string; readonly doc?: string };
  /** Reads what cannot be known before: the API document says less than is read. */
  readonly opaque?: boolean;
  /** Which inputs it reads besides, a body's among them, is known only when the request comes. */
  readonly binds?: boolean;
  /** Read at every use. */
  readonly uncached?: boolean;
  readonly resource?: string;
  /** What is wrong with how it was declared, said behind the route's name. */
  readonly check?: () => readonly string[];
  /** Known when the app is made: nothing is read. */
  readonly constant?: (place: Place) => unknown;
  /** Made once for each route. `from` answers where each of the node's own inputs is found among the values. */
  readonly compile?: (place: Place, from: readonly number[]) => Read;
  /** A check of the first stage for what is read in the second: a body's content type. */
  readonly before?: (place: Place) => Check;
}

/** Where an input is compiled: what it may need to know of its route and its application. */
export interface Place {
  /** `GET /orders/{order_id}`, for messages. */
  readonly route: string;
  /** Which of the captured segments a path parameter took; `"another"` where one of the same name has its place. */
  captured(parameter: AnyParam | Rest): number | "another" | undefined;
  /** The fields that the route reads of its query, and of its form. */
  readonly query: FieldNames;
  readonly form: FieldNames;
  resource(name: string): unknown;
}

/** The inputs of one request while they are read. */
export interface Reading {
  readonly values: unknown[];
  /** Reads the input that `next` answers by its identity, like any other; `next` is called once for each `asker`. */
  late(asker: object, next: () => AnyDep): Promise<unknown>;
}

/** Answers a value, a `Refusal`, a `Problem`, or a promise of one of them. `values` holds what was read before. */
export type Read = (asked: Asked, values: readonly unknown[], reading: Reading) => unknown;
export type Check = (asked: Asked) => unknown;
