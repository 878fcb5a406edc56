import { needsSchema, needsText } from "../arguments.ts";
import { getGlobalConfig } from "valibot";
import type { GenericSchema } from "valibot";
import type { AnyStandard, StandardSchema } from "./standard.ts";
import { ClientSentence } from "./messages.ts";
import type { Sentence, Sort } from "./messages.ts";

/** A JSON shape: a Valibot schema that reads, validates, describes and writes one type of value. */
export type Shape<A = unknown, Json = unknown> = GenericSchema<Json, A>;

/** Any shape, as little of it as tells it from other schemas: to check no more costs the compiler less. */
export interface AnyShape {
  readonly "~run": unknown;
  readonly "~types"?: { readonly input: unknown; readonly output: unknown } | undefined;
}

/** The value that a shape reads and writes. */
// Conditional: of a type parameter, the member alone would accept any value.
export type ValueOf<S extends AnyShape> = S extends unknown ? NonNullable<S["~types"]>["output"] : never;

/** The value's JSON form, which a client sends and gets. */
export type JsonOf<S extends AnyShape> = NonNullable<S["~types"]>["input"];

/** A value as it is written: also with readonly members and lists, in depth. */
export type Written<A> =
  | A
  | (A extends readonly unknown[]
      ? { readonly [K in keyof A]: Written<A[K]> }
      : A extends Date | Uint8Array | string | number | bigint | boolean | null | undefined
        ? never
        : { readonly [K in keyof A]: Written<A[K]> });

/** The problem of an invalid value. */
export class InvalidValue {
  readonly code: string;
  readonly message: string;

  constructor(code: string, message: string) {
    this.code = code;
    this.message = message;
  }
}

/** A type of value that JSON does not have: how it is read, written and described. */
export interface BuiltIn {
  readonly sorts: readonly Sort[];
  readonly expected: readonly string[];
  readonly read: (value: unknown) => unknown;
  /** The value as JSON, a 64-bit number as a bigint; `undefined` for an invalid value. */
  readonly write: (value: unknown) => string | bigint | undefined;
  /** What the value must be, for errors while writing. */
  readonly writes: string;
  readonly type: "string" | "integer";
  readonly format: string;
}

// Keyed by the pipe's list, which schemas derived by Valibot's methods share.
const builtIns = new WeakMap<object, BuiltIn>();

export function rememberBuiltIn(shape: Kind, builtIn: BuiltIn): void {
  if (shape.pipe !== undefined) builtIns.set(shape.pipe, builtIn);
}

/** The built-in type of a schema, if it is one. */
export function builtInOf(shape: Kind): BuiltIn | undefined {
  return shape.pipe === undefined ? undefined : builtIns.get(shape.pipe);
}

/** An author's message: Valibot takes a text, or a function of its issue. */
type AnyMessageOption = string | ((issue: never) => string) | undefined;

/** The part of a Valibot schema that the compilers use; Valibot's own types have more parameters. */
interface ShapePart {
  readonly async: boolean;
  readonly message?: AnyMessageOption;
  readonly "~run": (dataset: Dataset, config: object) => Dataset;
}
export interface Dataset {
  typed?: boolean;
  value: unknown;
  issues?: readonly Issue[];
}
export interface Issue {
  readonly kind: string;
  readonly type: string;
  readonly expected: string | null;
  readonly received: string;
  readonly requirement?: unknown;
  readonly message: string;
  /** Of `v.setGlobalConfig`. */
  readonly lang?: string | undefined;
  readonly path?: readonly { readonly key: unknown; readonly origin: string }[];
}

interface AnySchema<Type extends string> extends ShapePart {
  readonly kind: "schema";
  readonly type: Type;
  readonly expects: string;
  readonly pipe?: readonly [Kind, ...(Kind | Action)[]];
  readonly fallback?: unknown;
}
export interface Scalar extends AnySchema<"string" | "number" | "boolean" | "null"> {}
export interface EnumKind extends AnySchema<"picklist" | "enum"> {
  readonly options: readonly unknown[];
}
export interface Literal extends AnySchema<"literal"> {
  readonly literal: unknown;
}
export interface ObjectKind extends AnySchema<"object" | "loose_object" | "strict_object" | "object_with_rest"> {
  readonly entries: { readonly [name: string]: Kind };
  readonly rest?: Kind;
}
export interface RecordKind extends AnySchema<"record"> {
  readonly key: Kind;
  readonly value: Kind;
}
export interface ListKind extends AnySchema<"array"> {
  readonly item: Kind;
}
export interface TupleKind extends AnySchema<"tuple" | "loose_tuple" | "strict_tuple" | "tuple_with_rest"> {
  readonly items: readonly Kind[];
  readonly rest?: Kind;
}
export interface Wrapper extends AnySchema<
  | "optional"
  | "exact_optional"
  | "nullable"
  | "nullish"
  | "undefinedable"
  | "non_optional"
  | "non_nullable"
  | "non_nullish"
