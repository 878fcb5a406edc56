import { tagsOf } from "../schema/read-choice.ts";
import { mayEndBefore } from "../schema/read-container.ts";
import { compileRead } from "../schema/read.ts";
import { makesAnother } from "../schema/valibot.ts";
import { isLeftOut } from "../schema/write-container.ts";
import type { Choice, Kind, ListKind, ObjectKind, RecordKind, TupleKind, Variant, Wrapper } from "../schema/valibot.ts";
import { isJson, orNull } from "./schema-rules.ts";
import type { Describer, Direction, Schema } from "./schema-rules.ts";

export function literal(word: unknown): Schema {
  return { const: word };
}

/** An enum, whose words may be of several types. */
export function enumeration(all: readonly unknown[]): Schema {
  const distinct = [...new Set(all)];
  const types = new Set(distinct.map(wordType));
  const [type] = types;
  return { ...(types.size === 1 ? { type } : {}), enum: distinct };
}

function wordType(word: unknown): string {
  if (word === null) return "null";
  return typeof word;
}

export function union(shape: Choice, at: string, describer: Describer): Schema {
  const known = wordsOf(shape.options);
  if (known !== undefined) return enumeration(known);
  // An absent value is not JSON; the object's `required` describes it.
  const options = shape.options.filter(({ type }) => !["never", "undefined", "void"].includes(type));
  const schemas = options.map((option) => describer.describe(option, at));
  const [only] = schemas;
  if (only === undefined) return { not: {} };
  return schemas.length === 1 ? only : { anyOf: schemas };
}

function wordsOf(options: readonly Kind[]): readonly unknown[] | undefined {
  const all: unknown[] = [];
  for (const option of options) {
    if (option.pipe !== undefined) return undefined;
    if (option.type === "literal") all.push(option.literal);
    else if (option.type === "picklist" || option.type === "enum") all.push(...option.options);
    else return undefined;
  }
  return all.length === 0 ? undefined : all;
}

export function intersection(shape: Choice, at: string, describer: Describer): Schema {
  return { allOf: shape.options.map((option) => describer.describe(option, at)) };
}

/** A tagged union: `oneOf` if each tag belongs to one object, otherwise `anyOf`. */
export function variant(shape: Variant, at: string, describer: Describer): Schema {
  const schemas = shape.options.map((option) => describer.describe(option, at));
  const tags = shape.options.map((option) => tagsOf(option, shape.key));
  const known = tags.flat();
  // What an object is changed into may be any of the others.
  const isChanged = describer.direction === "output" && shape.options.some(makesAnother);
  if (isChanged || tags.includes("open") || new Set(known).size < known.length) return { anyOf: schemas };
  return { oneOf: schemas, ...discriminator(shape.key, tags as readonly (readonly unknown[])[], schemas) };
}

/** OpenAPI's `discriminator`. Its mapping refers to components, so every object must have a name. */
function discriminator(key: string, tags: readonly (readonly unknown[])[], schemas: readonly Schema[]): Schema {
  const mapping: [string, unknown][] = [];
  for (const [index, schema] of schemas.entries()) {
    const reference = schema["$ref"];
    if (reference === undefined) return {};
    for (const tag of tags[index] as readonly unknown[]) {
      if (typeof tag !== "string") return {};
      mapping.push([tag, reference]);
    }
  }
  return { discriminator: { propertyName: key, mapping: Object.fromEntries(mapping) } };
}

/** Shapes that allow or forbid null and absence. Absence is described by the object's `required`. */
export function wrapped(shape: Wrapper, at: string, describer: Describer): Schema {
  const { direction } = describer;
  const inner = describer.describe(shape.wrapped, at);
  switch (shape.type) {
    case "optional":
    case "exact_optional":
      return direction === "input" ? maybeSent(shape, inner) : inner;
    case "undefinedable":
      return inner;
    case "nullable":
      // The writer writes the default instead of null.
      if (direction === "output" && instead(shape)) return inner;
      return nullable(shape.wrapped, inner, direction);
    case "nullish":
      if (direction === "input") return maybeSent(shape, inner);
      return instead(shape) ? inner : nullable(shape.wrapped, inner, direction);
    case "non_optional":
      return direction === "input" ? sent(shape.wrapped, at, describer, inner) : inner;
    default:
      return there(shape.wrapped, at, describer, inner);
  }
}

/** Whether an object may lack a member of this shape. */
function mayBeAbsent(shape: Kind, describer: Describer): boolean {
  return describer.direction === "input" ? mayBeUnsent(shape) : mayBeUnwritten(shape);
}

/** The rule of the reader. */
function mayBeUnsent({ type, fallback }: Kind): boolean {
  return fallback !== undefined || type === "optional" || type === "exact_optional" || type === "nullish";
}

