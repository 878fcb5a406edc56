/** The values of inputs as a caller writes them; `wire.ts` reads and describes them. It has no imports: see there. */

/** A name and one text of its value, as it is sent. */
export type WirePair = [name: string, text: string];

/**
 * The pairs of a value. A list repeats its name, and a plain object has a name for each member; undefined, and a null of an object, is left out. `textOf` prints
 * one text, and may leave it out.
 */
export function wirePairs(name: string, value: unknown, textOf: (one: unknown) => string | undefined): WirePair[] {
  if (hasMembers(value)) {
    return Object.entries(value).flatMap(([member, one]) =>
      wirePairs(memberField(name, member), one ?? undefined, textOf),
    );
  }
  const texts = (value === undefined ? [] : Array.isArray(value) ? value : [value]).map(textOf);
  return texts.flatMap((text) => (text === undefined ? [] : [[name, text]]));
}

/** The name of an object's member in a query: `filter[min]`. */
export function memberField(name: string, member: string): string {
  return `${name}[${member}]`;
}

/** Whether its own text would be `[object Object]`: a `Date` is one text, and a `Blob` a file. */
function hasMembers(value: unknown): value is object {
  return {}.toString.call(value) === "[object Object]" && !(value as Date).toJSON?.call;
}

/** A list in one header (RFC 9110 §5.6.1). */
export function headerOf(texts: readonly string[]): string {
  return texts.join(", ");
}
