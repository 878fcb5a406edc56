import { InvalidAnswerError } from "../refusals.ts";
import { english } from "./english.ts";
import type { BoundKind, SentenceKey, SentenceRules, Sentences, SizeKind, SizeUnit } from "./english.ts";

/** The keys of the sentences that have no parameter, by their text. */
const keys: ReadonlyMap<string, SentenceKey> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ (Object.entries(english) as [SentenceKey, string][]).map(([key, text]) => [text, key]),
);

/** Writes sentences in one language. */
export interface Writing {
  readonly sentences: Sentences;
  /** Joins by the language's own `or`. */
  readonly joined: (words: readonly string[]) => string;
}

/** A sentence of the framework's in another language; undefined for any other text. */
export function translated(sentence: string, writing: Writing): string | undefined {
  const key = keys.get(sentence);
  const written = key === undefined ? byRule(sentence, writing) : writing.sentences[key];
  // An application's own table may return anything.
  if (written === undefined || typeof written === "string") return written;
  throw new InvalidAnswerError("a sentence of a language that is no text");
}

/** What a value of a shape is spelled as: a text in quotes, a number, an instant. */
const word = String.raw`"(?:[^"\\]|\\.)*"|[+-]?\d+-\d\d-\d\dT[\d:.]+Z|-?(?:Infinity|\d+(?:\.\d+)?(?:e[+-]\d+)?)|NaN|undefined|another instant`;
const bounds: { readonly [how: string]: BoundKind } = {
  "at least": "atLeast",
  "at most": "atMost",
  "greater than": "greaterThan",
  "less than": "lessThan",
  "a multiple of": "multipleOf",
};

interface Rule {
  readonly pattern: RegExp;
  readonly write: (parts: readonly string[], writing: Writing) => string | undefined;
}

const sizes: { readonly [how: string]: SizeKind } = { "at least": "atLeast", "at most": "atMost", exactly: "exactly" };

function size(how: string, count: string, unit: string): Parameters<SentenceRules["size"]>[0] {
  return { how: sizes[how] as SizeKind, count: Number(count), unit: unit as SizeUnit };
}

/** The sentences with parameters. Each part is a word or a bound of a shape, and never what a client sent. */
const rules: readonly Rule[] = [
  {
    pattern: /^This must be (at least|at most|exactly) ([\d.e+]+|Infinity) (character|byte|grapheme|word)s? long\.$/,
    write: ([how = "", count = "", unit = ""], { sentences }) => sentences.size(size(how, count, unit)),
  },
  {
    pattern: /^This must have (at least|at most|exactly) ([\d.e+]+|Infinity) (item|member)s?\.$/,
    write: ([how = "", count = "", unit = ""], { sentences }) => sentences.size(size(how, count, unit)),
  },
  {
    pattern: new RegExp(
      `^This must be (at least|at most|greater than|less than|a multiple of) (${word}|true|false)\\.$`,
    ),
    write: ([how = "", bound = ""], writing) =>
      writing.sentences.bound({ how: bounds[how] as BoundKind, bound: part(bound, writing) }),
  },
  {
    pattern: new RegExp(`^This must start with (${word})\\.$`),
    write: ([text = ""], { sentences }) => sentences.startsWith({ text }),
  },
  {
    pattern: new RegExp(`^This must end with (${word})\\.$`),
    write: ([text = ""], { sentences }) => sentences.endsWith({ text }),
  },
  {
    pattern: /^This must be (.*), not (null|true or false|a number|text|a list|an object|something else)\.$/s,
    write: ([expected = "", got = ""], writing) => {
      const items = itemsOf(expected, writing);
      return items && writing.sentences.wrongType({ expected: writing.joined(items), got: part(got, writing) });
    },
  },
  {
    pattern: /^This must be (.*)\.$/s,
    write: ([choice = ""], writing) => {
      const items = itemsOf(choice, writing);
      if (items === undefined) return undefined;
      const words = writing.joined(items);
      return items.length === 1 ? writing.sentences.equal({ word: words }) : writing.sentences.oneOf({ words });
    },
  },
  {
    pattern: /^This is not (.*)\.$/s,
    write: ([expected = ""], writing) => {
      const items = itemsOf(expected, writing);
      return items && writing.sentences.notAny({ expected: writing.joined(items) });
    },
  },
  {
    pattern: /^This is not one of ([^ ]*|.*, .*)\.$/s,
    write: ([words = ""], { sentences }) => sentences.notOneOf({ words }),
  },
  {
    pattern: /^Not ready: (.*)\.$/s,
    write: ([names = ""], { sentences }) => sentences.notReady({ names }),
  },
  {
    pattern: /^This socket speaks (.*), (?:which was not|none of which was) offered\.$/s,
    write: ([name = ""], { sentences }) => sentences.subprotocol({ name }),
  },
];

function byRule(sentence: string, writing: Writing): string | undefined {
  for (const { pattern, write } of rules) {
    const [, ...parts] = pattern.exec(sentence) ?? [];
    const written = parts.length === 0 ? undefined : write(parts, writing);
    if (written !== undefined) return written;
  }
  return undefined;
}

const nouns = [
  "true or false",
  "null",
  "a number",
  "a whole number",
  "text",
  "a list",
  "an object",
  "any JSON",
  "nothing at all",
  "no words at all",
].join("|");

/** `one of "a" or "b" or null` as its items in the language; undefined where it is another text. */
function itemsOf(text: string, writing: Writing): readonly string[] | undefined {
  const item = new RegExp(`(?:one of )?(${nouns}|${word}|true|false)(, | or |$)`, "y");
  const items: string[] = [];
  for (let found = item.exec(text); found !== null; found = item.exec(text)) {
    items.push(part(found[1] as string, writing));
    if (found[2] === "") return item.lastIndex === text.length ? items : undefined;
  }
  return undefined;
}

/** A part of a sentence in the language; a word of a shape stays. */
function part(text: string, { sentences }: Writing): string {
  const key = keys.get(text);
  return key === undefined ? text : sentences[key];
}
