import { everySort, mustBe, oneOf, required, sortOf, unreadable } from "./messages.ts";
import type { Sort } from "./messages.ts";
import { anyReader, object, objectReader } from "./read-container.ts";
import { enumKey, enumReader } from "./read-scalar.ts";
import { hasOwn, isObject } from "./reading.ts";
import type { Compile, ReadOutcome, Outcomes, ReadValue, Reader, JsonReading } from "./reading.ts";
import { authorMessage, refuseKind } from "./valibot.ts";
import type { Choice, Kind, Lazy, ObjectKind, Variant } from "./valibot.ts";

/** The values of a tag, `undefined` among them where it may be absent; `open` if they cannot be listed. */
type Tags = readonly unknown[] | "open";

/** The tag values of one option of a tagged union. */
export function tagsOf(option: Kind, key: string): Tags {
  if (option.type === "variant") return all(option.options.map((inner) => tagsOf(inner, key)));
  const entry = "entries" in option ? option.entries[key] : undefined;
  return entry === undefined || option.type === "lazy" ? "open" : tagWords(entry);
}

function tagWords(entry: Kind): Tags {
  const changes = entry.pipe?.some((item, index) => index > 0 && item.kind === "transformation") ?? false;
  if (changes || entry.fallback !== undefined) return "open";
  switch (entry.type) {
    case "literal":
      return [entry.literal];
    case "picklist":
    case "enum":
      return entry.options;
    case "null":
      return [null];
    case "union":
      return all(entry.options.map(tagWords));
    case "optional":
    case "exact_optional":
    case "nullish":
      return all([tagWords(entry.wrapped), entry.type === "nullish" ? [undefined, null] : [undefined]]);
    case "nullable":
      return all([tagWords(entry.wrapped), [null]]);
    default:
      return "open";
  }
}

function all(lists: readonly Tags[]): Tags {
  return lists.includes("open") ? "open" : lists.flatMap((tags) => tags as readonly unknown[]);
}

/** Adds the problems of trials that all failed to a reading. */
type AddProblems = (trials: readonly JsonReading[], reading: JsonReading, value: unknown) => void;

/** Reads a value with the first of several shapes that has no problem with it. */
function firstOption(options: readonly ReadValue[], addProblems: AddProblems): ReadValue {
  return once(options, (value, reading) => tryOptions(options, addProblems, value, reading));
}

/**
 * Reads each value with several shapes once: the outcome for a value within a trial is kept until the body is read. Else nested
 * trials would read an inner value once for each shape of every level: years for a body of some kilobytes.
 */
function once(options: object, read: ReadValue): ReadValue {
  return (value, reading) => {
    const { outcomes } = reading;
    if (outcomes === undefined || typeof value !== "object" || value === null) return read(value, reading);
    const known = outcomesOf(outcomes, options);
    let outcome = known.get(value);
    if (outcome === undefined) {
      const found = reading.trial();
      outcome = { value: read(value, found), found };
      known.set(value, outcome);
    }
    reading.take(outcome.found);
    return outcome.value;
  };
}

function outcomesOf(outcomes: Outcomes, options: object): WeakMap<object, ReadOutcome> {
  let known = outcomes.get(options);
  if (known === undefined) outcomes.set(options, (known = new WeakMap()));
  return known;
}

function tryOptions(
  options: readonly ReadValue[],
  addProblems: AddProblems,
  value: unknown,
  reading: JsonReading,
): unknown {
  const trials: JsonReading[] = [];
  for (const read of options) {
    const trial = reading.trial();
    const result = read(value, trial);
    if (trial.count === 0) return result;
    trials.push(trial);
  }
  addProblems(trials, reading, value);
  return undefined;
}

/** A union: the sort of a value excludes some of its shapes. */
export function unionReader(shape: Choice, compile: Compile<Kind>): Reader {
  const words = enumOf(shape);
  if (words !== undefined) return enumReader(shape, words);
  const options = shape.options.map((option) => compile(option));
  const expected = (): readonly string[] => [...new Set(options.flatMap((option) => option.expected()))];
  const addProblems = (trials: readonly JsonReading[], reading: JsonReading, value: unknown): void => {
    const ofItsType = trials.filter((trial) => trial.valueless === 0);
    if (ofItsType.length === 1) reading.take(ofItsType[0] as JsonReading);
    else reading.wrong("malformed", authorMessage(shape, value, unreadable));
  };
  const bySort = new Map<string, ReadValue>();
  const readerFor = (sort: string): ReadValue => {
    const open = options.filter((option) => option.sorts().includes(sort as Sort)).map(({ read }) => read);
    if (open.length > 1) return firstOption(open, addProblems);
    return (
      open[0] ??
      ((value, reading) => reading.wrong("unexpected_type", authorMessage(shape, value, mustBe(expected(), value))))
    );
  };
  return {
    sorts: () => [...new Set(options.flatMap((option) => option.sorts()))],
    expected,
    read: (value, reading) => {
      const sort = sortOf(value);
      let read = bySort.get(sort);
      if (read === undefined) bySort.set(sort, (read = readerFor(sort)));
      return read(value, reading);
    },
  };
}

/** The words of a union that has only words. */
function enumOf(shape: Choice): readonly unknown[] | undefined {
  if (shape.options.length === 0) return undefined;
  const words: unknown[] = [];
  for (const option of shape.options) {
    if (option.pipe !== undefined || option.fallback !== undefined) return undefined;
    if (option.type === "literal") words.push(option.literal);
    else if (option.type === "picklist" || option.type === "enum") words.push(...option.options);
    else return undefined;
  }
  return words;
}

