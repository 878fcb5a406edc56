import { shapeName, builtInOf } from "../schema/valibot.ts";
import type { Kind, Lazy, BuiltIn } from "../schema/valibot.ts";
import {
  intersection,
  list,
  literal,
  object,
  record,
  tuple,
  union,
  variant,
  enumeration,
  wrapped,
} from "./schema-containers.ts";
import { pipe } from "./schema-rules.ts";
import { anyJson } from "./schema.ts";
import type { Describer, Direction, Schema } from "./schema.ts";

/** Where a describer leaves what is not its own: a reference in place of a named shape, and what is told loosely. */
interface SchemaReferences {
  reference(shape: Kind, name: string, direction: Direction): Schema;
  loose(at: string, what: string): void;
}

// A getter that makes a new schema each time would never end, and one with two such members double at each step.
const mostNested = 4;

/** Describes shapes for one direction. */
class ShapeDescriber implements Describer {
  readonly direction: Direction;
  readonly #elsewhere: SchemaReferences;
  /** The shapes that refer to themselves and are being described. */
  readonly #within: unknown[] = [];

  constructor(direction: Direction, elsewhere: SchemaReferences) {
    this.direction = direction;
    this.#elsewhere = elsewhere;
  }

  loose(at: string, what: string): void {
    this.#elsewhere.loose(at, what);
  }

  describe(shape: Kind, at: string): Schema {
    const name = shapeName(shape);
    return name === undefined ? this.body(shape, at) : this.#elsewhere.reference(shape, name, this.direction);
  }

  body(shape: Kind, at: string): Schema {
    const readyMade = builtInOf(shape);
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
        return enumeration(shape.options);
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

  #readyMade({ type, format }: BuiltIn): Schema {
    // Sent as text too, by a caller whose numbers end at 2^53; a pattern is asked of texts alone.
    if (type === "integer" && this.direction === "input") {
      return { type: ["integer", "string"], format, pattern: "^-?[0-9]+$" };
    }
    return { type, format };
  }
}

/** Something told loosely: where, and what is so. */
type ImpreciseSchema = readonly [at: string, what: string];

/** A named shape, as it is read and as it is written. */
interface Component {
  readonly name: string;
  readonly input: Form;
  readonly output: Form;
}
interface Form {
  schema: Schema;
  readonly loose: ImpreciseSchema[];
}

// A reference until every shape is known: no text of an author's begins with it.
const mark = "\0component:";

/**
 * The named shapes of a document. Which name a reference goes by is known only when all of them are: the form that is
 * read has one of its own where anything below it is read and written differently.
 */
export class Components {
  readonly #components = new Map<string, Component>();
  /** Further shapes of a name, which have to be described alike. */
  readonly #again: Component[] = [];
  readonly #known = new Set<Kind>();

  /** @param own The document's own schemas, read and written alike. */
  constructor(own: { readonly [name: string]: Schema }) {
    for (const [name, schema] of Object.entries(own)) {
      const form: Form = { schema, loose: [] };
      this.#components.set(name, { name, input: form, output: form });
    }
  }

  /** The schema of a shape, with marks for references; `loose` is told what it leaves open. */
  describe(shape: Kind, direction: Direction, at: string, loose: SchemaReferences["loose"]): Schema {
    return this.#describer(direction, loose).describe(shape, at);
  }

