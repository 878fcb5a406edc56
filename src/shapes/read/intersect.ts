import type { Choice, Kind } from "../kind.ts";
import { said } from "../said.ts";
import { unreadable } from "../sentences.ts";
import { isObject } from "./names.ts";
import type { Compile, Reader } from "./reading.ts";

/** A value that is of every one of several shapes, as `v.intersect` puts it together again. */
export function intersectReader(shape: Choice, compile: Compile<Kind>): Reader {
  const options = shape.options.map((option) => compile(option));
  const [first] = options;
  if (first === undefined) throw new Error("v.intersect of no shapes is not a shape of JSON.");
  return {
    sorts: () => first.sorts().filter((sort) => options.every((option) => option.sorts().includes(sort))),
    expected: first.expected,
    read: (value, reading) => {
      const all = reading.aside();
      const parts = options.map((option) => option.read(value, all));
      if (all.count > 0) reading.takeDistinct(all);
      if (all.valueless > 0) return undefined;
      const merged = parts.reduce(merge);
      return merged === conflict ? reading.wrong("malformed", said(shape, value, unreadable)) : merged;
    },
  };
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
