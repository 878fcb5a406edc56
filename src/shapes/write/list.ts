import type { Kind, ListKind, TupleKind } from "../kind.ts";
import { counted } from "../sentences.ts";
import { writeFree } from "./free.ts";
import type { CompileWrite, Write } from "./writing.ts";

export function listWriter(shape: ListKind, compile: CompileWrite<Kind>): Write {
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

export function tupleWriter(shape: TupleKind, compile: CompileWrite<Kind>): Write {
  const items = shape.items.map((item) => compile(item));
  const rest = shape.rest !== undefined ? compile(shape.rest) : shape.type === "loose_tuple" ? writeFree : undefined;
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

/** A place in a list cannot be left out. */
function orNull(item: unknown): unknown {
  return item === undefined ? null : item;
}
