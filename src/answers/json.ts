import { compileWriter } from "../shapes/writer.ts";
import type { JsonWriter } from "../shapes/writer.ts";
import type { Shape } from "../shapes/shape.ts";
import { Unwritable } from "./unwritable.ts";

const writers = /* @__PURE__ */ new WeakMap<Shape, JsonWriter<unknown>>();

/** What writes a value by its shape, compiled once for each shape. */
export function writerOf(shape: Shape): (value: unknown) => string {
  let writer = writers.get(shape);
  if (writer === undefined) {
    writer = compileWriter(shape);
    writers.set(shape, writer);
  }
  const { write } = writer;
  return (value) => {
    const written = write(value);
    if (!written.ok) throw new Unwritable(`an answer its shape cannot write: ${written.error}`);
    return written.value;
  };
}
