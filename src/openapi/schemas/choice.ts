import type { Choice, Kind, Variant } from "../../shapes/kind.ts";
import { tagsOf } from "../../shapes/read/tag.ts";
import type { Describer, Schema } from "./schema.ts";
import { words } from "./words.ts";

/** A value of several shapes. */
export function union(shape: Choice, at: string, describer: Describer): Schema {
  const known = wordsOf(shape.options);
  if (known !== undefined) return words(known);
  // What is absent is no JSON: whether it may be is said where the member is.
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

/** A value of every one of several shapes. */
export function intersection(shape: Choice, at: string, describer: Describer): Schema {
  return { allOf: shape.options.map((option) => describer.describe(option, at)) };
}

/** A tagged union: one of its objects and no other, where each tag is of one object. */
export function variant(shape: Variant, at: string, describer: Describer): Schema {
  const schemas = shape.options.map((option) => describer.describe(option, at));
  const tags = shape.options.map((option) => tagsOf(option, shape.key));
  const known = tags.flat();
  if (tags.includes("open") || new Set(known).size < known.length) return { anyOf: schemas };
  return { oneOf: schemas, ...discriminator(shape.key, tags as readonly (readonly unknown[])[], schemas) };
}

/** OpenAPI's own word for a tag, which points at components and so has none for objects without a name. */
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
