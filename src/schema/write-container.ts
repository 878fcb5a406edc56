import { counted } from "../counted.ts";
import { oneOf } from "./messages.ts";
import { LongInteger } from "./parse-json.ts";
import { partsOf, tagsOf } from "./read-choice.ts";
import { compileRead } from "./read.ts";
import { JsonReading, isObject } from "./reading.ts";
import type { Members } from "./reading.ts";
import { flattened, inMember, keepsSort, refuseJson, wholeBy } from "./valibot.ts";
import type { Action, Choice, Kind, ListKind, ObjectKind, RecordKind, TupleKind, Variant, Wrapper } from "./valibot.ts";
import { isNoObject, writeBoolean, writeAny, writeMembers, writeNumber, writeText, writeWhole } from "./writing.ts";
import type { CompileWrite, WriteValue, JsonWriting } from "./writing.ts";

export function listWriter(shape: ListKind, compile: CompileWrite<Kind>): WriteValue {
  const write = compile(shape.item);
  return (value, writing) => {
    if (!Array.isArray(value)) return writing.refuse("a list", value);
    const level = writing.enter();
    if (level === undefined) return undefined;
    const out: unknown[] = [];
    for (let index = 0; index < value.length && writing.failure === undefined; index++) {
      writing.path[level] = index;
      out.push(orNull(write(value[index], writing)));
    }
    writing.depth = level;
    return out;
  };
}

export function tupleWriter(shape: TupleKind, compile: CompileWrite<Kind>): WriteValue {
  const items = shape.items.map((item) => compile(item));
  const rest = shape.rest !== undefined ? compile(shape.rest) : shape.type === "loose_tuple" ? writeAny : undefined;
  return (value, writing) => {
    if (!Array.isArray(value)) return writing.refuse("a list", value);
    if (rest === undefined && value.length > items.length) {
      return writing.fail(`must have ${counted(items.length, "item")}, and has more`);
    }
    const level = writing.enter();
    if (level === undefined) return undefined;
    const out: unknown[] = [];
    for (let index = 0; index < Math.max(items.length, value.length) && writing.failure === undefined; index++) {
      writing.path[level] = index;
      const write = items[index] ?? rest;
      const item = write?.(value[index], writing);
      if (item !== undefined || index < value.length) out.push(orNull(item));
    }
    writing.depth = level;
    return out;
  };
}

/** An item of a list cannot be left out. */
function orNull(item: unknown): unknown {
  return item === undefined ? null : item;
}

/**
 * Writes the members that the shape declares, in its order, also from getters of a class.
 *
 * @param elsewhere Members that another shape of an intersection writes.
 */
export function objectWriter(
  shape: ObjectKind,
  compile: CompileWrite<Kind>,
  elsewhere: Iterable<string> = [],
): WriteValue {
  const members = Object.keys(shape.entries).map((name) => ({
    name,
    write: inMember(name, () => compile(shape.entries[name] as Kind)),
    // What every object inherits (`toString`) is not a member of the value.
    inherited: (Object.prototype as Members)[name],
  }));
  const rest = shape.rest !== undefined ? compile(shape.rest) : shape.type === "loose_object" ? writeAny : undefined;
  const declared = new Set([...members.map(({ name }) => name), ...elsewhere]);
  return (value, writing) => {
    if (!isObject(value)) return writing.refuse("an object", value);
    const level = writing.enter();
    if (level === undefined) return undefined;
    const out: Members = {};
    let isEmpty = true;
    for (let index = 0; index < members.length; index++) {
      const { name, write, inherited } = members[index] as (typeof members)[number];
      writing.path[level] = name;
      const given = value[name];
      const written = write(given === inherited ? undefined : given, writing);
      if (writing.failure !== undefined) return writing.leave(value, level);
      if (written === undefined) continue;
      out[name] = written;
      isEmpty = false;
    }
    if (rest !== undefined) {
      const names = Object.keys(value).filter((name) => !declared.has(name));
      writeMembers(names, value, rest, out, writing);
    }
    writing.depth = level;
    return isEmpty && isNoObject(value, writing) ? undefined : out;
  };
}

