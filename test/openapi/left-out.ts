/** Finds what a page about a document leaves out: each keyword of each schema has to be in the type, the rules, the words or the parts. */
import { readDocument } from "../../reader/document.ts";
import type { Fields } from "../../reader/document.ts";
import { factsOf } from "../../reader/schema-facts.ts";
import type { SchemaFacts } from "../../reader/schema-facts.ts";

/** A rule has the value as its text. */
const asText = new Set(["title", "format", "pattern", "contentEncoding", "propertyName"]);
/** A rule has the value as JSON. */
const asJson = new Set(["multipleOf", "default", "example", "xml"]);
const asNumber = new Set(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"]);
const asCount = new Set(["minLength", "maxLength", "minProperties", "maxProperties", "minContains", "maxContains"]);
const asMark = { uniqueItems: "no two alike", readOnly: "read only", writeOnly: "write only" } as const;
const inType = new Set(["type", "nullable", "const"]);
const ofOne = ["items", "additionalProperties", "unevaluatedProperties", "unevaluatedItems", "contains", "not"];
const ofOneMore = ["if", "then", "else", "propertyNames", "contentSchema"];
const ofMany = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const ofNames = new Set(["properties", "patternProperties", "dependentSchemas"]);
/** Names of a schema, and words to its author. */
const unsaid = /^(\$ref|\$id|\$schema|\$anchor|\$defs|definitions|\$comment|x-.*)$/;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

interface Walk {
  readonly resolve: (schema: Fields) => Fields;
  readonly left: string[];
  readonly seen: Set<Fields>;
}

/** Each line is a keyword that no part of the page says, with its place. */
export function leftOut(document: unknown): { readonly lines: readonly string[]; readonly schemas: number } {
  const { resolve } = readDocument(document, "http://h/openapi.json");
  const walk: Walk = { resolve, left: [], seen: new Set() };
  for (const [at, schema] of schemasIn(document, "#", false)) root(schema, at, walk);
  return { lines: walk.left, schemas: walk.seen.size };
}

/** The schemas that are in no other schema. */
function* schemasIn(value: unknown, at: string, isSchema: boolean): Generator<readonly [string, Fields]> {
  if (isSchema && isFields(value)) {
    yield [at, value];
  } else if (Array.isArray(value)) {
    for (const [place, one] of value.entries()) yield* schemasIn(one, `${at}/${place}`, false);
  } else if (isFields(value)) {
    for (const [name, one] of Object.entries(value)) {
      if (name === "example" || name === "examples" || name.startsWith("x-")) continue;
      const isMap = name === "schemas" && at === "#/components" && isFields(one);
      if (isMap)
        for (const [key, schema] of Object.entries(one)) yield* schemasIn(schema, `${at}/schemas/${key}`, true);
      else yield* schemasIn(one, `${at}/${name}`, name === "schema" || name === "itemSchema");
    }
  }
}

function root(schema: Fields, at: string, walk: Walk): void {
  if (walk.seen.has(schema)) return;
  walk.seen.add(schema);
  if (typeof schema["$ref"] === "string") return;
  check(schema, { at, facts: factsOf(schema, walk.resolve), prefix: "" }, walk);
}

interface Shown {
  readonly at: string;
  readonly facts: SchemaFacts;
  /** Of the rules: `each: ` for those of an item. */
  readonly prefix: string;
}

function check(schema: Fields, shown: Shown, walk: Walk): void {
  const { facts, prefix, at } = shown;
  const rules = facts.rules.filter((rule) => rule.startsWith(prefix)).map((rule) => rule.slice(prefix.length));
  const need = (keyword: string, isSaid: boolean) => {
    if (!isSaid) walk.left.push(`${at} ${keyword}`);
  };
  const hasRule = (text: string) => rules.some((rule) => rule.includes(text));
  for (const [keyword, value] of Object.entries(schema)) {
    if (unsaid.test(keyword) || value === undefined) continue;
    const children = childrenOf(keyword, value);
    if (children !== undefined) {
      for (const [name, child] of children) within(keyword, name, child, shown, walk);
    } else if (keyword in asMark)
      need(keyword, value === false || rules.includes(asMark[keyword as keyof typeof asMark]));
    else if (asText.has(keyword)) need(keyword, value === "" || hasRule(String(value)));
    else if (asJson.has(keyword)) need(keyword, hasRule(JSON.stringify(value)));
    else if (asNumber.has(keyword)) need(keyword, isSilent(keyword, value) || saysNumber(rules, value));
    else if (asCount.has(keyword)) need(keyword, isSilent(keyword, value) || saysNumber(rules, value));
    else if (keyword === "enum") need(keyword, saysWords(value, facts.type, rules));
    else if (keyword === "examples")
      need(
        keyword,
        [value].flat().every((one) => hasRule(JSON.stringify(one))),
      );
    else if (keyword === "deprecated") need(keyword, value === false || facts.isDeprecated || hasRule("deprecated"));
    else if (keyword === "description") need(keyword, value === "" || says(facts, String(value)));
    else if (keyword === "externalDocs") need(keyword, says(facts, String((value as Fields)["url"])));
    else if (keyword === "discriminator") need(keyword, hasRule(String((value as Fields)["propertyName"])));
    else if (keyword === "contentMediaType") need(keyword, hasRule(String(value)) || /octet|json/.test(String(value)));
    else if (keyword === "required")
      need(
        keyword,
        (value as string[]).every((name) => isNeeded(name, facts)),
      );
    else if (keyword === "dependentRequired") need(keyword, hasNote(facts, "With"));
    else if (inType.has(keyword)) need(keyword, prefix !== "" || saysType(keyword, value, facts.type));
    else if (isSaidByNote(keyword, value))
      need(keyword, hasNote(facts, "") || value === true || facts.type === "never");
    else need(`${keyword}, which no test knows`, false);
  }
}

function childrenOf(keyword: string, value: unknown): readonly (readonly [string, Fields])[] | undefined {
  if (ofNames.has(keyword))
    return Object.entries(value as Fields).filter((one): one is [string, Fields] => isFields(one[1]));
  if (ofMany.has(keyword)) return (value as unknown[]).filter(isFields).map((one, place) => [String(place), one]);
  if ([...ofOne, ...ofOneMore].includes(keyword) && isFields(value)) return [["", value]];
  return undefined;
}

function isSaidByNote(keyword: string, value: unknown): boolean {
  return [...ofOne, ...ofOneMore].includes(keyword) && typeof value === "boolean";
}

/** A child is a part that opens, or its parent says what it says. */
function within(keyword: string, name: string, child: Fields, { at, facts, prefix }: Shown, walk: Walk): void {
  const here = `${at}/${keyword}/${name}`;
  const part = facts.parts.find((one) => one.kind !== "note" && one.schema === child);
  if (part !== undefined) {
    if (keyword === "properties" && part.kind !== "member") walk.left.push(`${here} name`);
    root(child, here, walk);
    return;
  }
  if (["properties", "patternProperties", "prefixItems"].includes(keyword)) walk.left.push(`${here} part`);
  if (isNothing(child)) return;
  const full = walk.resolve(child);
  if (walk.seen.size > 1e6) throw new Error("the walk has no end");
  check(full, { at: here, facts, prefix: keyword === "items" ? `${prefix}each: ` : prefix }, walk);
}

const isNothing = (schema: Fields) => Object.keys(schema).length === 0 || schema["type"] === "null";

/** A bound that every value keeps: no negative count, no number past those of the type. */
function isSilent(keyword: string, value: unknown): boolean {
  if (typeof value === "boolean") return true;
  return (
    Math.abs(value as number) === Number.MAX_SAFE_INTEGER ||
    (value === 0 && /^min\w/.test(keyword) && keyword !== "minimum")
  );
}

function saysNumber(rules: readonly string[], value: unknown): boolean {
  return rules.some((rule) => rule.split(/[ ,]/).includes(String(value)));
}

function saysWords(value: unknown, type: string, rules: readonly string[]): boolean {
  const words = (value as unknown[]).map((word) => JSON.stringify(word));
  return words.every(
    (word) => type.includes(word) || rules.some((rule) => rule.startsWith("one of ") && rule.includes(word)),
  );
}

function says({ about }: SchemaFacts, text: string): boolean {
  return about.some((one) => one.includes(text));
}

function hasNote({ parts }: SchemaFacts, text: string): boolean {
  return parts.some((part) => part.kind === "note" && part.text.startsWith(text));
}

function isNeeded(name: string, { parts, rules }: SchemaFacts): boolean {
  const isMarked = parts.some((part) => part.kind === "member" && part.name === name && part.isRequired);
  return isMarked || rules.some((rule) => rule.includes("needs ") && rule.includes(name));
}

function saysType(keyword: string, value: unknown, type: string): boolean {
  if (keyword === "nullable") return value === false || /null\)?$/.test(type);
  if (keyword === "const")
    return type === JSON.stringify(value) || type.includes("|") || JSON.stringify(value).length > 200;
  // A constant is its own type, and bytes in a text are a file.
  if (type.includes("file")) return true;
  return (
    [value].flat().every((one) => type.includes(typeWords[String(one)] ?? String(one))) ||
    /^["\d[{-]|any|map/.test(type)
  );
}

const typeWords: { readonly [type: string]: string } = { array: "]", object: "" };
