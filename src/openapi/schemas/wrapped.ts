import type { Kind, Wrapper } from "../../shapes/kind.ts";
import { compile } from "../../shapes/read/compile.ts";
import { isJson, orNull } from "./schema.ts";
import type { Describer, Schema } from "./schema.ts";

/** Shapes that let a value be absent or null, or take that back. Whether it may be absent is its object's to say. */
export function wrapped(shape: Wrapper, at: string, describer: Describer): Schema {
  const { direction } = describer;
  const inner = describer.describe(shape.wrapped, at);
  switch (shape.type) {
    case "optional":
    case "exact_optional":
      // A caller may say null for what is not there.
      return direction === "input" ? withDefault(shape, nullable(shape.wrapped, inner)) : inner;
    case "undefinedable":
      return inner;
    case "nullable":
      // The default is written in the place of null.
      if (direction === "output" && instead(shape)) return inner;
      return nullable(shape.wrapped, inner);
    case "nullish":
      if (direction === "input") return withDefault(shape, nullable(shape.wrapped, inner));
      return instead(shape) ? inner : nullable(shape.wrapped, inner);
    case "non_optional":
      return direction === "input" ? there(shape.wrapped, at, describer, inner) : inner;
    default:
      return there(shape.wrapped, at, describer, inner);
  }
}

/** Whether an object of the shape may lack a member of this one. */
export function mayBeAbsent(shape: Kind, describer: Describer): boolean {
  return describer.direction === "input" ? mayBeUnsent(shape) : mayBeUnwritten(shape);
}

/** As the reader has it. */
function mayBeUnsent({ type, fallback }: Kind): boolean {
  return fallback !== undefined || type === "optional" || type === "exact_optional" || type === "nullish";
}

/** Whether the writer may leave it out. */
function mayBeUnwritten(shape: Kind): boolean {
  const last = shape.pipe?.findLast((item) => item.kind === "schema");
  if (last !== undefined && last !== shape) return mayBeUnwritten(last);
  switch (shape.type) {
    case "optional":
    case "exact_optional":
    case "undefinedable":
    case "nullish":
      return shape.default === undefined;
    case "nullable":
      return shape.default === undefined && mayBeUnwritten(shape.wrapped);
    case "non_nullable":
      return mayBeUnwritten(shape.wrapped);
    case "union":
      return shape.options.some(mayBeUnwritten);
    case "lazy":
      return shape.getter.length === 0 && mayBeUnwritten(shape.getter(undefined));
    case "never":
    case "undefined":
    case "void":
      return true;
    default:
      return false;
  }
}

/** The default of a member that may be absent, where JSON can say it. */
export function withDefault(shape: { readonly default?: unknown }, schema: Schema): Schema {
  const given = shape.default;
  return given === undefined || typeof given === "function" || !isJson(given) ? schema : { ...schema, default: given };
}

function instead(shape: Wrapper): boolean {
  return shape.default !== undefined && shape.default !== null;
}

function nullable(inner: Kind, schema: Schema): Schema {
  return takesNull(inner) ? schema : orNull(schema);
}

function takesNull(shape: Kind): boolean {
  return shape.fallback === undefined && compile(shape).sorts().includes("null");
}

/** A value that is neither absent nor null. */
function there(inner: Kind, at: string, describer: Describer, schema: Schema): Schema {
  if (inner.pipe === undefined && "wrapped" in inner && !inner.type.startsWith("non_")) {
    return there(inner.wrapped, at, describer, describer.describe(inner.wrapped, at));
  }
  return takesNull(inner) ? { allOf: [schema, { not: { type: "null" } }] } : schema;
}
