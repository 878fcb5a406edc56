import type { Result } from "../result.ts";
import { ok } from "../result.ts";
import { describedAs } from "../schema/described.ts";
import { isCompiled } from "../schema/standard.ts";
import type { AnyStandard } from "../schema/standard.ts";
import { kindOf, shapeName, builtInOf } from "../schema/valibot.ts";
import type { Kind, Lazy, BuiltIn } from "../schema/valibot.ts";
import {
  aliasOf,
  authoredName,
  foreignForms,
  referredParts,
  withReferences,
  withoutDefinitions,
} from "./foreign-schema.ts";
import type { ForeignForms } from "./foreign-schema.ts";
import {
  intersection,
  item,
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
import { anyJson, pipe } from "./schema-rules.ts";
import type { Describer, Direction, Schema } from "./schema-rules.ts";

/** How a describer refers to a named shape, and reports what JSON Schema cannot express. */
interface SchemaReferences {
  reference(shape: Kind, name: string, direction: Direction): Schema;
  /** The schema of a shape whose author described it. */
  described(shape: Kind, direction: Direction): Schema;
  imprecise(at: string, what: string): void;
}

/** What is noted while a shape is described. */
export interface SchemaNotes {
  /** The schema is less than the shape. */
  readonly imprecise: (at: string, what: string) => void;
  /** The shape cannot be described. */
  readonly problem: (what: string) => void;
}

// A getter that makes a new schema each time would never end; with two such members it would double at each step.
const maxNested = 4;

/** Describes shapes for one direction. */
class ShapeDescriber implements Describer {
  readonly direction: Direction;
  readonly #references: SchemaReferences;
  /** The getters of recursive shapes that are being described. */
  readonly #within: unknown[] = [];

  constructor(direction: Direction, references: SchemaReferences) {
    this.direction = direction;
    this.#references = references;
  }

  imprecise(at: string, what: string): void {
    this.#references.imprecise(at, what);
  }

  describe(shape: Kind, at: string): Schema {
    if (describedAs(shape) !== undefined) return this.#references.described(shape, this.direction);
    const name = shapeName(shape);
    return name === undefined ? this.body(shape, at) : this.#references.reference(shape, name, this.direction);
  }

  body(shape: Kind, at: string): Schema {
    const builtIn = builtInOf(shape);
    if (builtIn !== undefined) return this.#builtIn(builtIn);
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
        this.imprecise(at, anyJson);
        return {};
    }
  }

  #lazy(shape: Lazy, at: string): Schema {
    // A getter that reads the value may return a different shape for each.
    if (shape.getter.length > 0) {
      this.imprecise(at, anyJson);
      return {};
    }
    if (this.#within.includes(shape.getter) || this.#within.length > maxNested) {
      this.imprecise(at, "refers to itself and has no name: give the shape one with Shape.named");
      return {};
    }
    this.#within.push(shape.getter);
    const schema = this.describe(shape.getter(undefined), at);
    this.#within.pop();
    return schema;
  }

  #builtIn({ type, format }: BuiltIn): Schema {
    // A caller whose numbers end at 2^53 sends it as text. `pattern` applies to text only.
    if (type === "integer" && this.direction === "input") {
      return { type: ["integer", "string"], format, pattern: "^-?[0-9]+$" };
    }
    return { type, format };
  }
}

/** A place that the schema describes imprecisely, and why. */
type ImpreciseSchema = readonly [at: string, what: string];

/** A named shape, in its input and output form. */
interface Component {
  readonly name: string;
  /** The name that its author gave, where that is another. */
  readonly given?: string;
  readonly input: Form;
  readonly output: Form;
}
interface Form {
  schema: Schema;
  readonly imprecise: ImpreciseSchema[];
}

// Begins a reference that is not resolved yet. No text of an author begins with NUL.
const mark = "\0component:";

/**
 * The named shapes of a document. References are resolved when all shapes are known: the input form has a name of its own
 * if it, or anything below it, differs from the output form.
 */
export class Components {
  readonly #components = new Map<string, Component>();
  /** Further shapes with the same name, which must have the same schemas. */
  readonly #duplicates: Component[] = [];
  readonly #known = new Set<Kind>();
  /** The names of the parts of schemas that their own libraries describe, by JSON Pointer. */
  readonly #foreign = new Map<object, ForeignParts>();
  /** What {@link #differing} found, until a component is added. */
  #found: { readonly among: number; readonly differing: ReadonlySet<string> } | undefined;

  readonly #base: string;

  /**
   * @param own The framework's own schemas, whose forms are the same.
   * @param base Where a reference finds them.
   */
  constructor(own: { readonly [name: string]: Schema }, base = "#/components/schemas/") {
    this.#base = base;
    for (const [name, schema] of Object.entries(own)) {
      const form: Form = { schema, imprecise: [] };
      this.#components.set(name, { name, input: form, output: form });
    }
  }

