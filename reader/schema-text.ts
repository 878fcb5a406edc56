/** A schema in a few words: its type and its rules. */
import { fieldsOf, listOf, memberOf, schemaOf, textOf } from "./document.ts";
import type { Schema } from "./document.ts";

/** The name of the component that a `$ref` leads to. */
export function refName(schema: Schema): string | undefined {
  const ref = memberOf(schema, "$ref");
  return typeof ref === "string" ? ref.slice(ref.lastIndexOf("/") + 1) : undefined;
}

/** The schemas of `oneOf` and `anyOf`. */
export function choicesOf(schema: Schema): readonly Schema[] {
  return [...listOf(schema["oneOf"]), ...listOf(schema["anyOf"])].map(schemaOf);
}

// Deeper types are shown where they are opened.
const maxDepth = 3;

/** As `string`, `Order[]`, `integer | null`. */
export function typeText(schema: Schema, depth = 0): string {
  const name = refName(schema);
  if (name !== undefined) return name;
  if ("const" in schema) return jsonText(schema["const"]);
  const choices = choicesOf(schema);
  if (choices.length > 0) return depth >= maxDepth ? "any" : unionOf(choices.map((one) => typeText(one, depth + 1)));
  const types = [schema["type"]].flat().filter((type) => typeof type === "string");
  if (types.length === 0) return untyped(schema, depth);
  return unionOf(types.map((type) => (type === "array" ? listText(schema, depth) : plainText(type, schema, depth))));
}

function untyped(schema: Schema, depth: number): string {
  const enums = listOf(schema["enum"]);
  if (enums.length > 0) return unionOf(enums.slice(0, 8).map(jsonText));
  if ("properties" in schema) return "object";
  if ("items" in schema || "prefixItems" in schema) return listText(schema, depth);
  const all = listOf(schema["allOf"]).map(schemaOf);
  if (all.length > 0 && depth < maxDepth) return all.map((one) => typeText(one, depth + 1)).join(" & ");
  const { not } = schema;
  return not !== undefined && Object.keys(fieldsOf(not)).length === 0 ? "never" : "any";
}

function plainText(type: string, schema: Schema, depth: number): string {
  if (type === "string" && isBinary(schema)) return "file";
  const more = schema["additionalProperties"];
  if (type !== "object" || "properties" in schema || Object.keys(fieldsOf(more)).length === 0) return type;
  return depth >= maxDepth ? "map" : `map of ${typeText(fieldsOf(more), depth + 1)}`;
}

export function isBinary(schema: Schema): boolean {
  const media = textOf(schema["contentMediaType"]);
  return schema["format"] === "binary" || (media !== "" && !/json|^text\//.test(media));
}

function listText(schema: Schema, depth: number): string {
  if (depth >= maxDepth) return "array";
  const tuple = listOf(schema["prefixItems"]).map(schemaOf);
  if (tuple.length > 0) return `[${tuple.map((one) => typeText(one, depth + 1)).join(", ")}]`;
  const item = typeText(schemaOf(schema["items"] ?? {}), depth + 1);
  return item.includes(" ") ? `(${item})[]` : `${item}[]`;
}

function unionOf(texts: readonly string[]): string {
  const all = [...new Set(texts)];
  return all.length > 8 ? `${all.slice(0, 7).join(" | ")} | …` : all.join(" | ");
}

export function jsonText(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}

/** The bounds, formats and words of a schema, each a short text. */
export function rulesOf(schema: Schema): readonly string[] {
  const enums = listOf(schema["enum"]);
  const has = (keyword: string, text: (value: unknown) => string) =>
    schema[keyword] === undefined ? [] : [text(schema[keyword])];
  return [
    ...has("title", textOf),
    ...has("format", textOf),
    ...(schema["type"] === undefined || enums.length === 0 ? [] : [`one of ${enums.map(jsonText).join(", ")}`]),
    ...rangeOf(schema),
    ...countOf(schema, "minLength", "maxLength", "character"),
    ...countOf(schema, "minItems", "maxItems", "item"),
    ...countOf(schema, "minProperties", "maxProperties", "member"),
    ...(schema["uniqueItems"] === true ? ["no two alike"] : []),
    ...has("multipleOf", (value) => `a multiple of ${jsonText(value)}`),
    ...has("pattern", (value) => `matches ${textOf(value)}`),
    ...has("default", (value) => `default ${jsonText(value)}`),
    ...(schema["readOnly"] === true ? ["read only"] : []),
    ...(schema["writeOnly"] === true ? ["write only"] : []),
  ];
}

// The bounds of a safe integer say nothing that `integer` does not.
const silent = new Set<unknown>([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]);

function rangeOf(schema: Schema): readonly string[] {
  const bounds = [
    ["≥", schema["minimum"]],
    [">", schema["exclusiveMinimum"]],
    ["≤", schema["maximum"]],
    ["<", schema["exclusiveMaximum"]],
  ] as const;
  return bounds.flatMap(([sign, bound]) =>
    typeof bound === "number" && !silent.has(bound) ? [`${sign} ${bound}`] : [],
  );
}

function countOf(schema: Schema, min: string, max: string, unit: string): readonly string[] {
  const [least, most] = [schema[min], schema[max]];
  const units = (count: unknown) => `${jsonText(count)} ${unit}${count === 1 ? "" : "s"}`;
  if (least !== undefined && least === most) return [units(least)];
  if (typeof least === "number" && least > 0 && most !== undefined) return [`${least} to ${units(most)}`];
  if (most !== undefined) return [`at most ${units(most)}`];
  return typeof least === "number" && least > 0 ? [`at least ${units(least)}`] : [];
}
