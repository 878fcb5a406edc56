import type { Choice, Kind } from "../kind.ts";
import { isObject } from "../read/names.ts";
import type { CompileWrite, Write } from "./writing.ts";

/** Writes what any of several shapes names. */
export function intersectWriter(shape: Choice, compile: CompileWrite<Kind>): Write {
  const writers = shape.options.map((option) => compile(option));
  return (value, writing) => {
    const parts: unknown[] = [];
    for (const write of writers) {
      parts.push(write(value, writing));
      if (writing.failure !== undefined) return undefined;
    }
    return parts.every(isObject) ? Object.assign(Object.create(null), ...parts) : parts[0];
  };
}
