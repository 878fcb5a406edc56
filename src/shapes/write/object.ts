import type { Kind, ObjectKind } from "../kind.ts";
import { isObject } from "../read/names.ts";
import type { Members } from "../read/names.ts";
import { writeFree } from "./free.ts";
import { writeMembers } from "./members.ts";
import type { CompileWrite, Write } from "./writing.ts";

/** Writes the members the shape declares, in its order; a getter of a class is as good as a member. */
export function objectWriter(shape: ObjectKind, compile: CompileWrite<Kind>): Write {
  const members = Object.keys(shape.entries).map((name) => ({
    name,
    write: compile(shape.entries[name] as Kind),
    // What every object answers to (`toString`) is no member of the value.
    inherited: (Object.prototype as Members)[name],
  }));
  const rest = shape.rest !== undefined ? compile(shape.rest) : shape.type === "loose_object" ? writeFree : undefined;
  const declared = new Set(members.map(({ name }) => name));
  return (value, writing) => {
    if (!isObject(value)) return writing.refuse("an object", value);
    const level = writing.enter();
    if (level === undefined) return undefined;
    const out: Members = {};
    for (let index = 0; index < members.length; index++) {
      const { name, write, inherited } = members[index] as (typeof members)[number];
      writing.path[level] = name;
      const given = value[name];
      const written = write(given === inherited ? undefined : given, writing);
      if (writing.failure !== undefined) return undefined;
      if (written !== undefined) out[name] = written;
    }
    if (rest !== undefined) {
      const names = Object.keys(value).filter((name) => !declared.has(name));
      writeMembers(names, value, rest, out, writing);
    }
    writing.depth = level;
    return out;
  };
}
