import type { Kind, ObjectKind, RecordKind } from "../kind.ts";
import { isObject } from "../read/names.ts";
import type { Members } from "../read/names.ts";
import { writeFree } from "./free.ts";
import type { CompileWrite, Write, Writing } from "./writing.ts";

/** Writes the members the shape declares, in its order; a getter of a class is as good as a member. */
export function objectWriter(shape: ObjectKind, compile: CompileWrite<Kind>): Write {
  const members = Object.keys(shape.entries).map((name) => ({ name, write: compile(shape.entries[name] as Kind) }));
  const rest = shape.rest !== undefined ? compile(shape.rest) : shape.type === "loose_object" ? writeFree : undefined;
  const declared = new Set(members.map(({ name }) => name));
  return (value, writing) => {
    if (!isObject(value)) return writing.refuse("an object", value);
    const level = writing.enter();
    const out: Members = rest === undefined ? {} : Object.create(null);
    for (let index = 0; index < members.length; index++) {
      const { name, write } = members[index] as (typeof members)[number];
      writing.path[level] = name;
      const written = write(value[name], writing);
      if (writing.failure !== undefined) return undefined;
      if (written !== undefined) out[name] = written;
    }
    if (rest !== undefined) {
      const names = Object.keys(value).filter((name) => !declared.has(name));
      writeMembers(names, value, rest, out, level, writing);
    }
    writing.depth = level;
    return out;
  };
}

export function recordWriter(shape: RecordKind, compile: CompileWrite<Kind>): Write {
  const writeName = compile(shape.key);
  const write = compile(shape.value);
  return (value, writing) => {
    if (!isObject(value)) return writing.refuse("an object", value);
    const level = writing.enter();
    const names = Object.keys(value);
    for (const name of names) {
      writing.path[level] = name;
      writeName(name, writing);
    }
    const out: Members = Object.create(null);
    writeMembers(names, value, write, out, level, writing);
    writing.depth = level;
    return out;
  };
}

function writeMembers(
  names: readonly string[],
  value: Members,
  write: Write,
  out: Members,
  level: number,
  writing: Writing,
): void {
  for (const name of names) {
    if (value[name] === undefined) continue;
    writing.path[level] = name;
    const written = write(value[name], writing);
    if (writing.failure !== undefined) return;
    if (written !== undefined) out[name] = written;
  }
}
