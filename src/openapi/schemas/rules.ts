import type { Action, Kind } from "../../shapes/kind.ts";
import { textRule } from "./formats.ts";
import type { Describer, Schema } from "./schema.ts";

/**
 * Adds to a schema what an action of its pipe asks of the value, which is of `base`. Checks of the author's own have no
 * word here.
 */
export function addRule(action: Action, base: Kind, schema: Schema, at: string, describer: Describer): void {
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
      return add({ const: requirement }, schema);
    case "not_value":
      return add({ not: { const: requirement } }, schema);
    case "values":
      return add({ enum: requirement }, schema);
    case "not_values":
      return add({ not: { enum: requirement } }, schema);
  }
  if (addLength(type, requirement as number, base, schema)) return;
  const rule = textRule(action);
  if (rule === "loosely") describer.loose(at, "has a pattern that JSON Schema cannot write");
  else if (rule !== undefined) add(rule, schema);
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
  if (number === undefined) return describer.loose(at, "has a bound that JSON Schema cannot write");
  tighten(keyword, tightest, number, schema);
}

function addMultiple(step: unknown, schema: Schema, at: string, describer: Describer): void {
  const number = exact(step, schema);
  if (number === undefined) return describer.loose(at, "has a bound that JSON Schema cannot write");
  add({ multipleOf: Math.abs(number) }, schema);
}

/** A bound as JSON's readers understand it: a whole number past 2^53 is another one to many of them. */
function exact(bound: unknown, schema: Schema): number | undefined {
  if (typeof bound !== "number" && typeof bound !== "bigint") return undefined;
  const number = Number(bound);
  const whole = typeof bound === "bigint" || schema["type"] === "integer";
  return Number.isFinite(number) && (!whole || Math.abs(number) <= Number.MAX_SAFE_INTEGER) ? number : undefined;
}

/** Which side a length bounds; lengths are counted in code points, as JSON Schema counts them. */
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

/** Of a value that may be of several types each keyword binds its own type and no other. */
function sized(
  nouns: readonly string[],
  least: number | undefined,
  most: number | undefined,
  base: Kind,
  schema: Schema,
): void {
  const noun = nounOf[typeof schema["type"] === "string" ? schema["type"] : base.type];
  for (const its of noun === undefined ? nouns : [noun]) {
    if (least !== undefined) tighten(`min${its}`, Math.max, least, schema);
    if (most !== undefined) tighten(`max${its}`, Math.min, most, schema);
  }
}

function tighten(keyword: string, tightest: Tightest, bound: number, schema: Schema): void {
  const before = schema[keyword];
  schema[keyword] = typeof before === "number" ? tightest(before, bound) : bound;
}

/** Adds a rule beside those there are: where its keyword is taken, all of them hold. */
function add(rule: Schema, schema: Schema): void {
  const taken = Object.keys(rule).some((keyword) => keyword in schema && keyword !== "allOf");
  const all = [
    ...((schema["allOf"] as Schema[] | undefined) ?? []),
    ...((rule["allOf"] as Schema[] | undefined) ?? []),
  ];
  if (taken) schema["allOf"] = [...((schema["allOf"] as Schema[] | undefined) ?? []), rule];
  else Object.assign(schema, rule, all.length > 0 ? { allOf: all } : {});
}
