/** A schema in a few words: its type and its rules. */
import { counted } from "./counted.ts";
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
  const text = name ?? textWithin(schema, depth);
  // A document of OpenAPI 3.0 says it so.
  return schema["nullable"] === true && !text.endsWith("null") ? `${text} | null` : text;
}

function textWithin(schema: Schema, depth: number): string {
  if ("const" in schema) return jsonText(schema["const"]);
  const types = [schema["type"]].flat().filter((type) => typeof type === "string");
  const choices = choicesOf(schema);
  if (choices.length > 0 && depth >= maxDepth) return "any";
  const texts = choices.map((one) => typeText(one, depth + 1));
  // An alternative may say only which members are needed.
  if (texts.length > 0 && (types.length === 0 || !texts.includes("any"))) return unionOf(texts);
  if (types.length === 0) return untyped(schema, depth);
  return unionOf(types.map((type) => (type === "array" ? listText(schema, depth) : plainText(type, schema, depth))));
}

function untyped(schema: Schema, depth: number): string {
  const enums = listOf(schema["enum"]);
  if (enums.length > 8) return unionOf(enums.map((word) => (word === null ? "null" : typeof word)));
  if (enums.length > 0) return unionOf(enums.map((word) => jsonText(word)));
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
  const hasNames = Object.keys(fieldsOf(schema["properties"])).length > 0;
  if (type !== "object" || hasNames || Object.keys(fieldsOf(more)).length === 0) return type;
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

export function jsonText(value: unknown, most = 200): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** A value that a rule names: it is shown whole, unless it is a text as long as a page. */
const valueText = (value: unknown) => jsonText(value, 5000);

/** The bounds, formats and words of a schema, each a short text. Of what it is made of, `factsOf` tells. */
export function rulesOf(schema: Schema): readonly string[] {
  const has = (keyword: string, text: (value: unknown) => string) =>
    schema[keyword] === undefined ? [] : [text(schema[keyword])];
  return [
    ...has("title", textOf),
    ...has("format", textOf),
    ...enumOf(schema),
    ...rangeOf(schema),
    ...countOf(schema, "minLength", "maxLength", "character"),
    ...countOf(schema, "minItems", "maxItems", "item"),
    ...countOf(schema, "minProperties", "maxProperties", "member"),
    ...countOf(schema, "minContains", "maxContains", "such item"),
    ...(schema["uniqueItems"] === true ? ["no two alike"] : []),
    ...has("multipleOf", (value) => `a multiple of ${jsonText(value)}`),
    ...has("pattern", (value) => `matches ${textOf(value)}`),
    ...has("contentEncoding", textOf),
    ...mediaOf(schema),
    ...has("default", (value) => `default ${valueText(value)}`),
    ...examplesOf(schema),
    ...(schema["readOnly"] === true ? ["read only"] : []),
    ...(schema["writeOnly"] === true ? ["write only"] : []),
    ...has("discriminator", discriminatorText),
    ...has("xml", (value) => `XML ${valueText(value)}`),
  ].filter((text) => text !== "");
}

function enumOf(schema: Schema): readonly string[] {
  const enums = listOf(schema["enum"]);
  // Without a type, a few words are the type; so is a constant, unless it is long.
  if ("const" in schema) return jsonText(schema["const"]).endsWith("…") ? [`only ${valueText(schema["const"])}`] : [];
  const isType = schema["type"] === undefined && enums.length <= 8 && choicesOf(schema).length === 0;
  return enums.length === 0 || isType ? [] : [`one of ${enums.map(valueText).join(", ")}`];
}

/** The type `file` says bytes already, and `contentSchema` JSON. */
function mediaOf(schema: Schema): readonly string[] {
  const media = textOf(schema["contentMediaType"]);
  return media === "application/octet-stream" || schema["contentSchema"] !== undefined ? [] : [media];
}

function examplesOf(schema: Schema): readonly string[] {
  const all = [...("example" in schema ? [schema["example"]] : []), ...listOf(schema["examples"])];
  return all.length === 0 ? [] : [`for example ${all.map(valueText).join(", ")}`];
}

function discriminatorText(value: unknown): string {
  const { propertyName, mapping } = fieldsOf(value);
  const names = Object.entries(fieldsOf(mapping)).map(([word, ref]) => `${word}: ${refName({ $ref: ref }) ?? ""}`);
  return `told apart by ${textOf(propertyName)}${names.length === 0 ? "" : ` (${names.join(", ")})`}`;
}

/** `dependentRequired`, a sentence for each name. */
export function dependenciesOf(schema: Schema): readonly string[] {
  return Object.entries(fieldsOf(schema["dependentRequired"])).map(
    ([name, others]) => `With ${name}, it needs ${listOf(others).map(textOf).join(", ")}.`,
  );
}

// The bounds of a safe integer say nothing that `integer` does not.
const silent = new Set<unknown>([Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]);

function rangeOf({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: Schema): readonly string[] {
  // In OpenAPI 3.0 `exclusiveMinimum` is `true` next to a `minimum`.
  const bounds = [
    [exclusiveMinimum === true ? ">" : "≥", minimum],
    [">", exclusiveMinimum],
    [exclusiveMaximum === true ? "<" : "≤", maximum],
    ["<", exclusiveMaximum],
  ] as const;
  return bounds.flatMap(([sign, bound]) =>
    typeof bound === "number" && !silent.has(bound) ? [`${sign} ${bound}`] : [],
  );
}

function countOf(schema: Schema, min: string, max: string, unit: string): readonly string[] {
  const [least, most] = [schema[min], schema[max]];
  const units = (count: unknown) => (typeof count === "number" ? counted(count, unit) : `${jsonText(count)} ${unit}s`);
  if (least !== undefined && least === most) return [units(least)];
  if (typeof least === "number" && least > 0 && most !== undefined) return [`${least} to ${units(most)}`];
  if (most !== undefined) return [`at most ${units(most)}`];
  return typeof least === "number" && least > 0 ? [`at least ${units(least)}`] : [];
}