export function recordWriter(shape: RecordKind, compile: CompileWrite<Kind>): WriteValue {
  const writeName = compile(shape.key);
  const write = compile(shape.value);
  return (value, writing) => {
    if (!isObject(value)) return writing.refuse("an object", value);
    const level = writing.enter();
    if (level === undefined) return undefined;
    const names = Object.keys(value);
    for (const name of names) {
      writing.path[level] = name;
      checkName(name, writeName, writing);
    }
    const out: Members = {};
    writeMembers(names, value, write, out, writing);
    writing.depth = level;
    return names.length === 0 && isNoObject(value, writing) ? undefined : out;
  };
}

/** A shape may read names as numbers, which are texts again as names of an object. */
function checkName(name: string, write: WriteValue, writing: JsonWriting): void {
  const { failure } = writing;
  write(name, writing);
  if (writing.failure === failure || String(Number(name)) !== name) return;
  writing.failure = failure;
  write(Number(name), writing);
}

export function unionWriter(shape: Choice, compile: CompileWrite<Kind>): WriteValue {
  return firstThatFits(shape.options.map((option) => compile(option)));
}

export function variantWriter(shape: Variant, compile: CompileWrite<Kind>): WriteValue {
  const tags = shape.options.map((option) => tagsOf(option, shape.key));
  const all = shape.options.map((option) => compile(option));
  if (tags.includes("open")) return firstThatFits(all);

  const byTag = new Map<unknown, WriteValue[]>();
  all.forEach((write, index) => {
    for (const tag of tags[index] as readonly unknown[]) byTag.set(tag, [...(byTag.get(tag) ?? []), write]);
  });
  // A pipe may have changed the tag, or taken it away.
  const mayChange = shape.options.some(({ type, pipe }) => pipe !== undefined || type === "variant");
  if (mayChange && byTag.has(undefined)) byTag.set(undefined, [...(byTag.get(undefined) as WriteValue[]), ...all]);
  const writers = new Map([...byTag].map(([tag, options]) => [tag, firstThatFits(options)]));
  const others = mayChange ? firstThatFits(all) : undefined;
  const expected = oneOf([...byTag.keys()].filter((tag) => tag !== undefined));
  return (value, writing) => {
    if (!isObject(value)) return writing.refuse("an object", value);
    const write = writers.get(value[shape.key]) ?? others;
    if (write !== undefined) return write(value, writing);
    writing.path[writing.depth++] = shape.key;
    return writing.fail(`must be ${expected}`);
  };
}

/** Writes with the first shape that fits. */
function firstThatFits(options: readonly WriteValue[]): WriteValue {
  const [only] = options;
  if (only !== undefined && options.length === 1) return only;
  return once(options, (value, writing) => tryOptions(options, value, writing));
}

/** Writes each value with several shapes once: nested ones are cached, because otherwise each level doubles the work. */
function once(options: object, write: WriteValue): WriteValue {
  return (value, writing) => {
    const before = writing.outcomes;
    if (before === undefined || typeof value !== "object" || value === null) {
      writing.outcomes ??= new Map();
      const written = write(value, writing);
      writing.outcomes = before;
      return written;
    }
    let known = before.get(options);
    if (known === undefined) before.set(options, (known = new WeakMap()));
    let outcome = known.get(value);
    if (outcome === undefined) {
      outcome = { written: write(value, writing), failure: writing.failure };
      known.set(value, outcome);
    }
    writing.failure = outcome.failure;
    return outcome.written;
  };
}

/** Writes with the shape that leaves nothing out; failing that, with the first whose outermost omission is deepest. */
function tryOptions(options: readonly WriteValue[], value: unknown, writing: JsonWriting): unknown {
  const { depth } = writing;
  let best: unknown;
  let deepest = -1;
  for (const write of options) {
    const written = write(value, writing);
    const { failure } = writing;
    writing.depth = depth;
    writing.failure = undefined;
    const omission = failure === undefined ? omissionIn(written, value, writing) : -1;
    if (omission > deepest) [best, deepest] = [written, omission];
    if (deepest === Infinity) break;
  }
  return deepest === -1 ? writing.fail("is of none of the shapes it may have") : best;
}

/** The depth of the outermost member that a copy leaves out; infinite where it has all. Unions around it ask again. */
function omissionIn(written: unknown, value: unknown, writing: JsonWriting): number {
  if (typeof value !== "object" || value === null || typeof written !== "object" || written === null) return Infinity;
  const known = writing.omissions?.get(written);
  if (known !== undefined) return known;
  let depth = Infinity;
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    if (member === undefined) continue;
    const within = name in written ? 1 + omissionIn((written as Members)[name], member, writing) : 0;
    depth = Math.min(depth, within);
  }
  (writing.omissions ??= new WeakMap()).set(written, depth);
  return depth;
}

