import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { describedAs } from "../schema/described.ts";
import type { AnyStandard } from "../schema/standard.ts";
import { isJson } from "./schema-rules.ts";
import type { Direction, Schema } from "./schema-rules.ts";

/** The two forms of a schema, as its library describes them; an error says why there is none. */
export interface ForeignForms {
  readonly input: Result<Schema, string>;
  readonly output: Result<Schema, string>;
}

/** The JSON Schemas of a schema of another library, by Standard JSON Schema; or those that its author gave. */
export function foreignForms(schema: AnyStandard): ForeignForms {
  const input = formOf(schema, "input");
  const output = formOf(schema, "output");
  return { input, output: input.ok && output.ok ? ok(opened(output.value, input.value) as Schema) : output };
}

/**
 * An output that is as open as the input. Zod says `additionalProperties: false` of every output, so no component would be
 * the same both ways.
 */
function opened(output: unknown, input: unknown): unknown {
  if (typeof output !== "object" || output === null || typeof input !== "object" || input === null) return output;
  const other = input as { readonly [keyword: string]: unknown };
  if (Array.isArray(output)) return output.map((item, index) => opened(item, other[index]));
  const closes = ([keyword, value]: readonly [string, unknown]): boolean =>
    keyword === "additionalProperties" && value === false && !Object.hasOwn(other, keyword);
  const kept = Object.entries(output).filter((entry) => !closes(entry));
  return Object.fromEntries(kept.map(([keyword, value]) => [keyword, opened(value, other[keyword])]));
}

const byHand = "give it one with Shape.described";

function formOf(schema: AnyStandard, direction: Direction): Result<Schema, string> {
  const given = describedAs(schema);
  if (given !== undefined) return resolved(given[direction]);
  const { vendor, jsonSchema } = schema["~standard"] as AnyStandard["~standard"] & { readonly jsonSchema?: Converter };
  const convert = jsonSchema?.[direction];
  if (typeof convert !== "function") {
    const effect = vendor === "effect" ? ": use Schema.toStandardJSONSchemaV1" : "";
    return error(
      `a schema of ${String(vendor)} that has no JSON Schema (~standard.jsonSchema)${effect}, use a version of its library that has it, or ${byHand}`,
    );
  }
  try {
    const made = convert({ target: "draft-2020-12" });
    if (typeof made === "object" && made !== null && isJson(made)) return resolved(made as Schema);
    return error(`a schema whose library, ${String(vendor)}, made no JSON Schema of it: ${byHand}`);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : "it threw";
    return error(`a schema whose library, ${String(vendor)}, makes no JSON Schema of it (${why}): ${byHand}`);
  }
}

/** A schema whose references all lead within it. */
function resolved(schema: Schema): Result<Schema, string> {
  const leads = referencesIn(schema).every((pointer) => pointer !== undefined && partAt(schema, pointer) !== undefined);
  return leads ? ok(schema) : error(`a JSON Schema with a $ref that leads nowhere within it: ${byHand}`);
}

/** Standard JSON Schema (https://standardschema.dev/json-schema). */
interface Converter {
  readonly input?: (options: { readonly target: string }) => unknown;
  readonly output?: (options: { readonly target: string }) => unknown;
}

/** The parts of a schema that its `$ref`s name, by JSON Pointer: `""` is the schema itself. */
export function referredParts(root: Schema): ReadonlyMap<string, Schema> {
  const parts = new Map<string, Schema>();
  const waiting: unknown[] = [withoutDefinitions(root)];
  while (waiting.length > 0) {
    for (const pointer of referencesIn(waiting.pop())) {
      if (pointer === undefined || parts.has(pointer)) continue;
      const part = pointer === "" ? withoutDefinitions(root) : partAt(root, pointer);
      if (part === undefined) continue;
      parts.set(pointer, part);
      waiting.push(part);
    }
  }
  return parts;
}

/** Where a schema is nothing but a `$ref` within itself, the pointer of that part. */
export function aliasOf(root: Schema): string | undefined {
  const { $ref: reference, ...others } = withoutDefinitions(root);
  return typeof reference === "string" && Object.keys(others).length === 0 ? pointerOf(reference) : undefined;
}

/** The name that an author gave a part; undefined for one that a library counted: `__schema0`, `intersection219`. */
export function authoredName(pointer: string): string | undefined {
  const name = /^\/(?:\$defs|definitions)\/([^/]+)$/.exec(pointer)?.[1];
  return name === undefined || /^_|_$|^[a-z]+[0-9]+$|[^A-Za-z0-9 ._-]/.test(name) ? undefined : name;
}

const definitions: ReadonlySet<string> = new Set(["$schema", "$id", "$defs", "definitions"]);

export function withoutDefinitions(root: Schema): Schema {
  return Object.fromEntries(Object.entries(root).filter(([keyword]) => !definitions.has(keyword)));
}

// Their values are JSON and no schemas.
const values: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"]);
/** Their values are schemas by name: a member named `default` is no keyword. */
const namedSchemas: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/** The same schema with another text for each `$ref` within it. */
export function withReferences(schema: unknown, textOf: (pointer: string | undefined) => string | undefined): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map((item) => withReferences(item, textOf));
  return mapped(schema, (keyword, value) => {
    if (keyword === "$ref" && typeof value === "string") return textOf(pointerOf(value)) ?? value;
    if (values.has(keyword)) return value;
    const isByName = namedSchemas.has(keyword) && typeof value === "object" && value !== null;
    return isByName ? mapped(value, (_name, one) => withReferences(one, textOf)) : withReferences(value, textOf);
  });
}

function mapped(object: object, change: (name: string, value: unknown) => unknown): object {
  const members: readonly [string, unknown][] = Object.entries(object);
  return Object.fromEntries(members.map(([name, value]) => [name, change(name, value)]));
}

/** The pointers of a schema's references; undefined for one to another document. */
function referencesIn(schema: unknown): readonly (string | undefined)[] {
  const found: (string | undefined)[] = [];
  withReferences(schema, (pointer) => {
    found.push(pointer);
    return undefined;
  });
  return found;
}

/** `#/$defs/Node` as a JSON Pointer (RFC 6901); undefined for a reference to another document. */
function pointerOf(reference: string): string | undefined {
  return reference === "#" || reference.startsWith("#/") ? decodeURIComponent(reference.slice(1)) : undefined;
}

function partAt(root: Schema, pointer: string): Schema | undefined {
  let part: unknown = root;
  for (const token of pointer.split("/").slice(1)) {
    const name = token.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof part !== "object" || part === null || !Object.hasOwn(part, name)) return undefined;
    part = (part as { readonly [name: string]: unknown })[name];
  }
  return typeof part === "object" && part !== null ? (part as Schema) : undefined;
}
