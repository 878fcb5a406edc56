import { describedAs } from "../schema/described.ts";
import type { AnyStandard } from "../schema/standard.ts";
import { builtInOf, changesNothing, keepsSort, shapeName, textChanges } from "../schema/valibot.ts";
import type { Action, Kind } from "../schema/valibot.ts";
import type { CorsExtension } from "../security/cross-origin.ts";

/** The context of one route's description. */
export interface DocumentContext {
  /** A shape's schema, with unresolved references; `at` is its place, for the report. */
  shape(shape: AnyStandard, direction: Direction, at: string): Schema;
  /** Reports that the route cannot be described. The text follows the route's name. */
  problem(what: string): void;
  readonly version: OpenapiVersion;
  readonly cors: CorsExtension | undefined;
  /** The content codings of bodies that the app reads. */
  readonly encodings: readonly string[];
  /** Whether the app has a deadline for its routes. */
  readonly hasDeadlines: boolean;
}

/** The version of OpenAPI. */
export type OpenapiVersion = "3.2" | "3.1";

/** A JSON Schema (2020-12), as in OpenAPI 3.1 and later. */
export interface Schema {
  [keyword: string]: unknown;
}

/** Whether the schema describes what a caller sends or gets. */
export type Direction = "input" | "output";

/** Describes shapes. */
export interface Describer {
  readonly direction: Direction;
  /** A reference for a named shape, otherwise its schema. `at` is its place, for the report. */
  describe(shape: Kind, at: string): Schema;
  /** The schema, never a reference. */
  body(shape: Kind, at: string): Schema;
  /** Reports that the schema at that place is less strict than the shape. */
  imprecise(at: string, what: string): void;
}

export const anyJson = "may be any JSON";

const annotations: ReadonlySet<string> = new Set(["title", "description", "default", "examples", "deprecated"]);

/** A schema that also accepts null. Its annotations stay outside. */
export function orNull(schema: Schema): Schema {
  if (hasNull(schema)) return schema;
  const notes = Object.entries(schema).filter(([keyword]) => annotations.has(keyword));
  const rules = Object.entries(schema).filter(([keyword]) => !annotations.has(keyword));
  return { anyOf: [Object.fromEntries(rules), { type: "null" }], ...Object.fromEntries(notes) };
}

/** Whether a schema is seen to accept null. Of several rules together, or a reference, only a validator knows. */
function hasNull(schema: Schema): boolean {
  const [rule, ...more] = Object.entries(schema).filter(([keyword]) => !annotations.has(keyword));
  if (rule === undefined) return true;
  if (more.length > 0) return false;
  const [keyword, value] = rule;
  switch (keyword) {
    case "type":
      return value === "null";
    case "enum":
      return (value as readonly unknown[]).includes(null);
    case "anyOf":
      return (value as readonly Schema[]).some(hasNull);
    default:
      return keyword === "const" && value === null;
  }
}

