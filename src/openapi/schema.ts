import type { Kind } from "../schema/valibot.ts";
import type { CorsExtension } from "../security/cross-origin.ts";

/** The context of one route's description. */
export interface DocumentContext {
  /** A shape's schema, with unresolved references; `at` is its place, for the report. */
  shape(shape: Kind, direction: Direction, at: string): Schema;
  /** Reports that the route cannot be described. The text follows the route's name. */
  problem(what: string): void;
  readonly version: OpenapiVersion;
  readonly cors: CorsExtension | undefined;
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
  const notes = Object.entries(schema).filter(([keyword]) => annotations.has(keyword));
  const rules = Object.entries(schema).filter(([keyword]) => !annotations.has(keyword));
  return { anyOf: [Object.fromEntries(rules), { type: "null" }], ...Object.fromEntries(notes) };
}

/** Whether a value is JSON. */
export function isJson(value: unknown): boolean {
  if (typeof value === "object" && value !== null) {
    const plain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
    return plain && Object.values(value).every(isJson);
  }
  return value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}
