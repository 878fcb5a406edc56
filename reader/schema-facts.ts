/**
 * What a schema says of one value: its type, its rules, its words, and the parts that it is made of. It has no DOM, so that a test can
 * read a whole document and find each keyword again.
 */
import { fieldsOf, listOf, schemaOf, textOf } from "./document.ts";
import type { Schema } from "./document.ts";
import { choicesOf, dependenciesOf, jsonText, refName, rulesOf, typeText } from "./schema-text.ts";

export type Resolve = (schema: Schema) => Schema;

export interface SchemaFacts {
  readonly type: string;
  readonly rules: readonly string[];
  /** Descriptions, in Markdown. */
  readonly about: readonly string[];
  readonly isDeprecated: boolean;
  readonly parts: readonly Part[];
}

export type Part =
  | { readonly kind: "note"; readonly text: string }
  /** A member by its own name. */
  | { readonly kind: "member"; readonly name: string; readonly isRequired: boolean; readonly schema: Schema }
  /** Anything else, in words: `each item`, `either`. */
  | { readonly kind: "other"; readonly label: string; readonly code?: string; readonly schema: Schema };

// A component may be its own only alternative, or a list of itself.
const maxLayers = 8;
const maxListDepth = 3;

export function factsOf(schema: Schema, resolve: Resolve, depth = 0): SchemaFacts {
  const layers = layersOf(schema, resolve);
  const names = new Set(layers.flatMap((layer) => Object.keys(fieldsOf(layer["properties"]))));
  const required = new Set(layers.flatMap((layer) => listOf(layer["required"])).map(textOf));
  const elsewhere = [...required].filter((name) => !names.has(name));
  const items = layers.flatMap((layer) => itemOf(layer));
  const each = depth < maxListDepth ? items.map((item) => factsOf(item, resolve, depth + 1)) : [];
  const rules = [
    ...layers.flatMap((layer) => rulesOf(layer)),
    ...(elsewhere.length === 0 ? [] : [`needs ${elsewhere.join(", ")}`]),
    ...each.flatMap((one) =>
      [...one.rules, ...(one.isDeprecated ? ["deprecated"] : [])].map((rule) => `each: ${rule}`),
    ),
  ];
  const parts = [
    ...layers.flatMap((layer) => partsOf(layer, required, resolve)),
    ...each.flatMap((one) => one.parts),
    ...(each.length > 0 ? [] : items.map((item) => other("each item", item))),
  ];
  return {
    type: typeOf(schema, resolve),
    rules: [...new Set(rules)],
    about: [
      ...new Set([...layers.flatMap(wordsOf), ...each.flatMap((one) => one.about.map((text) => `Each: ${text}`))]),
    ],
    isDeprecated: layers.some((layer) => layer["deprecated"] === true),
    parts,
  };
}

/** As `OrderId (string)`: the name of a component does not say that the value is a text. */
function typeOf(schema: Schema, resolve: Resolve): string {
  const text = typeText(refName(schema) === undefined ? resolve(schema) : schema);
  const plain = typeText(withoutNames(schema, resolve));
  return text === plain ? text : `${text} (${plain})`;
}

/** The schema, with a component of one value written out. A component with parts keeps its name. */
function withoutNames(schema: Schema, resolve: Resolve, depth = 0): Schema {
  const full = resolve(schema);
  if (depth > maxListDepth || (refName(schema) !== undefined && !isOneValue(full, resolve, depth))) return schema;
  const within = (value: unknown) => withoutNames(schemaOf(value), resolve, depth + 1);
  const plain: Record<string, unknown> = { ...full };
  for (const keyword of ["allOf", "anyOf", "oneOf", "prefixItems"])
    if (keyword in plain) plain[keyword] = listOf(plain[keyword]).map(within);
  for (const keyword of ["items", "additionalProperties"])
    if (Object.keys(fieldsOf(plain[keyword])).length > 0) plain[keyword] = within(plain[keyword]);
  return plain;
}

const withParts = ["properties", "items", "prefixItems", "additionalProperties"];

/** Whether it is a text, a number or a word, also by alternatives that all are. */
function isOneValue(full: Schema, resolve: Resolve, depth: number): boolean {
  if (depth > maxListDepth || full["type"] === "object" || withParts.some((keyword) => keyword in full)) return false;
  const choices = [...listOf(full["allOf"]).map(schemaOf), ...choicesOf(full)];
  if (choices.length > 0) return choices.every((one) => isOneValue(resolve(one), resolve, depth + 1));
  return "type" in full || "enum" in full || "const" in full;
}

/** The schemas that all hold for the value as one: `anyOf: [X, null]` and `allOf: [X]` say of it what X says. */
function layersOf(schema: Schema, resolve: Resolve): readonly Schema[] {
  const layers: Schema[] = [];
  const queue = [schema];
  for (let given = queue.shift(); given !== undefined; given = queue.shift()) {
    const full = { ...resolve(given) };
    layers.push(full);
    for (const keyword of ["allOf", "anyOf", "oneOf"]) {
      const all = listOf(full[keyword]).map(schemaOf);
      const some = keyword === "allOf" ? all : all.filter((one) => !isNull(resolve(one)));
      const [only] = some;
      if (only === undefined || some.length > 1 || layers.length + queue.length >= maxLayers) continue;
      delete full[keyword];
      queue.push(only);
    }
  }
  return layers;
}

