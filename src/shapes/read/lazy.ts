import type { Kind, Lazy } from "../kind.ts";
import { everySort } from "../sentences.ts";
import { freeReader } from "./free.ts";
import type { Compile, Reader } from "./reading.ts";

/** A shape that refers to itself, compiled when a value first reaches it. */
export function lazyReader(shape: Lazy, compile: Compile<Kind>): Reader {
  // A getter that looks at the value may answer another shape for the next.
  const looks = shape.getter.length > 0;
  let fixed: Reader | undefined;
  const reader = (value: unknown): Reader => {
    if (fixed !== undefined) return fixed;
    const made = compile(shape.getter(value));
    if (!looks) fixed = made;
    return made;
  };
  return {
    sorts: () => (looks ? everySort : reader(undefined).sorts()),
    expected: () => (looks ? freeReader : reader(undefined)).expected(),
    read: (value, reading) => reader(value).read(value, reading),
  };
}
