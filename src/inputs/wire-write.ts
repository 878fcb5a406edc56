/** The values of inputs as a caller writes them; `wire.ts` reads and describes them. It has no imports: see there. */

/** A name and one text of its value, as it is sent. */
export type WirePair = [name: string, text: string];

/** The pairs of a value. A list repeats its name; undefined is left out. `textOf` prints one text, and may leave it out. */
export function wirePairs(name: string, value: unknown, textOf: (one: unknown) => string | undefined): WirePair[] {
  const texts = (value === undefined ? [] : Array.isArray(value) ? value : [value]).map(textOf);
  return texts.flatMap((text) => (text === undefined ? [] : [[name, text]]));
}

/** A list in one header (RFC 9110 §5.6.1). */
export function headerOf(texts: readonly string[]): string {
  return texts.join(", ");
}