  /** A tree's schemas by name, each mark in them resolved, and what is wrong with the names. */
  finish(tree: unknown): {
    schemas: { [name: string]: Schema };
    problems: readonly string[];
    loose: readonly ImpreciseSchema[];
  } {
    const differing = this.#differing();
    const reached = this.#reached(tree);
    const schemas: { [name: string]: Schema } = {};
    const problems = this.#again
      .filter((again) => !sameForms(again, this.#components.get(again.name) as Component))
      .map(({ name }) => `two shapes are named ${name} and are not alike`);
    const loose: ImpreciseSchema[] = [];
    for (const component of this.#components.values()) {
      for (const direction of ["output", "input"] as const) {
        const form = component[direction];
        const isOwn = component.input === component.output;
        if (!isOwn && !reached.has(`${direction}:${component.name}`)) continue;
        const name = nameIn(direction, component.name, differing);
        const schema = this.#resolve(form.schema, differing) as Schema;
        if (name in schemas && JSON.stringify(schemas[name]) !== JSON.stringify(schema)) {
          problems.push(`the component ${name} is two shapes: one is named so, and one is how another is read`);
        }
        schemas[name] = schema;
        loose.push(...form.loose);
      }
    }
    return { schemas, problems, loose };
  }

  /** A tree with each mark as the reference it stands for. */
  resolve(tree: unknown): unknown {
    return this.#resolve(tree, this.#differing());
  }

  #describer(direction: Direction, loose: SchemaReferences["loose"]): ShapeDescriber {
    const reference: SchemaReferences["reference"] = (shape, given, direction) => {
      const name = componentName(given);
      if (!this.#known.has(shape)) this.#add(shape, name);
      return { $ref: `${mark}${direction}:${name}` };
    };
    return new ShapeDescriber(direction, { reference, loose });
  }

  #add(shape: Kind, name: string): void {
    this.#known.add(shape);
    const component: Component = { name, input: { schema: {}, loose: [] }, output: { schema: {}, loose: [] } };
    if (this.#components.has(name)) this.#again.push(component);
    else this.#components.set(name, component);
    for (const direction of ["output", "input"] as const) {
      const form = component[direction];
      form.schema = this.#describer(direction, (at, what) => form.loose.push([at, what])).body(shape, name);
    }
  }

  /** The names of what is read and written differently, itself or below. */
  #differing(): ReadonlySet<string> {
    const all = [...this.#components.values()];
    const differing = new Set(all.filter((one) => !sameBothWays(one)).map(({ name }) => name));
    for (let before = -1; before < differing.size;) {
      before = differing.size;
      for (const { name, input } of all) {
        if (marksIn(input.schema).some(([, its]) => differing.has(its))) differing.add(name);
      }
    }
    return differing;
  }

  /** Every `direction:name` a tree refers to, itself or through what it refers to. */
  #reached(tree: unknown): ReadonlySet<string> {
    const reached = new Set<string>();
    const visit = (part: unknown): void => {
      for (const [direction, name] of marksIn(part)) {
        if (reached.has(`${direction}:${name}`)) continue;
        reached.add(`${direction}:${name}`);
        visit(this.#components.get(name)?.[direction].schema);
      }
    };
    visit(tree);
    return reached;
  }

  #resolve(tree: unknown, differing: ReadonlySet<string>): unknown {
    if (typeof tree === "string") {
      const [found] = marksIn(tree);
      return found === undefined ? tree : `#/components/schemas/${nameIn(found[0], found[1], differing)}`;
    }
    if (typeof tree !== "object" || tree === null) return tree;
    if (Array.isArray(tree)) return tree.map((item) => this.#resolve(item, differing));
    return Object.fromEntries(Object.entries(tree).map(([name, value]) => [name, this.#resolve(value, differing)]));
  }
}

/** `order line` is `OrderLine`. */
function componentName(given: string): string {
  const words = given.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join("") || "Shape";
}

function nameIn(direction: Direction, name: string, differing: ReadonlySet<string>): string {
  return direction === "input" && differing.has(name) ? `${name}Input` : name;
}

function marksIn(tree: unknown): [direction: Direction, name: string][] {
  if (typeof tree === "string") {
    if (!tree.startsWith(mark)) return [];
    const [direction, name] = tree.slice(mark.length).split(":");
    return [[direction as Direction, name as string]];
  }
  return typeof tree === "object" && tree !== null ? Object.values(tree).flatMap(marksIn) : [];
}

function sameBothWays({ input, output }: Component): boolean {
  return spelled(input.schema) === spelled(output.schema).replaceAll(escapedMark("output"), escapedMark("input"));
}

function sameForms(one: Component, other: Component): boolean {
  return (
    spelled(one.input.schema) === spelled(other.input.schema) &&
    spelled(one.output.schema) === spelled(other.output.schema)
  );
}

function spelled(schema: Schema): string {
  return JSON.stringify(schema);
}

function escapedMark(direction: Direction): string {
  return JSON.stringify(`${mark}${direction}:`).slice(1, -1);
}
