import { needsSchema } from "../arguments.ts";
import type { AnyStandard } from "./standard.ts";

/** A JSON Schema (2020-12), as OpenAPI has it. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** The JSON Schemas of a schema: of what a client sends, and of what it gets. */
export interface JsonSchemas {
  /** What the schema reads. */
  readonly input: JsonSchema;
  /** What the schema makes and writes. */
  readonly output: JsonSchema;
}

const schemas = new WeakMap<object, JsonSchemas>();

/**
 * Gives a schema its JSON Schema (2020-12) for the API document, and returns the same schema: for a schema whose library makes
 * none, or one that is not what you want. `{ input, output }` are those of what a client sends and of what it gets; one
 * JSON Schema is both.
 *
 * @throws TypeError if it is no object.
 * @example
 * ```ts
 * const Day = Shape.described(z.iso.date().transform((day) => new Date(day)), {
 *   input: { type: "string", format: "date" },
 *   output: { type: "string", format: "date-time" },
 * });
 * ```
 */
export function described<S extends AnyStandard>(schema: S, jsonSchema: JsonSchemas | JsonSchema): S {
  needsSchema("Shape.described: its schema", schema);
  if (typeof jsonSchema !== "object" || jsonSchema === null) {
    throw new TypeError("Shape.described: the JSON Schema must be an object, or { input, output }");
  }
  schemas.set(schema, isBoth(jsonSchema) ? jsonSchema : { input: jsonSchema, output: jsonSchema });
  return schema;
}

function isBoth(given: JsonSchemas | JsonSchema): given is JsonSchemas {
  const { input, output } = given;
  return typeof input === "object" && input !== null && typeof output === "object" && output !== null;
}

/** The JSON Schemas that the author gave a schema. */
export function describedAs(schema: object): JsonSchemas | undefined {
  return schemas.get(schema);
}