  /** The schema of a shape, with marks for references. */
  describe(shape: AnyStandard, direction: Direction, at: string, notes: SchemaNotes): Schema {
    if (isCompiled(shape)) return item(kindOf(shape), at, this.#describer(direction, notes.imprecise));
    const schema = this.#foreignSchema(shape, direction);
    if (schema.ok) return schema.value;
    notes.problem(`has for its ${at} ${schema.error}`);
    return {};
  }

  /**
   * A schema of answers, with marks for references, as a component: of this name, or with a number behind it where a shape has that.
   * One that is a component already stays as it is.
   */
  asComponent(schema: Schema, name: string): Schema {
    if (typeof schema["$ref"] === "string") return schema;
    let free = name;
    for (let count = 2; this.#components.has(free); count++) free = `${name}${count}`;
    const form: Form = { schema, imprecise: [] };
    this.#components.set(free, { name: free, input: form, output: { ...form } });
    return referenceTo(free, "output");
  }

  /** The schemas that a tree refers to, with references resolved, and the problems of their names. */
  finish(tree: unknown): {
    schemas: { [name: string]: Schema };
    problems: readonly string[];
    imprecise: readonly ImpreciseSchema[];
  } {
    const differing = this.#differing();
    const reached = this.#reached(tree);
    const schemas: { [name: string]: Schema } = {};
    const problems = this.#duplicates
      .map((duplicate) => [this.#components.get(duplicate.name) as Component, duplicate] as const)
      .filter(([one, other]) => !sameForms(one, other))
      .map(([one, other]) => clashOf(one, other));
    const imprecise: ImpreciseSchema[] = [];
    for (const component of this.#components.values()) {
      for (const direction of ["output", "input"] as const) {
        const form = component[direction];
        const isOwn = component.input === component.output;
        if (!isOwn && !reached.has(`${direction}:${component.name}`)) continue;
        const name = nameIn(direction, component.name, differing);
        const schema = this.#resolve(form.schema, differing) as Schema;
        if (name in schemas && JSON.stringify(schemas[name]) !== JSON.stringify(schema)) {
          problems.push(`the component ${name} is two shapes: one has that name, and one is the input form of another`);
        }
        schemas[name] = schema;
        imprecise.push(...form.imprecise);
      }
    }
    return { schemas, problems, imprecise };
  }

  /** Resolves the references of a tree. */
  resolve(tree: unknown): unknown {
    return this.#resolve(tree, this.#differing());
  }

  #describer(direction: Direction, imprecise: SchemaReferences["imprecise"]): ShapeDescriber {
    const reference: SchemaReferences["reference"] = (shape, given, direction) => {
      const name = componentName(given);
      if (!this.#known.has(shape)) this.#add(shape, name, given);
      return referenceTo(name, direction);
    };
    const described: SchemaReferences["described"] = (shape, direction) => {
      const schema = this.#foreignSchema(shape as unknown as AnyStandard, direction);
      return schema.ok ? schema.value : {};
    };
    return new ShapeDescriber(direction, { reference, described, imprecise });
  }

  /** The schema of a shape that its library describes, or its author. Its references become components. */
  #foreignSchema(shape: AnyStandard, direction: Direction): Result<Schema, string> {
    let parts = this.#foreign.get(shape);
    if (parts === undefined) this.#foreign.set(shape, (parts = this.#addForeign(shape)));
    const form = parts.forms[direction];
    if (!form.ok) return form;
    const name = parts.names.get("");
    return ok(name === undefined ? referring(form.value, parts.names, direction) : referenceTo(name, direction));
  }

  #addForeign(shape: AnyStandard): ForeignParts {
    const forms = foreignForms(shape);
    const given = shapeName(shape);
    const named = given === undefined ? undefined : componentName(given);
    for (let attempt = 0; ; attempt++) {
      const components = foreignComponents(forms, named, attempt);
      const isTaken = [...components.values()].some((one) => {
        const known = this.#components.get(one.name);
        return known !== undefined && one.name !== named && !sameForms(one, known);
      });
      if (isTaken) continue;
      for (const one of components.values()) {
        const known = this.#components.get(one.name);
        if (known === undefined) this.#components.set(one.name, one);
        else if (!sameForms(one, known)) this.#duplicates.push(one);
      }
      return { forms, names: new Map([...components].map(([pointer, { name }]) => [pointer, name])) };
    }
  }

  #add(shape: Kind, name: string, given: string): void {
    this.#known.add(shape);
    const forms = { input: { schema: {}, imprecise: [] }, output: { schema: {}, imprecise: [] } };
    const component: Component = { name, given, ...forms };
    if (this.#components.has(name)) this.#duplicates.push(component);
    else this.#components.set(name, component);
    for (const direction of ["output", "input"] as const) {
      const form = component[direction];
      form.schema = this.#describer(direction, (at, what) => form.imprecise.push([at, what])).body(shape, name);
    }
  }

  /** The names of the shapes whose forms differ, or that contain one. A component that is added never changes. */
  #differing(): ReadonlySet<string> {
    const { size } = this.#components;
    if (this.#found?.among !== size) this.#found = { among: size, differing: this.#compared() };
    return this.#found.differing;
  }

  #compared(): ReadonlySet<string> {
    const all = [...this.#components.values()];
    const differing = new Set(all.filter((one) => !sameBothWays(one)).map(({ name }) => name));
    for (let before = -1; before < differing.size;) {
      before = differing.size;
      for (const { name, input } of all) {
        if (marksIn(input.schema).some(([, inner]) => differing.has(inner))) differing.add(name);
      }
    }
    return differing;
  }

  /** Every `direction:name` that a tree refers to, directly or not. */
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
      return found === undefined ? tree : `${this.#base}${nameIn(found[0], found[1], differing)}`;
    }
    if (typeof tree !== "object" || tree === null) return tree;
    if (Array.isArray(tree)) return tree.map((item) => this.#resolve(item, differing));
    return Object.fromEntries(Object.entries(tree).map(([name, value]) => [name, this.#resolve(value, differing)]));
  }
}

/** A schema that its library describes, and the names of its parts by JSON Pointer. */
interface ForeignParts {
  readonly forms: ForeignForms;
  readonly names: ReadonlyMap<string, string>;
}

/**
 * The parts of a schema that must be components, by JSON Pointer: those that are referred to, and the whole one if it has a name.
 *
 * @param attempt Counts up while a name is taken by another schema.
 */
function foreignComponents(forms: ForeignForms, named: string | undefined, attempt: number): Map<string, Component> {
  const roots = { input: rootOf(forms.input, forms.output), output: rootOf(forms.output, forms.input) };
  const parts = { input: referredParts(roots.input), output: referredParts(roots.output) };
  const alias = sameAlias(roots.input, roots.output);
  const pointers = new Set([...(named === undefined ? [] : [""]), ...parts.input.keys(), ...parts.output.keys()]);
  // A schema that only refers to a part of it is that part.
  if (alias !== undefined) pointers.delete("");
  const names = new Map<string, string>();
  for (const pointer of pointers) names.set(pointer, nameOf(pointer));
  if (alias !== undefined) names.set("", names.get(alias) as string);

  function nameOf(pointer: string): string {
    if (named !== undefined && pointer === (alias ?? "")) return named;
    const authored = authoredName(pointer);
    if (authored === undefined) return `Schema${names.size + 1 + attempt}`;
    return attempt === 0 ? componentName(authored) : `${componentName(authored)}${attempt + 1}`;
  }

  const formOf = (pointer: string, direction: Direction): Form => {
    const other = direction === "input" ? "output" : "input";
    const whole = pointer === "" ? roots[direction] : undefined;
    const part = whole ?? parts[direction].get(pointer) ?? parts[other].get(pointer) ?? {};
    return { schema: referring(part, names, direction), imprecise: [] };
  };
  return new Map(
    [...pointers].map((pointer) => {
      const name = names.get(pointer) as string;
      return [pointer, { name, input: formOf(pointer, "input"), output: formOf(pointer, "output") }];
    }),
  );
}

/** Where both forms are nothing but a `$ref` to the same part of it, the pointer of that part. */
function sameAlias(input: Schema, output: Schema): string | undefined {
  const alias = aliasOf(input);
  return alias !== "" && alias === aliasOf(output) ? alias : undefined;
}

/** A form; where its library makes none, the other one, as if both were alike. */
function rootOf(form: Result<Schema, string>, other: Result<Schema, string>): Schema {
  if (form.ok) return form.value;
  return other.ok ? other.value : {};
}

function referring(schema: Schema, names: ReadonlyMap<string, string>, direction: Direction): Schema {
  const textOf = (pointer: string | undefined): string | undefined => {
    const name = pointer === undefined ? undefined : names.get(pointer);
    return name === undefined ? undefined : (referenceTo(name, direction)["$ref"] as string);
  };
  return withReferences(withoutDefinitions(schema), textOf) as Schema;
}

function referenceTo(name: string, direction: Direction): Schema {
  return { $ref: `${mark}${direction}:${name}` };
}

/** `order line` becomes `OrderLine`. */
function componentName(given: string): string {
  const words = given.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return words.map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`).join("") || "Shape";
}

function clashOf({ name, given: one = name }: Component, { given: other = name }: Component): string {
  if (one === other) return `two different shapes are named ${name}`;
  return `the shapes named ${one} and ${other} are both the component ${name}, whose name has ASCII letters and digits alone`;
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
