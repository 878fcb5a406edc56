import type { Kind, Wrapper } from "../kind.ts";
import { compile as compileRead } from "../read/compile.ts";
import { Reading } from "../read/reading.ts";
import type { CompileWrite, Write, Writing } from "./writing.ts";

/** Shapes that let a value be absent or null, or take that back. */
export function optionalWriter(shape: Wrapper, compile: CompileWrite<Kind>): Write {
  const write = compile(shape.wrapped);
  const instead = shape.default === undefined ? undefined : defaultWriter(shape, write);
  switch (shape.type) {
    case "optional":
    case "exact_optional":
    case "undefinedable":
      return (value, writing) => (value === undefined ? instead?.(writing) : write(value, writing));
    case "nullable":
      return (value, writing) => {
        if (value === null || (value === undefined && instead !== undefined)) return instead?.(writing) ?? null;
        return write(value, writing);
      };
    case "nullish":
      return (value, writing) => {
        if (value === null || value === undefined) return instead === undefined ? value : instead(writing);
        return write(value, writing);
      };
    default:
      return (value, writing) => {
        const lacks =
          value === undefined ? shape.type !== "non_nullable" : value === null && shape.type !== "non_optional";
        return lacks ? writing.refuse("there", value) : write(value, writing);
      };
  }
}

/** A default is given in its JSON form: it is read, and written as any value is. */
function defaultWriter(shape: Wrapper, write: Write): (writing: Writing) => unknown {
  const { read } = compileRead(shape);
  return (writing) => {
    const reading = new Reading("default");
    const value = read(shape.type === "nullable" ? null : undefined, reading);
    if (reading.count > 0) return writing.fail("is missing, and its default is not of its shape");
    return value === undefined || value === null ? value : write(value, writing);
  };
}
