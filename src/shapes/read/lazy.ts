import type { Kind, Lazy } from "../kind.ts";
import type { Compile, Reader } from "./reading.ts";

/** A shape that refers to itself, compiled when a value first reaches it. */
export function lazyReader(shape: Lazy, compile: Compile<Kind>): Reader {
  let fixed: Reader | undefined;
  const reader = (value: unknown): Reader => {
    if (fixed !== undefined) return fixed;
    const made = compile(shape.getter(value));
    // A getter that looks at the value may answer another shape for the next.
    if (shape.getter.length === 0) fixed = made;
    return made;
  };
  return {
    sorts: () => reader(undefined).sorts(),
    expected: () => reader(undefined).expected(),
    read: (value, reading) => reader(value).read(value, reading),
  };
}
