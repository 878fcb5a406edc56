import type { Kind, Lazy } from "../../shapes/kind.ts";
import { nameOf } from "../../shapes/named.ts";
import { readyMadeOf } from "../../shapes/ready-made-table.ts";
import type { ReadyMade } from "../../shapes/ready-made-table.ts";
import { intersection, union, variant } from "./choice.ts";
import { list, object, record, tuple } from "./container.ts";
import { pipe } from "./pipe.ts";
import { anyJson } from "./schema.ts";
import type { Describer, Direction, Schema } from "./schema.ts";
import { literal, words } from "./words.ts";
import { wrapped } from "./wrapped.ts";

/** Where a describer leaves what is not its own: a reference in place of a named shape, and what is told loosely. */
export interface Elsewhere {
  reference(shape: Kind, name: string, direction: Direction): Schema;
  loose(at: string, what: string): void;
}

// A getter that makes a new schema each time would never end, and one with two such members double at each step.
const mostNested = 4;

/** Describes shapes for one direction. */
export class ShapeDescriber implements Describer {
  readonly direction: Direction;
  readonly #elsewhere: Elsewhere;
  /** The shapes that refer to themselves and are being described. */
  readonly #within: unknown[] = [];

  constructor(direction: Direction, elsewhere: Elsewhere) {
    this.direction = direction;
    this.#elsewhere = elsewhere;
  }

  loose(at: string, what: string): void {
    this.#elsewhere.loose(at, what);
  }

  describe(shape: Kind, at: string): Schema {
    const name = nameOf(shape);
    return name === undefined ? this.body(shape, at) : this.#elsewhere.reference(shape, name, this.direction);
  }

  body(shape: Kind, at: string): Schema {
    const readyMade = readyMadeOf(shape);
    if (readyMade !== undefined) return this.#readyMade(readyMade);
    if (shape.pipe !== undefined) return pipe(shape, at, this);
    if ("entries" in shape) return object(shape, at, this);
    if ("items" in shape) return tuple(shape, at, this);
    if ("wrapped" in shape) return wrapped(shape, at, this);
    switch (shape.type) {
      case "string":
      case "number":
      case "boolean":
      case "null":
        return { type: shape.type };
      case "literal":
        return literal(shape.literal);
      case "picklist":
      case "enum":
        return words(shape.options);
      case "record":
        return record(shape, at, this);
      case "array":
        return list(shape, at, this);
      case "union":
        return union(shape, at, this);
      case "intersect":
        return intersection(shape, at, this);
      case "variant":
        return variant(shape, at, this);
      case "lazy":
        return this.#lazy(shape, at);
      case "never":
      case "undefined":
      case "void":
        return { not: {} };
      default:
        this.loose(at, anyJson);
        return {};
    }
  }

  #lazy(shape: Lazy, at: string): Schema {
    // A getter that looks at the value may answer a shape for each.
    if (shape.getter.length > 0) {
      this.loose(at, anyJson);
      return {};
    }
    if (this.#within.includes(shape.getter) || this.#within.length > mostNested) {
      this.loose(at, "refers to itself and has no name: give the shape one with Shape.named");
      return {};
    }
    this.#within.push(shape.getter);
    const schema = this.describe(shape.getter(undefined), at);
    this.#within.pop();
    return schema;
  }

  #readyMade({ type, format }: ReadyMade): Schema {
    // Sent as text too, by a caller whose numbers end at 2^53; a pattern is asked of texts alone.
    if (type === "integer" && this.direction === "input") {
      return { type: ["integer", "string"], format, pattern: "^-?[0-9]+$" };
    }
    return { type, format };
  }
}
