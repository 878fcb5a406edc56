import type { Members } from "../read/names.ts";
import { writeMembers } from "./members.ts";
import type { Write, Writing } from "./writing.ts";

/** Writes any JSON, and refuses what `JSON.stringify` would drop or change in silence. */
export const writeFree: Write = (value, writing) => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : writing.fail("must be a finite number");
    case "bigint":
      return writing.fail("is a bigint, which JSON has no word for: give it the shape Shape.int64");
    case "object":
      if (value === null) return null;
      return Array.isArray(value) ? writeList(value, writing) : writeObject(value, writing);
    default:
      return writing.refuse("JSON", value);
  }
};

function writeList(list: readonly unknown[], writing: Writing): unknown {
  const level = writing.enter();
  if (level === undefined) return undefined;
  const out: unknown[] = [];
  for (let index = 0; index < list.length && writing.failure === undefined; index++) {
    writing.path[level] = index;
    out.push(writeFree(list[index], writing));
  }
  writing.depth = level;
  return out;
}

function writeObject(object: object, writing: Writing): unknown {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (object instanceof Date) return writing.fail("is a Date: give it the shape Shape.instant");
  if (prototype !== Object.prototype && prototype !== null) {
    return writing.fail("is an instance of a class: give its members as v.object");
  }
  const level = writing.enter();
  if (level === undefined) return undefined;
  const out: Members = {};
  writeMembers(Object.keys(object), object as Members, writeFree, out, writing);
  writing.depth = level;
  return out;
}
