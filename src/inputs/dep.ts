import type { AnyCodec, Codec } from "../codecs/codec.ts";
import { Problem, invalidRefusal } from "../refusals.ts";
import type { Code, FrameworkCode, Refusal } from "../refusals.ts";
import type { Shape } from "../schema/valibot.ts";
import { recordOf } from "./request.ts";
import type { InputRequest, Need, RequestRecord } from "./request.ts";
import type { FieldNames } from "./text.ts";

/** A parameter of a path, whatever it reads. */
export interface AnyParam<out Name extends string = string> {
  readonly kind: "param";
  readonly name: Name;
  readonly codec: AnyCodec;
  /** A segment that does not parse means "not this route", where otherwise it is a 400. */
  readonly declines: boolean;
}

/** A segment read by a codec. Made once, and used in every path and route that has it. */
export interface Param<out Name extends string, in out A, out Sent = unknown> extends AnyParam<Name> {
  readonly codec: Codec<A, Sent>;
}

/** Every segment that is left. */
export interface Rest<out Name extends string = string> {
  readonly kind: "rest";
  readonly name: Name;
}

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
  readonly compile?: (place: Place, from: readonly number[]) => ReadInput;
  /** A check of the first stage for what is read in the second: a body's content type. */
  readonly before?: (place: Place) => InputCheck;
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
export type ReadInput = (asked: InputRequest, values: readonly unknown[], reading: Reading) => unknown;
export type InputCheck = (asked: InputRequest) => unknown;

/** Several inputs as one: a record of their values. */
export function all<const I extends Inputs>(inputs: I): Dep<Values<I>, RefusesOf<I>, WireOf<I>> {
  return { node: { from: Object.values(inputs), compile: (_place, from) => record(Object.keys(inputs), from) } };
}

/** The record of several inputs' values. */
function record(
  names: readonly string[],
  from: readonly number[],
): (asked: InputRequest, values: readonly unknown[]) => Record<string, unknown> {
  return (_asked, values) => {
    const answer: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i++) answer[names[i] as string] = values[from[i] as number];
    return answer;
  };
}

/** The value given, always. */
export function constant<A>(value: A): Dep<A> {
  return { node: { from: [], constant: () => value } };
}

/** A value derived from another, where nothing can be wrong with it. */
export function map<A, B, R extends string, W>(dep: Dep<A, R, W>, f: (value: A) => B): Dep<B, R, W> {
  return { node: { from: [dep], compile: (_place, from) => reading(from, (value) => f(value as A)) } };
}

/**
 * A checked value: the block answers a value, a refusal from a code in `refuses`, or a {@link problem} (or {@link problems}),
 * told with every other problem of the request. A refusal ends the request at once.
 *
 * @example
 * ```ts
 * const page = Dep.join({ page: Query.default("page", Codec.int, 1) }, ({ page }) =>
 *   page < 1 ? Dep.problem({ at: "query.page", code: "too_small", message: "This must be at least 1." }) : page);
 * ```
 */
export function join<const I extends Inputs, B = never, const Codes extends readonly Code[] = readonly []>(
  inputs: I,
  block: (values: Values<I>) => Awaitable<B | Refusal<Names<Codes> | FrameworkCode> | Problem>,
  options?: { readonly refuses?: Codes },
): Dep<Exclude<B, Problem>, Names<Codes> | RefusesOf<I>, WireOf<I>> {
  return {
    node: {
      from: Object.values(inputs),
      ...(options?.refuses === undefined ? {} : { codes: options.refuses }),
      compile: (_place, from) => {
        const values = record(Object.keys(inputs), from);
        return (asked, read) => block(values(asked, read) as Values<I>);
      },
    },
  };
}

/** An input that is not what it should be, for a `Dep.join` to answer. The message goes to the client as it is. */
export function problem(problem: { readonly at: string; readonly code: string; readonly message: string }): Problem {
  return new Problem(problem.at, problem.code, problem.message);
}

/** Several inputs that are not what they should be, told together; at least one. */
export function problems(problems: readonly Problem[]): Refusal<"invalid"> {
  if (problems.length === 0) throw new Error("Dep.problems: there is no problem to tell");
  return invalidRefusal(problems);
}

/** Always refuses: a route switched off. */
export function refuse<const Name extends string>(refusal: Refusal<Name>): Dep<never, Name> {
  return { node: { from: [], codes: [refusal.code], compile: () => () => refusal } };
}

/**
 * Marks an input as proving who asks, for the API document: its scheme is listed there in place of what it reads. One
 * that reads `authorization` is of the HTTP scheme of that name (`"bearer"`), any other a key where it is read.
 *
 * @param options `doc` is what the document says of the scheme.
 */
export function credential<A, R extends string, W>(
  scheme: string,
  dep: Dep<A, R, W>,
  options: { readonly doc?: string } = {},
): Dep<A, R, W> {
  const credential = { scheme, ...options };
  return { node: { from: [dep], credential, compile: (_place, from) => reading(from, (value) => value) } };
}

/** Runs at every use, where any other dependency runs once a request. What it is made from is shared as ever. */
export function uncached<A, R extends string, W>(dep: Dep<A, R, W>): Dep<A, R, W> {
  const node: DepNode = { ...dep.node, uncached: true };
  return { node };
}

function reading(from: readonly number[], f: (value: unknown) => unknown): ReadInput {
  const [slot = 0] = from;
  return (_asked, values) => f(values[slot]);
}

/**
 * Needs one value to decide what to read next. What that is cannot be known before, so it is opaque to the API
 * document, and a path parameter it reads is checked only when the request comes.
 */
export function bind<A, B, R extends string, Q extends string, W, X>(
  dep: Dep<A, R, W>,
  next: (value: A) => Dep<B, Q, X>,
): Dep<B, R | Q, W> {
  const compile = (_place: Place, [slot = 0]: readonly number[]): ReadInput => {
    const asker = {};
    return (_asked, values, reading) => reading.late(asker, () => next(values[slot] as A));
  };
  return { node: { from: [dep], opaque: true, binds: true, compile } };
}

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

/**
 * Reads what no built-in reads. It is opaque to the API document unless `needs` says what it reads; `refuses` lists
 * the codes it may answer with.
 */
export function ofRequest<A = never, const Codes extends readonly Code[] = readonly []>(
  read: (request: RequestRecord) => Awaitable<A | Refusal<Names<Codes> | FrameworkCode> | Problem>,
  options: { readonly needs?: readonly Need[]; readonly refuses?: Codes } = {},
): Dep<Exclude<A, Problem>, Names<Codes>> {
  return {
    node: {
      from: [],
      ...(options.needs === undefined ? { opaque: true } : { needs: options.needs }),
      ...(options.refuses === undefined ? {} : { codes: options.refuses }),
      compile: () => (asked) => read(recordOf(asked)),
    },
  };
}

/** The whole request record. Opaque to the API document. */
export const request: Dep<RequestRecord> = { node: { from: [], opaque: true, compile: () => recordOf } };
