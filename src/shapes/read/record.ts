import type { Kind, RecordKind } from "../kind.ts";
import { said } from "../said.ts";
import { mustBe } from "../sentences.ts";
import { isObject, neverRead } from "./names.ts";
import type { Members } from "./names.ts";
import { object } from "./object.ts";
import type { Compile, Reader, Reading } from "./reading.ts";

export function recordReader(shape: RecordKind, compile: Compile<Kind>): Reader {
  const readName = shape.key.type === "string" && shape.key.pipe === undefined ? undefined : compile(shape.key).read;
  const readValue = compile(shape.value).read;
  return {
    sorts: () => object,
    expected: () => object,
    read: (value, reading) => {
      if (!isObject(value)) return reading.wrong("unexpected_type", said(shape, value, mustBe(object, value)));
      const level = reading.depth++;
      const out: Members = {};
      for (const name of Object.keys(value)) {
        if (neverRead.has(name)) continue;
        reading.path[level] = name;
        const read = readName === undefined ? name : nameOf(name, readName, reading);
        const member = readValue(value[name], reading);
        if (!neverRead.has(read)) out[read] = member;
      }
      reading.depth = level;
      return out;
    },
  };
}

/** A name's own problem stands at `[name]` behind its member's place. */
function nameOf(name: string, read: Reader["read"], reading: Reading): string {
  const aside = reading.aside();
  const made = read(name, aside);
  if (aside.count === 0) return String(made);
  reading.take(aside, "[name]");
  return name;
}
