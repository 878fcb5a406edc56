import type { Members } from "../read/names.ts";
import type { Write, Writing } from "./writing.ts";

/** Writes the members of an object whose names the shape leaves open. */
export function writeMembers(
  names: readonly string[],
  value: Members,
  write: Write,
  out: Members,
  writing: Writing,
): void {
  const level = writing.depth - 1;
  for (const name of names) {
    if (value[name] === undefined) continue;
    writing.path[level] = name;
    const written = write(value[name], writing);
    if (writing.failure !== undefined) return;
    if (written !== undefined) put(out, name, written);
  }
}

function put(out: Members, name: string, value: unknown): void {
  // Assigned, it would be the prototype and not a member.
  if (name === "__proto__")
    Object.defineProperty(out, name, { value, enumerable: true, configurable: true, writable: true });
  else out[name] = value;
}
