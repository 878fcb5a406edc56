import { keyOf } from "../../codecs/key-of.ts";
import type { Kind, ObjectKind } from "../kind.ts";
import { said } from "../said.ts";
import { mustBe, required, unknownMember } from "../sentences.ts";
import type { Sort } from "../sentences.ts";
import { copyOf } from "./copy.ts";
import { freeReader } from "./free.ts";
import { hasOwn, isNeverRead, isObject } from "./names.ts";
import type { Members } from "./names.ts";
import type { Compile, Read, Reader, Reading } from "./reading.ts";

export const object: readonly Sort[] = ["an object"];

interface Member {
  readonly name: string;
  readonly index: number;
  readonly read: Read;
  readonly absent: Absent;
}
/** What an object without the member reads as there. */
type Absent = "required" | "left out" | "default" | { readonly fallback: unknown };

/** Reads the members in the order they were sent, which is the order problems are told in. */
export function objectReader(shape: ObjectKind, compile: Compile<Kind>): Reader {
  const members = Object.keys(shape.entries).map((name, index): Member => {
    const entry = shape.entries[name] as Kind;
    return { name, index, read: compile(entry).read, absent: whenAbsent(entry) };
  });
  const byName = new Map(members.map((member) => [keyOf(member.name), member]));
  const readRest = restReader(shape, compile);

  return {
    sorts: () => object,
    expected: () => object,
    read: (value, reading) => {
      if (!isObject(value)) return reading.wrong("unexpected_type", said(shape, value, mustBe(object, value)));
      const level = reading.depth++;
      const path = reading.path;
      // What was parsed is handed on as it is, until something in it has to be another.
      let out: Members | undefined;
      let seen = 0;
      let next = 0;
      for (const name in value) {
        const given = value[name];
        if (given === undefined) continue;
        path[level] = name;
        // Most callers send members in the declared order.
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

/** Reads a member the shape does not declare; without one, such members are skipped. */
function restReader(shape: ObjectKind, compile: Compile<Kind>): Read | undefined {
  if (shape.type === "strict_object") return (_value, reading) => reading.wrong("unknown_member", unknownMember);
  const rest = shape.rest !== undefined ? compile(shape.rest) : shape.type === "loose_object" ? freeReader : undefined;
  if (rest === undefined) return undefined;
  return (value, reading) =>
    isNeverRead(reading.path[reading.depth - 1] as string) ? undefined : rest.read(value, reading);
}

function whenAbsent(entry: Kind): Absent {
  const mayBeAbsent = entry.type === "optional" || entry.type === "exact_optional" || entry.type === "nullish";
  if (mayBeAbsent && entry.default !== undefined) return "default";
  if (entry.fallback !== undefined) return { fallback: entry.fallback };
  return mayBeAbsent ? "left out" : "required";
}

/** The members sent before one, which all read as what they were. */
function membersBefore(last: string, value: Members): Members {
  const out: Members = {};
  for (const name in value) {
    if (name === last) break;
    out[name] = value[name];
  }
  return out;
}

/** What is missing is told when its object ends, in declared order. */
function withAbsent(
  members: readonly Member[],
  value: Members,
  out: Members | undefined,
  level: number,
  reading: Reading,
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
