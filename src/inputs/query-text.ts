import { decodeFormText } from "./form-text.ts";

/** A value as it was given: its text, or undefined in `text` where its bytes are no UTF-8. */
export interface GivenText {
  readonly text: string | undefined;
}

/** The first value of a name in a query's text, decoded as a form is (WHATWG URL §5.1). */
export function firstValue(search: string, name: string): GivenText | undefined {
  for (let start = 0; start < search.length;) {
    const end = pairEnd(search, start);
    const value = valueOf(search, start, end, name);
    if (value !== undefined) return { text: decodeFormText(value) };
    start = end + 1;
  }
  return undefined;
}

/** Every value of a name, in the order given. */
export function everyValue(search: string, name: string): readonly GivenText[] {
  const values: GivenText[] = [];
  for (let start = 0; start < search.length;) {
    const end = pairEnd(search, start);
    const value = valueOf(search, start, end, name);
    if (value !== undefined) values.push({ text: decodeFormText(value) });
    start = end + 1;
  }
  return values;
}

function pairEnd(search: string, start: number): number {
  const ampersand = search.indexOf("&", start);
  return ampersand === -1 ? search.length : ampersand;
}

// The raw value of one pair where its name is the one asked for; `?a` is an empty value.
function valueOf(search: string, start: number, end: number, name: string): string | undefined {
  if (start === end) return undefined;
  const after = start + name.length;
  if (search.startsWith(name, start) && (after === end || search.charCodeAt(after) === 0x3d)) {
    return search.slice(Math.min(after + 1, end), end);
  }
  const pair = search.slice(start, end);
  if (!/[%+]/.test(pair)) return undefined;
  const equals = pair.indexOf("=");
  const given = equals === -1 ? pair : pair.slice(0, equals);
  return decodeFormText(given) === name ? pair.slice(given.length + 1) : undefined;
}
