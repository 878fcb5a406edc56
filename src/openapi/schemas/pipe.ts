import type { Action, Kind } from "../../shapes/kind.ts";
import { nameOf } from "../../shapes/named.ts";
import { readyMadeOf } from "../../shapes/ready-made-table.ts";
import { changesNothing, keepsSort, textChanges } from "../../shapes/transformations.ts";
import { addRule } from "./rules.ts";
import { anyJson, isJson } from "./schema.ts";
import type { Describer, Schema } from "./schema.ts";

type Part = Kind | Action;

/** A schema and what is done behind it: read, it is what may be sent; written, what came out of it. */
export function pipe(shape: Kind, at: string, describer: Describer): Schema {
  const [first, ...behind] = partsOf(shape);
  const rules = behind.filter((part) => part.kind !== "metadata" && !changesNothing.has(part.type));
  const schema =
    describer.direction === "input" ? sent(first, rules, at, describer) : written(first, rules, at, describer);
  for (const part of behind) if (part.kind === "metadata") annotate(part, schema);
  return schema;
}

/** The parts of nested pipes in one; a named shape stays whole, to be referred to. */
function partsOf(shape: Kind): [Kind, ...Part[]] {
  const [first, ...behind] = shape.pipe ?? [shape];
  const whole = first.pipe === undefined || first.fallback !== undefined || nameOf(first) !== undefined;
  if (whole || readyMadeOf(first) !== undefined) return [first, ...behind];
  return [...partsOf(first), ...behind];
}

/**
 * What may be sent: every rule up to the first change that makes another value of it. A change of a text's spelling, to
 * trim it say, is none: who sends what it makes keeps the rules behind it.
 */
function sent(first: Kind, rules: readonly Part[], at: string, describer: Describer): Schema {
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

/** What comes out: the last schema or change, and the rules behind it. */
function written(first: Kind, rules: readonly Part[], at: string, describer: Describer): Schema {
  const start = rules.findLastIndex((part) => part.kind === "schema" || part.kind === "transformation");
  const schema = madeBy(start, first, rules, at, describer);
  const base = rules.slice(0, start + 1).findLast((part) => part.kind === "schema") ?? first;
  for (const part of rules.slice(start + 1)) addRule(part as Action, base, schema, at, describer);
  return schema;
}

/** What a change answers, by its type. */
const makes: { readonly [type: string]: string } = {
  parse_boolean: "boolean",
  stringify_json: "string",
  to_boolean: "boolean",
  to_number: "number",
  to_string: "string",
};

function madeBy(index: number, first: Kind, rules: readonly Part[], at: string, describer: Describer): Schema {
  const part = rules[index];
  if (part === undefined) return describer.describe(first, at);
  if (part.kind === "schema") return describer.describe(part, at);
  const type = makes[part.type];
  if (type !== undefined) return { type };
  if (keepsSort.has(part.type)) {
    // Of the sort it was before; which rules it still keeps, nobody knows.
    const before = madeBy(lastMaker(index, rules), first, rules, at, describer);
    const whole = rules.slice(0, index).some(({ type }) => type === "integer" || type === "safe_integer");
    return whole && before["type"] === "number" ? { type: "integer" } : before;
  }
  describer.loose(at, anyJson);
  return {};
}

function lastMaker(before: number, rules: readonly Part[]): number {
  return rules.slice(0, before).findLastIndex((part) => part.kind === "schema" || part.kind === "transformation");
}

function keepsSpelling({ type }: Part): boolean {
  return textChanges.has(type) || type === "normalize" || type === "guard";
}

/** What an author says of a shape: `v.title`, `v.description`, `v.examples`, and these in `v.metadata`. */
function annotate(part: Action, schema: Schema): void {
  const said = part as unknown as { readonly [name: string]: unknown };
  const all = part.type === "metadata" ? (said["metadata"] as typeof said) : said;
  for (const name of ["title", "description"]) {
    if (typeof all[name] === "string") schema[name] = all[name];
  }
  if (Array.isArray(all["examples"]) && all["examples"].every(isJson)) schema["examples"] = all["examples"];
  if (all["deprecated"] === true) schema["deprecated"] = true;
}
