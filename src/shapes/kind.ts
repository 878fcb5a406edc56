import type { Shape } from "./shape.ts";

/** An author's own words for what is wrong: Valibot takes a text, or a function of its issue. */
type Message = string | ((issue: never) => string) | undefined;

/** What the compilers look at in a part of a Valibot schema; Valibot's own types say the same with more parameters. */
interface Part {
  readonly async: boolean;
  readonly message?: Message;
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
  readonly path?: readonly { readonly key: unknown; readonly origin: string }[];
}

interface Schema<Type extends string> extends Part {
  readonly kind: "schema";
  readonly type: Type;
  readonly expects: string;
  readonly pipe?: readonly [Kind, ...(Kind | Action)[]];
  readonly fallback?: unknown;
}
export interface Scalar extends Schema<"string" | "number" | "boolean" | "null"> {}
export interface Words extends Schema<"picklist" | "enum"> {
  readonly options: readonly unknown[];
}
export interface Literal extends Schema<"literal"> {
  readonly literal: unknown;
}
export interface ObjectKind extends Schema<"object" | "loose_object" | "strict_object" | "object_with_rest"> {
  readonly entries: { readonly [name: string]: Kind };
  readonly rest?: Kind;
}
export interface RecordKind extends Schema<"record"> {
  readonly key: Kind;
  readonly value: Kind;
}
export interface ListKind extends Schema<"array"> {
  readonly item: Kind;
}
export interface TupleKind extends Schema<"tuple" | "loose_tuple" | "strict_tuple" | "tuple_with_rest"> {
  readonly items: readonly Kind[];
  readonly rest?: Kind;
}
export interface Wrapper extends Schema<
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
export interface Choice extends Schema<"union" | "intersect"> {
  readonly options: readonly Kind[];
}
export interface Variant extends Schema<"variant"> {
  readonly key: string;
  readonly options: readonly Kind[];
}
export interface Lazy extends Schema<"lazy"> {
  readonly getter: (value: unknown) => Kind;
}
export interface Other extends Schema<
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
  | Words
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

/** What stands behind the first schema of a pipe. */
export interface Action extends Part {
  readonly kind: "validation" | "transformation" | "metadata";
  readonly type: string;
  readonly requirement?: unknown;
}

/** A shape as the compilers see it. */
export function kindOf(shape: Shape): Kind {
  return shape as unknown as Kind;
}