/** The layers as one schema, in which an outer one says more than an inner one. */
export function mergedOf(schema: Schema, resolve: Resolve): Schema {
  return Object.assign({}, ...layersOf(schema, resolve).toReversed());
}

function isNull(full: Schema): boolean {
  const enums = full["enum"];
  return (
    full["type"] === "null" ||
    full["const"] === null ||
    (Array.isArray(enums) && enums.length === 1 && enums[0] === null)
  );
}

function wordsOf(layer: Schema): readonly string[] {
  const { url, description } = fieldsOf(layer["externalDocs"]);
  const link = textOf(url) === "" ? "" : `[${textOf(description).replaceAll(/[[\]]/g, "") || "More"}](${textOf(url)})`;
  return [textOf(layer["description"]), link].filter((text) => text !== "");
}

/** What each item of a list is, where all are alike. */
function itemOf(layer: Schema): readonly Schema[] {
  const { items } = layer;
  return typeof items === "object" && items !== null && listOf(layer["prefixItems"]).length === 0
    ? [schemaOf(items)]
    : [];
}

const other = (label: string, schema: Schema, code?: string): Part => ({
  kind: "other",
  label,
  schema,
  ...(code === undefined ? {} : { code }),
});

function partsOf(layer: Schema, required: ReadonlySet<string>, resolve: Resolve): readonly Part[] {
  const members = Object.entries(fieldsOf(layer["properties"]));
  const tuple = listOf(layer["prefixItems"]).map(schemaOf);
  const { not } = layer;
  return [
    ...members.map(([name, value]): Part => {
      return { kind: "member", name, isRequired: required.has(name), schema: schemaOf(value) };
    }),
    ...Object.entries(fieldsOf(layer["patternProperties"])).map(([pattern, value]) =>
      other("names that match", schemaOf(value), pattern),
    ),
    ...listOf(layer["allOf"]).map((value) => other("and", schemaOf(value))),
    ...alternatives(layer, resolve),
    ...tuple.map((value, place) => other(`item ${place}`, value)),
    ...(tuple.length > 0 ? one(layer, "items", "each other item") : []),
    ...one(layer, "unevaluatedItems", "each other item"),
    ...one(layer, "contains", "some items"),
    ...one(layer, "propertyNames", "each name"),
    ...othersOf(layer, "additionalProperties", members.length > 0, resolve),
    ...othersOf(layer, "unevaluatedProperties", true, resolve),
    ...Object.entries(fieldsOf(layer["dependentSchemas"])).map(([name, value]) => other("with", schemaOf(value), name)),
    ...dependenciesOf(layer).map((text): Part => ({ kind: "note", text })),
    ...one(layer, "if", "if"),
    ...one(layer, "then", "then"),
    ...one(layer, "else", "else"),
    ...(Object.keys(fieldsOf(not)).length > 0 ? one(layer, "not", "not") : []),
    ...one(layer, "contentSchema", "as JSON"),
  ];
}

/** None if the type of the value says all of them. */
function alternatives(layer: Schema, resolve: Resolve): readonly Part[] {
  const all = choicesOf(layer);
  const some = all.filter((choice) => !isNull(resolve(choice)));
  if (all.length <= 8 && some.every((choice) => isPlain(choice))) return [];
  return some.map((choice, place) => other(place === 0 ? "either" : "or", choice, markOf(resolve(choice))));
}

/** Whether `typeText` says all that there is. */
function isPlain(schema: Schema, depth = 0): boolean {
  return Object.entries(schema).every(([keyword, value]) => {
    if (keyword === "enum") return schema["type"] === undefined && listOf(value).length <= 8;
    if (keyword === "items") return depth < 1 && isPlain(schemaOf(value), depth + 1);
    return keyword === "type" || keyword === "const";
  });
}

/** The member that tells an alternative from the others. */
function markOf(choice: Schema): string | undefined {
  const found = Object.entries(fieldsOf(choice["properties"])).find(([, value]) => "const" in schemaOf(value));
  return found === undefined ? undefined : `${found[0]}: ${jsonText(schemaOf(found[1])["const"])}`;
}

function one(layer: Schema, keyword: string, label: string): readonly Part[] {
  const value = layer[keyword];
  const isSchema = typeof value === "object" && value !== null;
  return isSchema || (value === false && keyword !== "items") ? [other(label, schemaOf(value))] : [];
}

/** The members that have no name here. */
function othersOf(layer: Schema, keyword: string, hasNames: boolean, resolve: Resolve): readonly Part[] {
  const value = layer[keyword];
  if (value === undefined || value === null) return [];
  if (value === false) return [{ kind: "note", text: hasNames ? "No other member is taken." : "No member is taken." }];
  if (value === true || Object.keys(fieldsOf(value)).length === 0) {
    return hasNames ? [{ kind: "note", text: "Members of any other name are taken." }] : [];
  }
  const schema = schemaOf(value);
  // `map of string` says it, unless alternatives are the type.
  const isType = !hasNames && choicesOf(layer).length === 0;
  if (isType && isPlain(resolve(schema)) && refName(schema) === undefined) return [];
  return [other(hasNames ? "any other name" : "any name", schema)];
}