> {
  readonly wrapped: Kind;
  readonly default?: unknown;
}
export interface Choice extends AnySchema<"union" | "intersect"> {
  readonly options: readonly Kind[];
}
export interface Variant extends AnySchema<"variant"> {
  readonly key: string;
  readonly options: readonly Kind[];
}
export interface Lazy extends AnySchema<"lazy"> {
  readonly getter: (value: unknown) => Kind;
}
export interface Other extends AnySchema<
  | "any"
  | "unknown"
  | "never"
  | "undefined"
  | "void"
  | "custom"
  | "promise"
  | "function"
  | "map"
  | "set"
  | "instance"
  | "bigint"
  | "date"
  | "symbol"
  | "nan"
  | "blob"
  | "file"
> {}

/** A Valibot schema, by its kind. */
export type Kind =
  | Scalar
  | EnumKind
  | Literal
  | ObjectKind
  | RecordKind
  | ListKind
  | TupleKind
  | Wrapper
  | Choice
  | Variant
  | Lazy
  | Other;

/** A step after the first schema of a pipe. */
export interface Action extends ShapePart {
  readonly kind: "validation" | "transformation" | "metadata";
  readonly type: string;
  readonly requirement?: unknown;
  /** Of `v.parseJson`. */
  readonly config?: { readonly reviver?: unknown };
}

/** A shape as the compilers see it. */
export function kindOf(shape: AnyStandard): Kind {
  return shape as unknown as Kind;
}

/** The parts of a pipe: `v.pipe(v.pipe(a, b), c)` is `v.pipe(a, b, c)`, if the inner pipe has no fallback. */
export function flattened(shape: Kind): [Kind, ...(Kind | Action)[]] {
  const [first, ...behind] = shape.pipe ?? [shape];
  if (first.pipe === undefined || first.fallback !== undefined || builtInOf(first) !== undefined) {
    return [first, ...behind];
  }
  return [...flattened(first), ...behind];
}

/** The action that requires a whole number, if it precedes any change of the value. */
export function wholeBy(first: Kind, behind: readonly (Kind | Action)[]): Action | undefined {
  if (first.type !== "number" || first.pipe !== undefined || first.fallback !== undefined) return undefined;
  for (const item of behind) {
    if (item.kind === "schema" || item.kind === "transformation") return undefined;
    if (item.type === "integer" || item.type === "safe_integer") return item;
  }
  return undefined;
}

const hints: { readonly [type: string]: string } = {
  bigint: "use Shape.int64",
  blob: "read it with Form.File, or from the body itself",
  date: "use Shape.instant, or Shape.date for a day",
  file: "read it with Form.File, or from the body itself",
  function: "JSON has no functions",
  instance: "JSON has no classes: give its members as v.object, and make the instance of them in the handler",
  map: "use v.record",
  nan: "JSON has no NaN",
  promise: "await the value and give the shape of the result",
  set: "use v.array",
  symbol: "JSON has no symbols: use v.picklist or v.literal",
};

/** A schema, or a member of one, that has no JSON. */
class NoJson extends Error {
  readonly #why: string;
  readonly #at: string | undefined;

  constructor(why: string, at?: string) {
    super(at === undefined ? why : `${why} It is at ${at}.`);
    this.#why = why;
    this.#at = at;
  }

