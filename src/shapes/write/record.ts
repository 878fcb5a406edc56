import type { Kind, RecordKind } from "../kind.ts";
import { isObject } from "../read/names.ts";
import type { Members } from "../read/names.ts";
import { writeMembers } from "./members.ts";
import type { CompileWrite, Write } from "./writing.ts";

export function recordWriter(shape: RecordKind, compile: CompileWrite<Kind>): Write {
  const writeName = compile(shape.key);
  const write = compile(shape.value);
  return (value, writing) => {
    if (!isObject(value)) return writing.refuse("an object", value);
    const level = writing.enter();
    if (level === undefined) return undefined;
    const names = Object.keys(value);
    for (const name of names) {
      writing.path[level] = name;
      writeName(name, writing);
    }
    const out: Members = {};
    writeMembers(names, value, write, out, writing);
    writing.depth = level;
    return out;
  };
}
