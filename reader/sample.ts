/** A value that a schema takes, to begin a body with. */
import { fieldsOf, listOf, schemaOf, textOf } from "./document.ts";
import type { Schema } from "./document.ts";
import { choicesOf, refName } from "./schema-text.ts";

type Resolve = (schema: Schema) => Schema;

interface Walk {
  readonly resolve: Resolve;
  /** The names of the components that this value is in. */
  readonly within: readonly string[];
  /** Values left, so that a wide schema ends too. */
  readonly budget: { left: number };
}

const maxDepth = 8;
const maxValues = 300;

/** Stops at a component within itself: such a member is left out, and such a list is empty. */
export function sampleOf(schema: Schema, resolve: Resolve): unknown {
  return valueOf(schema, { resolve, within: [], budget: { left: maxValues } });
}

function valueOf(given: Schema, walk: Walk): unknown {
  const name = refName(given);
  const schema = walk.resolve(given);
  if (walk.budget.left-- <= 0 || walk.within.length > maxDepth) return null;
  const inner = { ...walk, within: [...walk.within, name ?? ""] };
  const [example] = listOf(schema["examples"]);
  const known = example ?? schema["example"] ?? schema["default"] ?? schema["const"] ?? listOf(schema["enum"])[0];
  if (known !== undefined) return known;
  const choices = schema["properties"] === undefined ? choicesOf(schema) : [];
  const choice = choices.find((one) => !isWithinItself(one, inner));
  if (choices.length > 0) return choice === undefined ? null : valueOf(choice, inner);
  const all = listOf(schema["allOf"]).map(schemaOf);
  if (all.length > 0) return merged([...all, { ...schema, allOf: undefined }].map((one) => valueOf(one, inner)));
  const [type] = [schema["type"] ?? (schema["properties"] === undefined ? undefined : "object")].flat();
  return typed(textOf(type), schema, inner);
}

function merged(values: readonly unknown[]): unknown {
  const objects = values.map(fieldsOf).filter((fields) => Object.keys(fields).length > 0);
  return objects.length === 0 ? (values.find((value) => value !== null) ?? null) : Object.assign({}, ...objects);
}

function typed(type: string, schema: Schema, walk: Walk): unknown {
  switch (type) {
    case "object":
      return objectOf(schema, walk);
    case "array":
      return arrayOf(schema, walk);
    case "integer":
    case "number":
      return numberOf(schema);
    case "boolean":
      return true;
    case "string":
      return stringOf(schema);
    default:
      return null;
  }
}

function objectOf(schema: Schema, walk: Walk): unknown {
  const members = Object.entries(fieldsOf(schema["properties"])).flatMap(([name, value]) => {
    const member = schemaOf(value);
    if (member["readOnly"] === true || isWithinItself(member, walk) || walk.budget.left <= 0) return [];
    return [[name, valueOf(member, walk)] as const];
  });
  // As `Object.assign` would set the prototype by `__proto__`.
  return Object.fromEntries(members);
}

function isWithinItself(schema: Schema, { within }: Walk): boolean {
  const name = refName(schema);
  return name !== undefined && within.includes(name);
}

function arrayOf(schema: Schema, walk: Walk): unknown {
  const tuple = listOf(schema["prefixItems"]).map(schemaOf);
  if (tuple.length > 0) return tuple.map((one) => valueOf(one, walk));
  const items = schemaOf(schema["items"] ?? {});
  if (isWithinItself(items, walk) || schema["maxItems"] === 0) return [];
  return [valueOf(items, walk)];
}

function numberOf({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: Schema): number {
  if (typeof minimum === "number" && minimum > Number.MIN_SAFE_INTEGER) return minimum;
  if (typeof exclusiveMinimum === "number") return exclusiveMinimum + 1;
  const most = typeof maximum === "number" ? maximum : exclusiveMaximum;
  if (typeof most === "number" && most <= 0) return most - (most === exclusiveMaximum ? 1 : 0);
  return typeof multipleOf === "number" ? multipleOf : 1;
}

const byFormat: { readonly [format: string]: string } = {
  "date-time": "2026-01-31T12:00:00Z",
  date: "2026-01-31",
  time: "12:00:00Z",
  duration: "PT1H",
  uuid: "123e4567-e89b-42d3-a456-426614174000",
  email: "ada@example.com",
  uri: "https://example.com/",
  "uri-reference": "/",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  int64: "1",
};

function stringOf({ format, minLength, maxLength }: Schema): string {
  const known = Object.hasOwn(byFormat, textOf(format)) ? byFormat[textOf(format)] : undefined;
  if (known !== undefined) return known;
  const least = typeof minLength === "number" ? Math.min(minLength, 1000) : 0;
  return "text".padEnd(least, "t").slice(0, typeof maxLength === "number" ? Math.max(0, maxLength) : undefined);
}
