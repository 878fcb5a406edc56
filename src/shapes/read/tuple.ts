import type { Kind, TupleKind } from "../kind.ts";
import { said } from "../said.ts";
import { counted, mustBe } from "../sentences.ts";
import { freeReader } from "./free.ts";
import { list } from "./list.ts";
import type { Compile, Reader, Reading } from "./reading.ts";

export function tupleReader(shape: TupleKind, compile: Compile<Kind>): Reader {
  const items = shape.items.map((item) => compile(item).read);
  const rest =
    shape.rest !== undefined ? compile(shape.rest).read : shape.type === "loose_tuple" ? freeReader.read : undefined;
  const least = shape.items.findLastIndex((item) => !mayBeAbsent(item)) + 1;
  return {
    sorts: () => list,
    expected: () => list,
    read: (value, reading) => {
      if (!Array.isArray(value)) return reading.wrong("unexpected_type", said(shape, value, mustBe(list, value)));
      const level = reading.depth++;
      const out: unknown[] = [];
      const most = rest === undefined ? items.length : value.length;
      for (let index = 0; index < Math.max(items.length, most); index++) {
        if (index >= value.length && index < least) break;
        reading.path[level] = index;
        const read = items[index] ?? rest;
        out.push(read?.(value[index], reading));
      }
      reading.depth = level;
      if (value.length < least || (rest === undefined && value.length > items.length)) {
        tellCount(shape, value, least, reading);
      }
      return out;
    },
  };
}

function tellCount(shape: TupleKind, value: readonly unknown[], least: number, reading: Reading): void {
  const few = value.length < least;
  const most = shape.rest === undefined && shape.type !== "loose_tuple" ? shape.items.length : Infinity;
  const how = least === most ? "exactly" : few ? "at least" : "at most";
  const sentence = `This must have ${how} ${counted(few ? least : most, "item")}.`;
  reading.wrong(few ? "too_few" : "too_many", said(shape, value, sentence));
}

function mayBeAbsent(item: Kind): boolean {
  return (
    item.type === "optional" ||
    item.type === "exact_optional" ||
    item.type === "nullish" ||
    item.type === "undefinedable"
  );
}
