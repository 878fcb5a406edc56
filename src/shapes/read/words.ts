import { keyOf } from "../../codecs/key-of.ts";
import type { Kind } from "../kind.ts";
import { said } from "../said.ts";
import { mustBe, oneOf, sortOf } from "../sentences.ts";
import type { Sort } from "../sentences.ts";
import type { Reader } from "./reading.ts";

/** One of some words, which may be of several sorts. */
export function wordsReader(shape: Kind, words: readonly unknown[]): Reader {
  const set = new Set(words.map(keyOfWord));
  const sorts = [...new Set(words.map((word) => sortOf(word) as Sort))];
  const choice = oneOf(words);
  const expected = [choice];
  return {
    sorts: () => sorts,
    expected: () => expected,
    read: function read(value, reading): unknown {
      if (set.has(keyOfWord(value))) return value;
      if (typeof value === "bigint") return read(Number(value), reading);
      const known = sorts.includes(sortOf(value) as Sort);
      if (known) return reading.wrong("unknown_word", said(shape, value, `This must be ${choice}.`));
      return reading.wrong("unexpected_type", said(shape, value, mustBe(expected, value)));
    },
  };
}

/** A word as a key, of whatever sort it is. */
export function keyOfWord(word: unknown): unknown {
  return typeof word === "string" ? keyOf(word) : word;
}
