import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { LongInteger, withDigits } from "./exact-integers.ts";
import { kindOf } from "./kind.ts";
import { placeOf } from "./place.ts";
import type { Shape } from "./shape.ts";
import { compile } from "./write/compile.ts";
import { Writing } from "./write/writing.ts";

/** Writes the values of a shape as JSON. */
export interface JsonWriter<in A> {
  /** The JSON text, or for the log what cannot be written and where: never the value itself. */
  readonly write: (value: A) => Result<string, string>;
}

const surrogateEscape = "\\ud";

/**
 * Makes the writer of a shape, once, when the app is made. What the shape does not name is not written; bounds are
 * the reader's to check.
 *
 * @throws Error for a schema no JSON can be; the caller says which route has it.
 */
export function compileWriter<A, Json>(shape: Shape<A, Json>): JsonWriter<A> {
  const write = compile(kindOf(shape));
  return {
    write: (value) => {
      const writing = new Writing();
      const copy = write(value, writing) ?? null;
      if (writing.failure !== undefined) return error(writing.failure);
      const text = JSON.stringify(copy);
      if (!text.includes(surrogateEscape)) return ok(text);
      const broken = brokenText(copy, [], 0);
      return broken === undefined
        ? ok(withDigits(text))
        : error(`${broken} holds half of a surrogate pair, which is no text`);
    },
  };
}

/** Where a text or a name stands that no UTF-8 can spell. */
function brokenText(copy: unknown, path: (string | number)[], depth: number): string | undefined {
  if (typeof copy === "string") return copy.isWellFormed() ? undefined : placeOf("value", path, depth);
  if (typeof copy !== "object" || copy === null || copy instanceof LongInteger) return undefined;
  for (const [name, member] of Object.entries(copy)) {
    path[depth] = Array.isArray(copy) ? Number(name) : name;
    const broken = name.isWellFormed() ? brokenText(member, path, depth + 1) : placeOf("value", path, depth + 1);
    if (broken !== undefined) return broken;
  }
  return undefined;
}
