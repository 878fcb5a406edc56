import type { Kind, ListKind, ObjectKind, RecordKind, TupleKind } from "../../shapes/kind.ts";
import { orNull } from "./schema.ts";
import type { Describer, Schema } from "./schema.ts";
import { mayBeAbsent, withDefault } from "./wrapped.ts";

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

/** An object of any names. */
export function record(shape: RecordKind, at: string, describer: Describer): Schema {
  const names = describer.describe(shape.key, `${at}[name]`);
  const plain = Object.keys(names).length === 1 && names["type"] === "string";
  return {
    type: "object",
    additionalProperties: describer.describe(shape.value, `${at}.*`),
    ...(plain ? {} : { propertyNames: names }),
  };
}

export function list(shape: ListKind, at: string, describer: Describer): Schema {
  return { type: "array", items: item(shape.item, `${at}[]`, describer) };
}

export function tuple(shape: TupleKind, at: string, describer: Describer): Schema {
  const { items, rest, type } = shape;
  const least = items.findLastIndex((one) => !mayBeAbsent(one, describer)) + 1;
  return {
    type: "array",
    ...(items.length === 0 ? {} : { prefixItems: items.map((one, index) => item(one, `${at}[${index}]`, describer)) }),
    ...(rest === undefined ? {} : { items: item(rest, `${at}[]`, describer) }),
    minItems: least,
    ...(rest === undefined && type !== "loose_tuple" ? { maxItems: items.length } : {}),
  };
}

/** A place in a list cannot be left out: what is absent there is written as null. */
function item(shape: Kind, at: string, describer: Describer): Schema {
  const schema = describer.describe(shape, at);
  return describer.direction === "output" && mayBeAbsent(shape, describer) ? orNull(schema) : schema;
}
