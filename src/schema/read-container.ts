import { counted } from "../counted.ts";
import { keyOf } from "../http/bytes.ts";
import { everySort, memberName, mustBe, required, tooLargeToRead, unknownMember } from "./messages.ts";
import type { Sort } from "./messages.ts";
import { hasOwn, isNeverRead, isObject } from "./reading.ts";
import type { Compile, Members, ReadValue, Reader, JsonReading } from "./reading.ts";
import { authorMessage, inMember } from "./valibot.ts";
import type { Kind, ListKind, ObjectKind, RecordKind, TupleKind } from "./valibot.ts";

/** Copies the lists and plain objects of a value, so that each request has its own. */
export function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member)]));
}

/** Reads any JSON: the parsed value itself, unless a part of it has to change. */
export const anyReader: Reader = { read, sorts: () => everySort, expected: () => ["any JSON"] };

function read(value: unknown, reading: JsonReading): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) return reading.wrong("too_large", tooLargeToRead);
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return readList(value, reading);
  return isObject(value) ? readObject(value, reading) : value;
}

function readList(list: readonly unknown[], reading: JsonReading): unknown {
  const level = reading.depth++;
  let out: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    reading.path[level] = index;
    const item = read(list[index], reading);
    if (out !== undefined) out.push(item);
    else if (item !== list[index]) out = [...list.slice(0, index), item];
  }
  reading.depth = level;
  return out ?? list;
}

function readObject(object: Members, reading: JsonReading): unknown {
  const level = reading.depth++;
  const names = Object.keys(object);
  let out: Members | undefined;
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as string;
    reading.path[level] = name;
    const skipped = isNeverRead(name);
    const member = skipped ? undefined : read(object[name], reading);
    if (out === undefined && (skipped || member !== object[name])) {
      out = {};
      for (const earlier of names.slice(0, index)) out[earlier] = object[earlier];
    }
    if (out !== undefined && !skipped) out[name] = member;
  }
  reading.depth = level;
  return out ?? object;
}

const list: readonly Sort[] = ["a list"];

export function listReader(shape: ListKind, compile: Compile<Kind>): Reader {
  const item = compile(shape.item).read;
  return {
    sorts: () => list,
    expected: () => list,
    read: (value, reading) => {
      if (!Array.isArray(value))
        return reading.wrong("unexpected_type", authorMessage(shape, value, mustBe(list, value)));
      const given: readonly unknown[] = value;
      const level = reading.depth++;
      const path = reading.path;
      // The parsed list is returned itself, until an item reads as another value.
      let out: unknown[] | undefined;
      for (let index = 0; index < given.length; index++) {
        path[level] = index;
        const one = given[index];
        const read = item(one, reading);
        if (out !== undefined) out.push(read);
        else if (read !== one) out = [...given.slice(0, index), read];
      }
      reading.depth = level;
      return out ?? given;
    },
  };
}

export const object: readonly Sort[] = ["an object"];

interface Member {
  readonly name: string;
  readonly index: number;
  readonly read: ReadValue;
  readonly absent: Absent;
}
/** The value of an absent member. */
type Absent = "required" | "left out" | "default" | { readonly fallback: unknown };

/**
 * Reads the members in the order they were sent, which is also the order of the problems.
 *
 * @param elsewhere Members that another shape of an intersection reads.
 */
export function objectReader(shape: ObjectKind, compile: Compile<Kind>, elsewhere?: ReadonlySet<string>): Reader {
  const members = Object.keys(shape.entries).map((name, index): Member => {
    const entry = shape.entries[name] as Kind;
    return { name, index, read: inMember(name, () => compile(entry)).read, absent: whenAbsent(entry) };
  });
  const byName = new Map(members.map((member) => [keyOf(member.name), member]));
  const readRest = restReader(shape, compile, elsewhere);

  return {
    sorts: () => object,
    expected: () => object,
    read: (value, reading) => {
      if (!isObject(value)) return reading.wrong("unexpected_type", authorMessage(shape, value, mustBe(object, value)));
      const level = reading.depth++;
      const path = reading.path;
      // The parsed object is returned itself, until a member reads as another value.
      let out: Members | undefined;
      let seen = 0;
      let next = 0;
      for (const name in value) {
        const given = value[name];
        if (given === undefined) continue;
        path[level] = name;
        // Most clients send members in the declared order.
        let member = members[next];
        if (member?.name !== name) member = byName.get(keyOf(name));
        let result: unknown;
        if (member === undefined) result = readRest?.(given, reading);
        else {
          next = member.index + 1;
          seen++;
          result = member.read(given, reading);
        }
        if (result !== given) out ??= membersBefore(name, value);
        if (out !== undefined && result !== undefined) out[name] = result;
      }
      if (seen < members.length) out = withAbsent(members, value, out, level, reading);
      reading.depth = level;
      return out ?? value;
    },
  };
}

