import type { Kind, TupleKind } from "../kind.ts";
import { said } from "../said.ts";
import { counted, mustBe } from "../sentences.ts";
import { freeReader } from "./free.ts";
import { list } from "./list.ts";
import type { Compile, Reader, Reading } from "./reading.ts";

export function tupleReader(shape: TupleKind, compile: Compile<Kind>): Reader {
  const items = shape.items.map((item) => compile(item).read);
  const rest = shape.rest !== undefined ? compile(shape.rest).read : shape.type === "loose_tuple" ? freeReader.read : undefined;
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
        tellCount(value.length, least, rest === undefined ? items.length : undefined, reading);
      }
      return out;
    },
  };
}

function tellCount(length: number, least: number, most: number | undefined, reading: Reading): void {
  const few = length < least;
  const how = least === most ? "exactly" : few ? "at least" : "at most";
  reading.wrong(few ? "too_few" : "too_many", `This must have ${how} ${counted(few ? least : (most ?? least), "item")}.`);
}

function mayBeAbsent(item: Kind): boolean {
  return item.type === "optional" || item.type === "exact_optional" || item.type === "nullish" || item.type === "undefinedable";
}
