import { ok } from "../result.ts";
import type { Result } from "../result.ts";
import type { Codec } from "./codec.ts";
import { keyOf } from "./key-of.ts";
import { malformed } from "./malformed.ts";

/**
 * One of a set of words, in exactly these letters, named `Codec.enum`. A value that is none of them prints as
 * nothing.
 *
 * @param kind what the set is called where it is declared wrong; the API document lists its words.
 * @example
 * ```ts
 * const size = Codec.enum("size", ["small", "large"]);
 * ```
 */
export function enumeration<const Words extends readonly string[]>(
  kind: string,
  words: Words,
): Codec<Words[number], Words[number]>;
/** One of a set of values, each known by its word. */
export function enumeration<A>(kind: string, values: readonly A[], word: (value: A) => string): Codec<A>;
export function enumeration<A>(
  kind: string,
  values: readonly A[],
  word: (value: A) => string = (value) => String(value),
): Codec<A> {
  const byWord = new Map<string, Result<A, string>>();
  const words: string[] = [];
  for (const value of values) {
    const its = word(value);
    if (byWord.has(keyOf(its))) throw new Error(`Codec.enum: ${kind} has the word ${JSON.stringify(its)} twice`);
    byWord.set(keyOf(its), Object.freeze(ok(value)));
    words.push(its);
  }
  const noneOfThem = malformed(`one of ${words.join(", ")}`);
  return {
    parse: (text) => byWord.get(keyOf(text)) ?? noneOfThem,
    print: (value) => {
      const its = word(value);
      return byWord.has(keyOf(its)) ? its : "";
    },
    text: { type: "string", enum: words, kind },
  };
}
