import { expect } from "vitest";
import type { Shape } from "../../src/schema/valibot.ts";
import { compileReader } from "../../src/schema/read.ts";

/** A problem in the order a table reads best: place, code, sentence. */
export type Told = readonly [at: string, code: string, message: string];

/** The value a body reads as; fails the test where there are problems. */
export function valueOf<A, Json>(shape: Shape<A, Json>, text: string): A {
  const read = compileReader(shape).readText(text);
  if (!read.ok) throw new Error(`refused: ${JSON.stringify(read.error)}`);
  return read.value;
}

/** The problems that a caller gets for a body; fails the test if the body is valid. */
export function problemsOf(shape: Shape, text: string): readonly Told[] {
  const read = compileReader(shape).readText(text);
  expect(read.ok).toBe(false);
  return read.ok ? [] : read.error.map(({ at, code, message }): Told => [at, code, message]);
}
