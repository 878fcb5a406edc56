import { getGlobalConfig } from "valibot";
import type { Kind } from "../kind.ts";
import { everySort } from "../sentences.ts";
import { copyOf } from "./copy.ts";
import type { Compile, Reader } from "./reading.ts";

/** `v.fallback`: what cannot be read is read as something else, and nobody is told. */
export function fallbackReader(shape: Kind, compile: Compile<Kind>): Reader {
  const { fallback, ...without } = shape;
  const inner = compile(without);
  return {
    sorts: () => everySort,
    expected: inner.expected,
    read: (value, reading) => {
      const trial = reading.aside();
      const read = inner.read(value, trial);
      if (trial.count === 0) return read;
      return typeof fallback === "function" ? fallback({ value }, getGlobalConfig()) : copyOf(fallback);
    },
  };
}
