import type { Kind } from "../schema/valibot.ts";
import type { CorsExtension } from "../security/cross-origin.ts";

/** What the description of one route is given: how its shapes are told, and where to say what is wrong with it. */
export interface DocumentContext {
  /** A shape's schema, references still to be resolved; `at` is where it stands, for the report. */
  shape(shape: Kind, direction: Direction, at: string): Schema;
  /** The route cannot be described; said behind its name. */
  problem(what: string): void;
  readonly version: OpenapiVersion;
  readonly sharing: CorsExtension | undefined;
}

/** The version of OpenAPI a document is written in. */
export type OpenapiVersion = "3.2" | "3.1";

/** A JSON Schema (2020-12), as OpenAPI 3.1 and later take it. */
export interface Schema {
  [keyword: string]: unknown;
}

/** Whether a value is read (what a caller may send) or written (what a caller gets). */
export type Direction = "input" | "output";

/** Describes a shape, and its parts. */
export interface Describer {
  readonly direction: Direction;
  /** A named shape as a reference to its component, any other as its schema. `at` is where it stands, for the report. */
  describe(shape: Kind, at: string): Schema;
  /** The same, and never a reference. */
  body(shape: Kind, at: string): Schema;
  /** Something at that place takes or is more than its schema says. */
  loose(at: string, what: string): void;
}

export const anyJson = "may be any JSON";

const annotations: ReadonlySet<string> = new Set(["title", "description", "default", "examples", "deprecated"]);

/** A schema that takes null too; what is said of it is said of both. */
export function orNull(schema: Schema): Schema {
  const said = Object.entries(schema).filter(([keyword]) => annotations.has(keyword));
  const rules = Object.entries(schema).filter(([keyword]) => !annotations.has(keyword));
  return { anyOf: [Object.fromEntries(rules), { type: "null" }], ...Object.fromEntries(said) };
}

/** Whether JSON can say a value as it is. */
export function isJson(value: unknown): boolean {
  if (typeof value === "object" && value !== null) {
    const plain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
    return plain && Object.values(value).every(isJson);
  }
  return value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}
