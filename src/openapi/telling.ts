import type { Kind } from "../shapes/kind.ts";
import type { Direction, Schema } from "./schemas/schema.ts";
import type { Sharing } from "./sharing.ts";

/** What the description of one route is given: how its shapes are told, and where to say what is wrong with it. */
export interface Telling {
  /** A shape's schema, references still to be resolved; `at` is where it stands, for the report. */
  shape(shape: Kind, direction: Direction, at: string): Schema;
  /** The route cannot be described; said behind its name. */
  problem(what: string): void;
  readonly version: OpenapiVersion;
  readonly sharing: Sharing | undefined;
}

/** The version of OpenAPI a document is written in. */
export type OpenapiVersion = "3.2" | "3.1";