/** Whether a value is JSON. */
export function isJson(value: unknown): boolean {
  if (typeof value === "object" && value !== null) {
    const plain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
    return plain && Object.values(value).every(isJson);
  }
  return value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

/** Valibot's formats that JSON Schema has a keyword for (2020-12 Validation §7.3, §8.3). */
const words: ReadonlyMap<string, Schema> = new Map([
  ["base64", { contentEncoding: "base64" }],
  ["email", { format: "email" }],
  ["ip", { anyOf: [{ format: "ipv4" }, { format: "ipv6" }] }],
  ["ipv4", { format: "ipv4" }],
  ["ipv6", { format: "ipv6" }],
  ["iso_date", { format: "date" }],
  ["iso_timestamp", { format: "date-time" }],
  ["parse_json", { contentMediaType: "application/json" }],
  ["rfc_email", { format: "email" }],
  ["url", { format: "uri" }],
  ["uuid", { format: "uuid" }],
]);

/** The rule of a text action; "imprecise" if JSON Schema cannot express it, undefined if it is not a text action. */
function textRule(action: Action): Schema | "imprecise" | undefined {
  const { type, requirement } = action;
  const word = words.get(type);
  if (word !== undefined) return word;
  if (requirement instanceof RegExp) return patternRule(requirement);
  if (typeof requirement !== "string") return undefined;
  const text = requirement.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  switch (type) {
    case "starts_with":
      return { pattern: `^${text}` };
    case "ends_with":
      return { pattern: `${text}$` };
    case "includes":
      return { pattern: text };
    case "excludes":
      return { not: { pattern: text } };
    default:
      return undefined;
  }
}

// JSON Schema's patterns are ECMA-262's with the flag "u" alone (2020-12 Core §6.4).
function patternRule({ source, flags }: RegExp): Schema | "imprecise" {
  if (/[^dgu]/.test(flags)) return "imprecise";
  // Without the flag, `\p{L}` is the text "p{L}", and `\u{61}` is 61 times "u".
  if (!flags.includes("u") && /\\[pPu]\{/.test(source)) return "imprecise";
  try {
    return { pattern: new RegExp(source, "u").source };
  } catch {
    return "imprecise";
  }
}

/**
 * Adds the rule of a pipe's action to a schema. `base` is the shape of the value. Custom checks have no rule.
 */
function addRule(action: Action, base: Kind, schema: Schema, at: string, describer: Describer): void {
  const { type, requirement } = action;
  switch (type) {
    case "integer":
    case "safe_integer":
      if (schema["type"] === undefined || schema["type"] === "number") schema["type"] = "integer";
      return;
    case "min_value":
      return addBound("minimum", Math.max, requirement, schema, at, describer);
    case "max_value":
      return addBound("maximum", Math.min, requirement, schema, at, describer);
    case "gt_value":
      return addBound("exclusiveMinimum", Math.max, requirement, schema, at, describer);
    case "lt_value":
      return addBound("exclusiveMaximum", Math.min, requirement, schema, at, describer);
    case "multiple_of":
      return addMultiple(requirement, schema, at, describer);
    case "value":
    case "values":
    case "not_value":
    case "not_values":
      return addValues(type, [requirement].flat(), schema, at, describer);
    case "includes":
    case "excludes":
      // Of a text it is a pattern.
      if (isList(base, schema)) return addContent(type, requirement, schema, at, describer);
  }
  if (unwritten.has(type)) describer.imprecise(at, "has a rule that JSON Schema cannot write");
  if (addLength(type, requirement as number, base, schema)) return;
  const rule = textRule(action);
  if (rule === "imprecise") describer.imprecise(at, "has a pattern that JSON Schema cannot write");
  else if (rule !== undefined) add(rule, schema);
}

/** Rules that no keyword has, or that say more than their keyword. */
const unwritten: ReadonlySet<string> = new Set([
  "bytes",
  "credit_card",
  "graphemes",
  "imei",
  "isbn",
  "max_bytes",
  "max_graphemes",
  "max_words",
  "min_bytes",
  "min_graphemes",
  "min_words",
  "not_bytes",
  "not_code_points",
  "not_entries",
  "not_graphemes",
  "not_length",
  "not_words",
  "words",
]);

function addValues(type: string, values: readonly unknown[], schema: Schema, at: string, describer: Describer): void {
  const words = values.map(wordOf);
  if (words.includes(undefined)) return describer.imprecise(at, "has a value that JSON Schema cannot write");
  const [word] = words;
  const rule = type.endsWith("s") ? { enum: words } : { const: word };
  add(type.startsWith("not_") ? { not: rule } : rule, schema);
}

/** A value as JSON; undefined where it has none, or where parsers would round it. */
function wordOf(value: unknown): unknown {
  const word = typeof value === "bigint" ? exact(value, {}) : value;
  return isJson(word) ? word : undefined;
}

function isList({ type }: Kind, schema: Schema): boolean {
  return schema["type"] === "array" || (schema["type"] === undefined && /^array$|tuple/.test(type));
}

function addContent(type: string, item: unknown, schema: Schema, at: string, describer: Describer): void {
  const word = wordOf(item);
  if (word === undefined) return describer.imprecise(at, "has a value that JSON Schema cannot write");
  const rule = { contains: { const: word } };
  add(type === "includes" ? rule : { not: rule }, schema);
}

type Tightest = (...values: readonly number[]) => number;

function addBound(
  keyword: string,
  tightest: Tightest,
  bound: unknown,
  schema: Schema,
  at: string,
  describer: Describer,
): void {
  const number = exact(bound, schema);
  if (number === undefined) return describer.imprecise(at, "has a bound that JSON Schema cannot write");
  tighten(keyword, tightest, number, schema);
}

function addMultiple(step: unknown, schema: Schema, at: string, describer: Describer): void {
  const number = exact(step, schema);
  if (number === undefined) return describer.imprecise(at, "has a bound that JSON Schema cannot write");
  add({ multipleOf: Math.abs(number) }, schema);
}

/** A bound as a JSON number; undefined for a whole number past 2^53, which many parsers round. */
function exact(bound: unknown, schema: Schema): number | undefined {
  if (typeof bound !== "number" && typeof bound !== "bigint") return undefined;
  const number = Number(bound);
  const whole = typeof bound === "bigint" || schema["type"] === "integer";
  return Number.isFinite(number) && (!whole || Math.abs(number) <= Number.MAX_SAFE_INTEGER) ? number : undefined;
}

/** Adds a rule of length, which JSON Schema counts in code points. Returns false if the action is not one. */
function addLength(type: string, bound: number, base: Kind, schema: Schema): boolean {
  switch (type) {
    case "min_length":
    case "min_code_points":
    case "min_graphemes":
      sized(["Length", "Items"], bound, undefined, base, schema);
      return true;
    case "max_length":
    case "max_code_points":
    case "max_bytes":
      sized(["Length", "Items"], undefined, bound, base, schema);
      return true;
    case "length":
    case "code_points":
      sized(["Length", "Items"], bound, bound, base, schema);
      return true;
    case "non_empty":
      sized(["Length", "Items"], 1, undefined, base, schema);
      return true;
    case "empty":
      sized(["Length", "Items"], undefined, 0, base, schema);
      return true;
    case "min_entries":
      sized(["Properties"], bound, undefined, base, schema);
      return true;
    case "max_entries":
      sized(["Properties"], undefined, bound, base, schema);
      return true;
    case "entries":
      sized(["Properties"], bound, bound, base, schema);
      return true;
    default:
      return false;
  }
}

const nounOf: { readonly [type: string]: string } = { string: "Length", array: "Items", object: "Properties" };

/** If the type is not known, adds the keyword of each type: a keyword applies to its own type only. */
function sized(
  nouns: readonly string[],
  least: number | undefined,
  most: number | undefined,
  base: Kind,
  schema: Schema,
): void {
  const noun = nounOf[typeof schema["type"] === "string" ? schema["type"] : base.type];
  for (const suffix of noun === undefined ? nouns : [noun]) {
    if (least !== undefined) tighten(`min${suffix}`, Math.max, least, schema);
    if (most !== undefined) tighten(`max${suffix}`, Math.min, most, schema);
  }
}

function tighten(keyword: string, tightest: Tightest, bound: number, schema: Schema): void {
  const before = schema[keyword];
  schema[keyword] = typeof before === "number" ? tightest(before, bound) : bound;
}

/** Adds a rule. If its keyword is used already, it goes into `allOf`. */
function add(rule: Schema, schema: Schema): void {
  const taken = Object.keys(rule).some((keyword) => keyword in schema && keyword !== "allOf");
  const all = [
    ...((schema["allOf"] as Schema[] | undefined) ?? []),
    ...((rule["allOf"] as Schema[] | undefined) ?? []),
  ];
  if (taken) schema["allOf"] = [...((schema["allOf"] as Schema[] | undefined) ?? []), rule];
  else Object.assign(schema, rule, all.length > 0 ? { allOf: all } : {});
}

type PipePart = Kind | Action;

/** The schema of a pipe: of its input when reading, of its output when writing. */
export function pipe(shape: Kind, at: string, describer: Describer): Schema {
  const [first, ...behind] = pipeParts(shape);
  const rules = behind.filter((part) => part.kind !== "metadata" && !changesNothing.has(part.type));
  const schema =
    describer.direction === "input" ? sent(first, rules, at, describer) : written(first, rules, at, describer);
  for (const part of behind) if (part.kind === "metadata") annotate(part, schema);
  return schema;
}

/** The parts of nested pipes, flattened. A shape that has a name, or that its author described, stays whole. */
function pipeParts(shape: Kind): [Kind, ...PipePart[]] {
  const [first, ...behind] = shape.pipe ?? [shape];
  const isPlain = first.pipe === undefined || first.fallback !== undefined || builtInOf(first) !== undefined;
  if (isPlain || shapeName(first) !== undefined || describedAs(first) !== undefined) return [first, ...behind];
  return [...pipeParts(first), ...behind];
}

/**
 * The input: every rule before the first transformation. A transformation of a text's spelling, as trimming, does not
 * count: a caller that sends trimmed text keeps the later rules.
 */
function sent(first: Kind, rules: readonly PipePart[], at: string, describer: Describer): Schema {
  let base = first;
  let schema = describer.describe(first, at);
  for (const part of rules) {
    if (part.kind === "schema") {
      base = part;
      schema = { allOf: [schema, describer.describe(part, at)] };
    } else if (part.kind === "validation" || part.type === "parse_json") addRule(part, base, schema, at, describer);
    if (part.kind === "transformation" && !keepsSpelling(part)) return schema;
  }
  return schema;
}

/** The output: the last schema or transformation, and the rules after it. */
function written(first: Kind, rules: readonly PipePart[], at: string, describer: Describer): Schema {
  const start = rules.findLastIndex((part) => part.kind === "schema" || part.kind === "transformation");
  const schema = madeBy(start, first, rules, at, describer);
  const base = rules.slice(0, start + 1).findLast((part) => part.kind === "schema") ?? first;
  for (const part of rules.slice(start + 1)) addRule(part as Action, base, schema, at, describer);
  return schema;
}

/** The result type of a transformation. */
const makes: { readonly [type: string]: string } = {
  parse_boolean: "boolean",
  stringify_json: "string",
  to_boolean: "boolean",
  to_number: "number",
  to_string: "string",
};

function madeBy(index: number, first: Kind, rules: readonly PipePart[], at: string, describer: Describer): Schema {
  const part = rules[index];
  if (part === undefined) return describer.describe(first, at);
  if (part.kind === "schema") return describer.describe(part, at);
  const type = makes[part.type];
  if (type !== undefined) return { type };
  if (keepsSort.has(part.type)) {
    // The type stays; which rules still hold is unknown.
    const before = madeBy(lastMaker(index, rules), first, rules, at, describer);
    const whole = rules.slice(0, index).some(({ type }) => type === "integer" || type === "safe_integer");
    return whole && before["type"] === "number" ? { type: "integer" } : before;
  }
  describer.imprecise(at, anyJson);
  return {};
}

function lastMaker(before: number, rules: readonly PipePart[]): number {
  return rules.slice(0, before).findLastIndex((part) => part.kind === "schema" || part.kind === "transformation");
}

function keepsSpelling({ type }: PipePart): boolean {
  return textChanges.has(type) || type === "normalize" || type === "guard";
}

/** Copies `v.title`, `v.description`, `v.examples`, and these in `v.metadata`. */
function annotate(part: Action, schema: Schema): void {
  const own = part as unknown as { readonly [name: string]: unknown };
  const all = part.type === "metadata" ? (own["metadata"] as typeof own) : own;
  for (const name of ["title", "description"]) {
    if (typeof all[name] === "string") schema[name] = all[name];
  }
  if (Array.isArray(all["examples"]) && all["examples"].every(isJson)) schema["examples"] = all["examples"];
  if (all["deprecated"] === true) schema["deprecated"] = true;
}
