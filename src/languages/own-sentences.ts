/** One sentence with gaps, and its translation. */
interface Gapped {
  /** The texts before, between and after the gaps. */
  readonly parts: readonly string[];
  readonly names: readonly string[];
  /** The same of the translation: each name is one of those above. */
  readonly written: readonly string[];
  readonly used: readonly string[];
}

const gap = /\{([_\p{ID_Start}]\p{ID_Continue}*)\}/u;

/**
 * The sentences of an application with their translations. A sentence is found by its whole text, or by one with gaps: the
 * translation of `"{item} is sold out."` is written with the text in place of `{item}`.
 */
export class OwnSentences {
  readonly #whole: ReadonlyMap<string, string>;
  readonly #gapped: readonly Gapped[];

  constructor(own: { readonly [sentence: string]: string }) {
    const entries = Object.entries(own);
    this.#whole = new Map(entries);
    this.#gapped = entries.map(([sentence, translation]) => gappedOf(sentence, translation)).filter(hasGap);
  }

  translated(sentence: string): string | undefined {
    const whole = this.#whole.get(sentence);
    if (whole !== undefined) return whole;
    for (const gapped of this.#gapped) {
      const values = valuesIn(sentence, gapped);
      if (values !== undefined) return writtenWith(values, gapped);
    }
    return undefined;
  }
}

/** Why a sentence and its translation are no pair; undefined where they are one. */
export function wrongGaps(sentence: string, translation: string): string | undefined {
  const { parts, names, used } = gappedOf(sentence, translation);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) return `has the gap {${twice}} twice`;
  // Nothing would say where the first value ends.
  if (parts.slice(1, -1).includes("")) return "has two gaps without a text between them";
  const unknown = used.find((name) => !names.includes(name));
  return unknown === undefined ? undefined : `has no gap {${unknown}}, which its translation has`;
}

function gappedOf(sentence: string, translation: string): Gapped {
  // A split by a pattern with a group has the groups at its odd places.
  const isName = (_part: string, at: number): boolean => at % 2 === 1;
  const isText = (_part: string, at: number): boolean => at % 2 === 0;
  const [read, write] = [sentence.split(gap), translation.split(gap)];
  return {
    parts: read.filter(isText),
    names: read.filter(isName),
    written: write.filter(isText),
    used: write.filter(isName),
  };
}

function hasGap({ names }: Gapped): boolean {
  return names.length > 0;
}

/** The text in each gap, at least a character; undefined where the sentence is another. Its time grows with the length alone. */
function valuesIn(sentence: string, { parts, names }: Gapped): ReadonlyMap<string, string> | undefined {
  const [first = "", ...others] = parts;
  if (!sentence.startsWith(first)) return undefined;
  const values = new Map<string, string>();
  let from = first.length;
  for (const [at, name] of names.entries()) {
    const part = others[at] as string;
    const isLast = at === names.length - 1;
    const end = isLast ? sentence.length - part.length : sentence.indexOf(part, from + 1);
    if (end <= from || !sentence.startsWith(part, end)) return undefined;
    values.set(name, sentence.slice(from, end));
    from = end + part.length;
  }
  return values;
}

function writtenWith(values: ReadonlyMap<string, string>, { written, used }: Gapped): string {
  return written.map((part, at) => part + (values.get(used[at] ?? "") ?? "")).join("");
}
