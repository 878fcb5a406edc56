import type { Kind, RecordKind } from "../kind.ts";
import { itsName } from "../place.ts";
import { said } from "../said.ts";
import { mustBe } from "../sentences.ts";
import { isNeverRead, isObject } from "./names.ts";
import type { Members } from "./names.ts";
import { object } from "./object.ts";
import type { Compile, Read, Reader, Reading } from "./reading.ts";

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
        if (isNeverRead(name)) continue;
        reading.path[level] = name;
        const read = readName === undefined ? name : nameOf(name, readName, reading);
        const member = readValue(value[name], reading);
        if (!isNeverRead(read)) out[read] = member;
      }
      reading.depth = level;
      return out;
    },
  };
}

/** A name's own problem stands at `[name]` behind its member's place. */
function nameOf(name: string, read: Read, reading: Reading): string {
  const { count } = reading;
  reading.path[reading.depth++] = itsName;
  const made = read(name, reading);
  reading.depth--;
  return reading.count === count ? String(made) : name;
}
