import { expect, it } from "vitest";
import type { AnyCodec, Codec } from "../../src/codecs/index.ts";

/** The value a text reads as. */
export function valueOf<A>(codec: Codec<A>, text: string): A {
  const result = codec.parse(text);
  if (!result.ok) throw new Error(`${JSON.stringify(text)} was refused: ${result.error}`);
  return result.value;
}

/** The text reads, and what is printed of it reads back to the same print. */
export function expectReads<A>(codec: Codec<A>, text: string, printed?: string): void {
  const print = codec.print(valueOf(codec, text));
  if (printed !== undefined) expect(print).toBe(printed);
  expect(codec.print(valueOf(codec, print))).toBe(print);
}

/** The text is refused with the whole sentence. */
export function expectRefuses(codec: AnyCodec, text: string, expects: string): void {
  expect(codec.parse(text)).toEqual({ ok: false, error: `This is not ${expects}.` });
}

type Reads = readonly (readonly [id: string, text: string, printed: string])[];
type Refuses = readonly (readonly [id: string, text: string])[];

/** A test for each text that a codec reads, with what it prints, and for each that it refuses. */
export function table<A>(codec: Codec<A>, expects: string, rows: { reads: Reads; refuses: Refuses }): void {
  it.each(rows.reads)("%s reads %j", (_id, text, printed) => {
    expectReads(codec, text, printed);
  });
  it.each(rows.refuses)("%s refuses %j", (_id, text) => {
    expectRefuses(codec, text, expects);
  });
}