/** Writes the members that any of several shapes declares. */
export function intersectWriter(shape: Choice, compile: CompileWrite<Kind>): WriteValue {
  const writers = partsOf(shape, compile, (option, elsewhere) => objectWriter(option, compile, elsewhere));
  return once(writers, (value, writing) => {
    const parts: unknown[] = [];
    for (const write of writers) {
      parts.push(write(value, writing));
      if (writing.failure !== undefined) return undefined;
    }
    return parts.reduce(mergeWritten);
  });
}

/** What two shapes write of one value: of objects in it the members of both. */
function mergeWritten(one: unknown, other: unknown): unknown {
  if (one === other) return one;
  if (Array.isArray(one) && Array.isArray(other)) return one.map((item, index) => mergeWritten(item, other[index]));
  if (!isObject(one) || !isObject(other) || one instanceof LongInteger) return one;
  const both: Members = Object.assign(Object.create(null), one, other);
  for (const name of Object.keys(one))
    if (Object.hasOwn(other, name)) both[name] = mergeWritten(one[name], other[name]);
  return both;
}

/** Shapes that allow a value to be absent or null, or forbid it again. */
export function optionalWriter(shape: Wrapper, compile: CompileWrite<Kind>): WriteValue {
  const write = compile(shape.wrapped);
  const instead = shape.default === undefined ? undefined : defaultWriter(shape, write);
  switch (shape.type) {
    case "optional":
    case "exact_optional":
    case "undefinedable":
      return (value, writing) => (value === undefined ? instead?.(writing) : write(value, writing));
    case "nullable":
      return (value, writing) => {
        if (value === null || (value === undefined && instead !== undefined)) return instead?.(writing) ?? null;
        return write(value, writing);
      };
    case "nullish":
      return (value, writing) => {
        if (value === null || value === undefined) return instead === undefined ? value : instead(writing);
        return write(value, writing);
      };
    default:
      return (value, writing) => {
        const lacks =
          value === undefined ? shape.type !== "non_nullable" : value === null && shape.type !== "non_optional";
        return lacks ? writing.refuse("there", value) : write(value, writing);
      };
  }
}

/** A default is in its JSON form: it is read, and then written like any value. */
function defaultWriter(shape: Wrapper, write: WriteValue): (writing: JsonWriting) => unknown {
  const { read } = compileRead(shape);
  return (writing) => {
    const reading = new JsonReading("default");
    const value = read(shape.type === "nullable" ? null : undefined, reading);
    if (reading.count > 0) return writing.fail("is missing, and its default is not of its shape");
    return value === undefined || value === null ? value : write(value, writing);
  };
}

/** Transformations whose result always has the same sort. */
const makes: { readonly [type: string]: WriteValue } = {
  parse_boolean: writeBoolean,
  stringify_json: writeText,
  to_boolean: writeBoolean,
  to_number: writeNumber,
  to_string: writeText,
};

/** A pipe is written as its result: its last schema, or the value of an author's transformation. */
export function pipeWriter(shape: Kind, compile: CompileWrite<Kind>): WriteValue {
  const [first, ...behind] = flattened(shape);
  const whole = wholeBy(first, behind) !== undefined;
  let write = whole ? writeWhole : compile(first);
  for (const item of behind) write = after(item, write, compile);
  return isLeftOut(first) ? (value, writing) => (value === undefined ? undefined : write(value, writing)) : write;
}

/** Whether an object may lack a member of this shape, which a transformation then never gets. */
export function isLeftOut(shape: Kind): boolean {
  const mayBe = shape.type === "optional" || shape.type === "exact_optional" || shape.type === "nullish";
  return mayBe && shape.default === undefined;
}

function after(item: Kind | Action, write: WriteValue, compile: CompileWrite<Kind>): WriteValue {
  if (item.kind === "schema") return compile(item);
  if (item.kind !== "transformation" || keepsSort.has(item.type)) {
    const narrows = item.type === "integer" || item.type === "safe_integer";
    return narrows && write === writeNumber ? writeWhole : write;
  }
  if (item.type === "to_date") refuseJson("v.toDate makes a Date, which has no JSON form: use Shape.instant.");
  if (item.type === "to_bigint") refuseJson("v.toBigint makes a bigint, which JSON cannot hold: use Shape.int64.");
  return makes[item.type] ?? writeAny;
}