/** The rule of the writer. */
function mayBeUnwritten(shape: Kind): boolean {
  if (isLeftOut(shape)) return true;
  const last = shape.pipe?.findLast((item) => item.kind === "schema");
  if (last !== undefined && last !== shape) return mayBeUnwritten(last);
  switch (shape.type) {
    case "undefinedable":
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

/** What a caller may leave out, and may send null for. The default of a shape within is then not read: `v.partial` makes such. */
function maybeSent(shape: Wrapper, inner: Schema): Schema {
  const schema = nullable(shape.wrapped, inner, "input");
  const { default: _unread, ...others } = schema;
  return withDefault(shape, "wrapped" in shape.wrapped ? others : schema);
}

/** Adds the default, if it is JSON. */
function withDefault(shape: { readonly default?: unknown }, schema: Schema): Schema {
  const given = shape.default;
  return given === undefined || typeof given === "function" || !isJson(given) ? schema : { ...schema, default: given };
}

/** Whether a default takes the place of null. One that a function makes may be null. */
function instead({ default: given }: Wrapper): boolean {
  return given !== undefined && given !== null && typeof given !== "function";
}

function nullable(inner: Kind, schema: Schema, direction: Direction): Schema {
  // What is read as null need not be written as null: it means an absent value, or a pipe changes it.
  return direction === "input" && takesNull(inner) ? schema : orNull(schema);
}

function takesNull(shape: Kind): boolean {
  return shape.fallback === undefined && compileRead(shape).sorts().includes("null");
}

/** Excludes the null that a caller may send for an absent value, and no other. */
function sent(inner: Kind, at: string, describer: Describer, schema: Schema): Schema {
  if (inner.type !== "optional" && inner.type !== "exact_optional" && inner.type !== "undefinedable") return schema;
  if (inner.pipe === undefined) return sent(inner.wrapped, at, describer, describer.describe(inner.wrapped, at));
  return takesNull(inner.wrapped) ? schema : { allOf: [schema, { not: { type: "null" } }] };
}

/** Excludes null. */
function there(inner: Kind, at: string, describer: Describer, schema: Schema): Schema {
  if (inner.pipe === undefined && "wrapped" in inner && !inner.type.startsWith("non_")) {
    return there(inner.wrapped, at, describer, describer.describe(inner.wrapped, at));
  }
  return takesNull(inner) ? { allOf: [schema, { not: { type: "null" } }] } : schema;
}

export function object(shape: ObjectKind, at: string, describer: Describer): Schema {
  const schema: Schema = { type: "object" };
  const entries = Object.entries(shape.entries);
  const properties = entries.map(([name, entry]) => [name, member(entry, `${at}.${name}`, describer)]);
  if (entries.length > 0) schema["properties"] = Object.fromEntries(properties);
  const required = entries.filter(([, entry]) => !mayBeAbsent(entry, describer)).map(([name]) => name);
  if (required.length > 0) schema["required"] = required;
  if (shape.type === "strict_object") schema["additionalProperties"] = false;
  if (shape.type === "loose_object") schema["additionalProperties"] = true;
  if (shape.rest !== undefined) schema["additionalProperties"] = describer.describe(shape.rest, `${at}.*`);
  return schema;
}

function member(entry: Kind, at: string, describer: Describer): Schema {
  const schema = describer.describe(entry, at);
  return describer.direction === "input" ? withDefault({ default: entry.fallback }, schema) : schema;
}

export function record(shape: RecordKind, at: string, describer: Describer): Schema {
  const names = describer.describe(shape.key, `${at}[name]`);
  // A name is a text in JSON, also one that is read as a number.
  const plain = ["number", "integer"].includes(names["type"] as string) || isPlainText(names);
  return {
    type: "object",
    additionalProperties: describer.describe(shape.value, `${at}.*`),
    ...(plain ? {} : { propertyNames: names }),
  };
}

function isPlainText(schema: Schema): boolean {
  return Object.keys(schema).length === 1 && schema["type"] === "string";
}

export function list(shape: ListKind, at: string, describer: Describer): Schema {
  return { type: "array", items: item(shape.item, `${at}[]`, describer) };
}

export function tuple(shape: TupleKind, at: string, describer: Describer): Schema {
  const { items, rest, type } = shape;
  const mayEnd = describer.direction === "input" ? mayEndBefore : mayBeUnwritten;
  const least = items.findLastIndex((one) => !mayEnd(one)) + 1;
  return {
    type: "array",
    ...(items.length === 0 ? {} : { prefixItems: items.map((one, index) => item(one, `${at}[${index}]`, describer)) }),
    ...(rest === undefined ? {} : { items: item(rest, `${at}[]`, describer) }),
    // Some generators of clients read `items`, and others `maxItems`.
    ...(rest === undefined && type !== "loose_tuple" ? { items: false } : {}),
    minItems: least,
    ...(rest === undefined && type !== "loose_tuple" ? { maxItems: items.length } : {}),
  };
}

/** An item of an array, or a value by itself: where it is absent, null is written. */
export function item(shape: Kind, at: string, describer: Describer): Schema {
  const schema = describer.describe(shape, at);
  return describer.direction === "output" && mayBeAbsent(shape, describer) ? orNull(schema) : schema;
}
