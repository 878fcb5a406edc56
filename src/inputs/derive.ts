import type { Code } from "../refusals/code.ts";
import type { FrameworkCode } from "../refusals/framework-codes.ts";
import { Problem } from "../refusals/problem.ts";
import { invalidRefusal } from "../refusals/refusal.ts";
import type { Refusal } from "../refusals/refusal.ts";
import type { Asked } from "./asked.ts";
import type { Awaitable, Dep, DepNode, Inputs, Names, Read, RefusesOf, Values, WireOf } from "./dep.ts";

/** Several inputs as one: a record of their values. */
export function all<const I extends Inputs>(inputs: I): Dep<Values<I>, RefusesOf<I>, WireOf<I>> {
  return { node: { from: Object.values(inputs), compile: (_place, from) => record(Object.keys(inputs), from) } };
}

/** The record of several inputs' values. */
function record(
  names: readonly string[],
  from: readonly number[],
): (asked: Asked, values: readonly unknown[]) => Record<string, unknown> {
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

function reading(from: readonly number[], f: (value: unknown) => unknown): Read {
  const [slot = 0] = from;
  return (_asked, values) => f(values[slot]);
}