/** A tagged union: the tag selects the object, at any position among the members. */
export function variantReader(shape: Variant, compile: Compile<Kind>): Reader {
  const tags = shape.options.map((option) => tagsOf(option, shape.key));
  // A tag that may be any text selects nothing: the objects are then tried as in any union.
  if (tags.includes("open")) return unionReader({ ...shape, type: "union" }, compile);

  const byTag = new Map<unknown, ReadValue[]>();
  shape.options.forEach((option, index) => {
    const { read } = compile(option);
    for (const tag of tags[index] as readonly unknown[]) byTag.set(tag, [...(byTag.get(tag) ?? []), read]);
  });
  const readers = new Map([...byTag].map(([tag, options]) => [enumKey(tag), oneReader(options)]));
  const words = [...byTag.keys()].filter((tag) => tag !== undefined);

  return {
    sorts: () => object,
    expected: () => object,
    read: (value, reading) => {
      if (!isObject(value)) return reading.wrong("unexpected_type", authorMessage(shape, value, mustBe(object, value)));
      const sent = hasOwn(value, shape.key) ? value[shape.key] : undefined;
      const tag = typeof sent === "bigint" ? Number(sent) : sent;
      const read = readers.get(enumKey(tag)) ?? (tag === null ? readers.get(undefined) : undefined);
      if (read !== undefined) return read(value, reading);
      reading.path[reading.depth++] = shape.key;
      if (tag === undefined) reading.wrong("required", required);
      else reading.wrong("unknown_word", authorMessage(shape, value, `This must be ${oneOf(words)}.`));
      reading.depth--;
      return undefined;
    },
  };
}

/** Several objects may have the same tag; the problems are those of the first one. */
function oneReader(options: readonly ReadValue[]): ReadValue {
  if (options.length === 1) return options[0] as ReadValue;
  return firstOption(options, (trials, reading) => {
    const first = trials.find((trial) => trial.valueless === 0) ?? trials[0];
    if (first !== undefined) reading.take(first);
  });
}

/** A value that fits each of several shapes, merged as `v.intersect` does. */
export function intersectReader(shape: Choice, compile: Compile<Kind>): Reader {
  const options = partsOf(shape, compile, (option, elsewhere) => objectReader(option, compile, elsewhere));
  const [first] = options;
  if (first === undefined) throw new Error("v.intersect of no shapes is not a shape of JSON.");
  return {
    sorts: () => first.sorts().filter((sort) => options.every((option) => option.sorts().includes(sort))),
    expected: first.expected,
    read: once(options, (value, reading) => {
      const all = reading.trial();
      const parts = options.map((option) => option.read(value, all));
      if (all.count > 0) reading.takeDistinct(all);
      if (all.valueless > 0) return undefined;
      const merged = parts.reduce(merge);
      return merged === conflict ? reading.wrong("malformed", authorMessage(shape, value, unreadable)) : merged;
    }),
  };
}

/**
 * What is compiled of each shape of an intersection. A member that one of them declares is not any JSON to a loose object next to it:
 * that would keep a null that stands for absence, and the text of an instant.
 *
 * @param loose Compiles a loose object without the members that others declare.
 */
export function partsOf<Part>(
  { options }: Choice,
  compile: (option: Kind) => Part,
  loose: (option: ObjectKind, elsewhere: ReadonlySet<string>) => Part,
): readonly Part[] {
  return options.map((option) => {
    if (option.type !== "loose_object" || option.pipe !== undefined || option.fallback !== undefined)
      return compile(option);
    refuseKind(option);
    const others = options.filter((other) => other !== option);
    return loose(option, new Set(others.flatMap((other) => ("entries" in other ? Object.keys(other.entries) : []))));
  });
}

const conflict = Symbol("two shapes read one value as different things");

function merge(one: unknown, other: unknown): unknown {
  if (one === other) return one;
  if (one instanceof Date && other instanceof Date) return one.getTime() === other.getTime() ? one : conflict;
  if (Array.isArray(one) && Array.isArray(other)) {
    if (one.length !== other.length) return conflict;
    const items = one.map((item, index) => merge(item, other[index]));
    return items.includes(conflict) ? conflict : items;
  }
  if (!isObject(one) || !isObject(other)) return conflict;
  const both = { ...one, ...other };
  for (const name of Object.keys(one)) {
    if (Object.hasOwn(other, name)) both[name] = merge(one[name], other[name]);
  }
  return Object.values(both).includes(conflict) ? conflict : both;
}

/** A recursive shape, compiled when a value first reaches it. */
export function lazyReader(shape: Lazy, compile: Compile<Kind>): Reader {
  // A getter that depends on the value may return another shape for the next.
  const looks = shape.getter.length > 0;
  let fixed: Reader | undefined;
  const reader = (value: unknown): Reader => {
    if (fixed !== undefined) return fixed;
    const made = compile(shape.getter(value));
    if (!looks) fixed = made;
    return made;
  };
  return {
    sorts: () => (looks ? everySort : reader(undefined).sorts()),
    expected: () => (looks ? anyReader : reader(undefined)).expected(),
    read: (value, reading) => reader(value).read(value, reading),
  };
}
