import type { Choice, Kind } from "../kind.ts";
import { said } from "../said.ts";
import { mustBe, sortOf, unreadable } from "../sentences.ts";
import type { Sort } from "../sentences.ts";
import type { Compile, Read, Reader, Reading } from "./reading.ts";
import { firstThatFits } from "./trial.ts";
import { wordsReader } from "./words.ts";

/** A value of several shapes: its sort leaves only some of them open. */
export function unionReader(shape: Choice, compile: Compile<Kind>): Reader {
  const words = wordsOf(shape);
  if (words !== undefined) return wordsReader(shape, words);
  const options = shape.options.map((option) => compile(option));
  const expected = (): readonly string[] => [...new Set(options.flatMap((option) => option.expected()))];
  const tell = (trials: readonly Reading[], reading: Reading, value: unknown): void => {
    const ofItsType = trials.filter((trial) => trial.valueless === 0);
    if (ofItsType.length === 1) reading.take(ofItsType[0] as Reading);
    else reading.wrong("malformed", said(shape, value, unreadable));
  };
  const bySort = new Map<string, Read>();
  const readerFor = (sort: string): Read => {
    const open = options.filter((option) => option.sorts().includes(sort as Sort)).map(({ read }) => read);
    if (open.length > 1) return firstThatFits(open, tell);
    return (
      open[0] ?? ((value, reading) => reading.wrong("unexpected_type", said(shape, value, mustBe(expected(), value))))
    );
  };
  return {
    sorts: () => [...new Set(options.flatMap((option) => option.sorts()))],
    expected,
    read: (value, reading) => {
      const sort = sortOf(value);
      let read = bySort.get(sort);
      if (read === undefined) bySort.set(sort, (read = readerFor(sort)));
      return read(value, reading);
    },
  };
}

/** The words of a union of nothing but words. */
function wordsOf(shape: Choice): readonly unknown[] | undefined {
  if (shape.options.length === 0) return undefined;
  const words: unknown[] = [];
  for (const option of shape.options) {
    if (option.pipe !== undefined || option.fallback !== undefined) return undefined;
    if (option.type === "literal") words.push(option.literal);
    else if (option.type === "picklist" || option.type === "enum") words.push(...option.options);
    else return undefined;
  }
  return words;
}