  /** The same, of the schema that has it in the member `name`. */
  in(name: string): NoJson {
    return new NoJson(this.#why, this.#at === undefined ? name : `${name}.${this.#at}`);
  }
}

/** Throws that a schema is not one of JSON. */
export function refuseJson(why: string): never {
  throw new NoJson(why);
}

/**
 * What `compile` makes of a member. An error names the member, as all frames of its stack may be the framework's own.
 */
export function inMember<Made>(name: string, compile: () => Made): Made {
  try {
    return compile();
  } catch (error) {
    throw error instanceof NoJson ? error.in(name) : error;
  }
}

/** Refuses, when the app is made, a schema that has no JSON. */
export function refuseKind(shape: Kind): void {
  // Anything else would accept and write every value.
  if (typeof shape.type !== "string") refuseJson("A shape must be a schema of Valibot.");
  if (shape.async)
    refuseJson(
      `v.${shape.type} is asynchronous, and a shape must be synchronous: check in the handler or in Dep.join.`,
    );
  const hint = hints[shape.type];
  if (hint !== undefined && shape.pipe === undefined) refuseJson(`v.${shape.type} is not a shape of JSON: ${hint}.`);
  if ("entries" in shape && Object.keys(shape.entries).includes("__proto__")) {
    refuseJson(`v.${shape.type} declares a member named __proto__, which would change the object it is read into.`);
  }
  const words =
    shape.type === "literal" ? [shape.literal] : "options" in shape && shape.type !== "variant" ? shape.options : [];
  for (const word of words) {
    if (typeof word === "bigint" || typeof word === "symbol") {
      refuseJson(`v.${shape.type} holds a ${typeof word}, which is not a value of JSON: ${hints[typeof word]}.`);
    }
  }
}

/** Transformations that keep the sort of a value, so it is still JSON of the first schema's kind. */
export const keepsSort: ReadonlySet<string> = new Set([
  "brand",
  "filter_items",
  "flavor",
  "guard",
  "normalize",
  "readonly",
  "sort_items",
  "to_camel_case",
  "to_kebab_case",
  "to_lower_case",
  "to_max_value",
  "to_min_value",
  "to_pascal_case",
  "to_snake_case",
  "to_upper_case",
  "trim",
  "trim_end",
  "trim_start",
]);

/** Whether a pipe may make another value of what its first schema reads. */
export function makesAnother(shape: Kind): boolean {
  if ((shape.type === "variant" || shape.type === "union") && shape.options.some(makesAnother)) return true;
  const [, ...behind] = flattened(shape);
  return behind.some((item) => item.kind === "schema" || (item.kind === "transformation" && !keepsSort.has(item.type)));
}

/** Transformations that change only the type, not the value. */
export const changesNothing: ReadonlySet<string> = new Set(["brand", "flavor", "readonly"]);

/** The common changes of a text, without an object of Valibot for each. */
export const textChanges: ReadonlyMap<string, (text: string) => string> = new Map([
  ["to_lower_case", (text: string) => text.toLowerCase()],
  ["to_upper_case", (text: string) => text.toUpperCase()],
  ["trim", (text: string) => text.trim()],
  ["trim_end", (text: string) => text.trimEnd()],
  ["trim_start", (text: string) => text.trimStart()],
]);

/** The author's message if the part has one, otherwise the framework's sentence. */
export function authorMessage(part: Kind | Action, value: unknown, sentence: string): Sentence {
  if (part.message === undefined) return sentence;
  if (typeof part.message === "string") return part.message;
  // A message function takes Valibot's issue, which only Valibot can make.
  const [issue] = issuesOf(part, value);
  return issue === undefined ? sentence : (messageByAuthor(issue, part) ?? sentence);
}

/** Runs one part as Valibot would. Of several shapes none is tried again: nested ones would double the work at each level. */
function issuesOf(part: Kind | Action, value: unknown): readonly Issue[] {
  const alone = part.type === "union" || part.type === "intersect" ? { ...part, options: [] } : part;
  return alone["~run"]({ typed: true, value }, getGlobalConfig()).issues ?? [];
}

/** The message of an issue if its author wrote it: Valibot's own messages quote the value, so they must not be sent. */
export function messageByAuthor(issue: Issue, part: Kind | Action): Sentence | undefined {
  const { message, received, lang } = issue;
  const byValibot = message.startsWith("Invalid ") && message.endsWith(`eceived ${received}`);
  // Those of a language (`@valibot/i18n`) quote it too.
  const byLanguage = part.message === undefined && lang !== undefined && message.includes(received);
  if (byValibot || byLanguage) return undefined;
  return message === part.message ? message : new ClientSentence(message);
}

const names = new WeakMap<object, string>();

/**
 * Names a shape as a component of the API document, and returns the same shape.
 *
 * @throws Error if the shape already has another name.
 */
export function named<S extends AnyShape | StandardSchema>(name: string, shape: S): S {
  needsText("Shape.named: its name", name);
  needsSchema("Shape.named: its shape", shape);
  const before = names.get(shape);
  if (before !== undefined && before !== name) {
    throw new Error(
      `Shape.named: one shape cannot be both "${before}" and "${name}"; make a second one for the second name.`,
    );
  }
  names.set(shape, name);
  return shape;
}

/** The name of a shape, from {@link named}. */
export function shapeName(shape: object): string | undefined {
  return names.get(shape);
}
