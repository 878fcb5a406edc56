/** The ranges of one header that are read: no reader has more languages. */
const maxRanges = 32;
const maxLength = 1000;

const range =
  /^[ \t]*([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,7}|\*)[ \t]*(?:;[ \t]*[qQ]=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/;

/** The ranges of `Accept-Language` (RFC 9110 §12.5.4), the most wanted first. What cannot be read is skipped. */
function rangesOf(field: string): readonly string[] {
  const parts = field.slice(0, maxLength).split(",", maxRanges);
  // The last one may be cut.
  if (field.length > maxLength && parts.length < maxRanges) parts.pop();
  const ranges: { readonly tag: string; readonly weight: number }[] = [];
  for (const part of parts) {
    const [, tag, weight = "1"] = range.exec(part) ?? [];
    if (tag !== undefined && Number(weight) > 0) ranges.push({ tag: tag.toLowerCase(), weight: Number(weight) });
  }
  return ranges.toSorted((a, b) => b.weight - a.weight).map(({ tag }) => tag);
}

/**
 * The language for a reader by the lookup of RFC 4647 §3.4: each range loses its last subtags until one has its tag;
 * undefined where none has.
 *
 * @param offered By its tag in lower case.
 */
export function lookUp<A>(field: string, offered: ReadonlyMap<string, A>): A | undefined {
  for (const wanted of rangesOf(field)) {
    for (let tag = wanted; tag !== ""; tag = shorter(tag)) {
      const found = offered.get(tag);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** Without its last subtag, and without a single letter that would then be the last. */
function shorter(tag: string): string {
  const rest = tag.slice(0, Math.max(0, tag.lastIndexOf("-")));
  return /-[a-z0-9]$/.test(rest) ? rest.slice(0, -2) : rest;
}
