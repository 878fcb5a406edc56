import type { Kind, Variant } from "../kind.ts";
import { said } from "../said.ts";
import { mustBe, oneOf, required } from "../sentences.ts";
import { hasOwn, isObject } from "./names.ts";
import { object } from "./object.ts";
import type { Compile, Read, Reader } from "./reading.ts";
import { tagsOf } from "./tag.ts";
import { firstThatFits } from "./trial.ts";
import { unionReader } from "./union.ts";
import { keyOfWord } from "./words.ts";

/** A tagged union: the tag says which object it is, wherever among the members it stands. */
export function variantReader(shape: Variant, compile: Compile<Kind>): Reader {
  const tags = shape.options.map((option) => tagsOf(option, shape.key));
  // A tag that is any text of a form, say, decides nothing: then the objects are tried as in any union.
  if (tags.includes("open")) return unionReader({ ...shape, type: "union" }, compile);

  const byTag = new Map<unknown, Read[]>();
  shape.options.forEach((option, index) => {
    const { read } = compile(option);
    for (const tag of tags[index] as readonly unknown[]) byTag.set(tag, [...(byTag.get(tag) ?? []), read]);
  });
  const readers = new Map([...byTag].map(([tag, options]) => [keyOfWord(tag), oneReader(options)]));
  const words = [...byTag.keys()].filter((tag) => tag !== undefined);

  return {
    sorts: () => object,
    expected: () => object,
    read: (value, reading) => {
      if (!isObject(value)) return reading.wrong("unexpected_type", said(shape, value, mustBe(object, value)));
      const sent = hasOwn(value, shape.key) ? value[shape.key] : undefined;
      const tag = typeof sent === "bigint" ? Number(sent) : sent;
      const read = readers.get(keyOfWord(tag)) ?? (tag === null ? readers.get(undefined) : undefined);
      if (read !== undefined) return read(value, reading);
      reading.path[reading.depth++] = shape.key;
      if (tag === undefined) reading.wrong("required", required);
      else reading.wrong("unknown_word", said(shape, value, `This must be ${oneOf(words)}.`));
      reading.depth--;
      return undefined;
    },
  };
}

/** Several objects may go by one tag; what is wrong is told of the first of them. */
function oneReader(options: readonly Read[]): Read {
  if (options.length === 1) return options[0] as Read;
  return firstThatFits(options, (trials, reading) => {
    const told = trials.find((trial) => trial.valueless === 0) ?? trials[0];
    if (told !== undefined) reading.take(told);
  });
}