/** Reads a member that the shape does not declare; undefined where such members are skipped. */
function restReader(shape: ObjectKind, compile: Compile<Kind>, elsewhere?: ReadonlySet<string>): ReadValue | undefined {
  if (shape.type === "strict_object") return (_value, reading) => reading.wrong("unknown_member", unknownMember);
  const rest = shape.rest !== undefined ? compile(shape.rest) : shape.type === "loose_object" ? anyReader : undefined;
  if (rest === undefined) return undefined;
  return (value, reading) => {
    const name = reading.path[reading.depth - 1] as string;
    return isNeverRead(name) || elsewhere?.has(name) === true ? undefined : rest.read(value, reading);
  };
}

function whenAbsent(entry: Kind): Absent {
  const mayBeAbsent = entry.type === "optional" || entry.type === "exact_optional" || entry.type === "nullish";
  if (mayBeAbsent && entry.default !== undefined) return "default";
  if (entry.fallback !== undefined) return { fallback: entry.fallback };
  return mayBeAbsent ? "left out" : "required";
}

/** The members before one, which all read as they were. */
function membersBefore(last: string, value: Members): Members {
  const out: Members = {};
  for (const name in value) {
    if (name === last) break;
    out[name] = value[name];
  }
  return out;
}

/** Missing members are reported at the end of their object, in declared order. */
function withAbsent(
  members: readonly Member[],
  value: Members,
  out: Members | undefined,
  level: number,
  reading: JsonReading,
): Members | undefined {
  let all = out;
  for (const { name, read, absent } of members) {
    if (absent === "left out" || (value[name] !== undefined && hasOwn(value, name))) continue;
    reading.path[level] = name;
    if (absent === "required") {
      reading.wrong("required", required);
      continue;
    }
    const result = absent === "default" ? read(undefined, reading) : fallbackOf(absent.fallback);
    all ??= { ...value };
    if (result !== undefined) all[name] = result;
  }
  return all;
}

function fallbackOf(fallback: unknown): unknown {
  return typeof fallback === "function" ? fallback() : copyOf(fallback);
}

export function recordReader(shape: RecordKind, compile: Compile<Kind>): Reader {
  const readName = shape.key.type === "string" && shape.key.pipe === undefined ? undefined : compile(shape.key).read;
  const readValue = compile(shape.value).read;
  return {
    sorts: () => object,
    expected: () => object,
    read: (value, reading) => {
      if (!isObject(value)) return reading.wrong("unexpected_type", authorMessage(shape, value, mustBe(object, value)));
      const level = reading.depth++;
      const out: Members = {};
      for (const name of Object.keys(value)) {
        if (isNeverRead(name)) continue;
        reading.path[level] = name;
        const read = readName === undefined ? name : readMemberName(name, readName, reading);
        const member = readValue(value[name], reading);
        if (!isNeverRead(read)) out[read] = member;
      }
      reading.depth = level;
      return out;
    },
  };
}

/** The place of a name's own problem is its member's place and `[name]`. */
function readMemberName(name: string, read: ReadValue, reading: JsonReading): string {
  const { count } = reading;
  reading.path[reading.depth++] = memberName;
  const made = read(name, reading);
  reading.depth--;
  return reading.count === count ? String(made) : name;
}

export function tupleReader(shape: TupleKind, compile: Compile<Kind>): Reader {
  const items = shape.items.map((item) => compile(item).read);
  const rest =
    shape.rest !== undefined ? compile(shape.rest).read : shape.type === "loose_tuple" ? anyReader.read : undefined;
  const min = shape.items.findLastIndex((item) => !mayEndBefore(item)) + 1;
  return {
    sorts: () => list,
    expected: () => list,
    read: (value, reading) => {
      if (!Array.isArray(value))
        return reading.wrong("unexpected_type", authorMessage(shape, value, mustBe(list, value)));
      const level = reading.depth++;
      const out: unknown[] = [];
      const max = rest === undefined ? items.length : value.length;
      for (let index = 0; index < Math.max(items.length, max); index++) {
        if (index >= value.length && index < min) break;
        reading.path[level] = index;
        const read = items[index] ?? rest;
        out.push(read?.(value[index], reading));
      }
      reading.depth = level;
      if (value.length < min || (rest === undefined && value.length > items.length)) {
        addCountProblem(shape, value, min, reading);
      }
      return out;
    },
  };
}

function addCountProblem(shape: TupleKind, value: readonly unknown[], min: number, reading: JsonReading): void {
  const few = value.length < min;
  const max = shape.rest === undefined && shape.type !== "loose_tuple" ? shape.items.length : Infinity;
  const how = min === max ? "exactly" : few ? "at least" : "at most";
  const sentence = `This must have ${how} ${counted(few ? min : max, "item")}.`;
  reading.wrong(few ? "too_few" : "too_many", authorMessage(shape, value, sentence));
}

/** Whether a list may end before an item of this shape. */
export function mayEndBefore({ type, fallback }: Kind): boolean {
  return (
    fallback !== undefined ||
    type === "optional" ||
    type === "exact_optional" ||
    type === "nullish" ||
    type === "undefinedable"
  );
}
