import type { Codec } from "./codec.ts";
import { elements } from "./elements.ts";
import type { FieldScanner } from "./field-scanner.ts";
import { token } from "./field-scanner.ts";
import { isToken } from "./word.ts";

/** How much one of several is wanted: `weight` counts thousandths, 0 (not at all) to 1000. */
export type Weighted<A> = A & { readonly weight: number };

/** Where a weight starts; the name is read in either case, and nothing may follow a weight. */
export const weightStart: RegExp = /[ \t]*;[ \t]*[qQ]=/y;
const quality = /0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?/y;

/** The weight that follows (RFC 9110 §12.4.2), 1000 where none does; undefined where it is malformed. */
export function readWeight(field: FieldScanner): number | undefined {
  if (field.match(weightStart) === undefined) return 1000;
  const text = field.match(quality);
  if (text === undefined) return undefined;
  return text.startsWith("1") ? 1000 : Number(text.slice(2).padEnd(3, "0"));
}

/** The weight with `;q=` before it, nothing for 1000; undefined where it is no count of thousandths. */
export function printWeight(weight: number): string | undefined {
  if (!Number.isInteger(weight) || weight < 0 || weight > 1000) return undefined;
  return weight === 1000 ? "" : `;q=${weight / 1000}`;
}

function readElement(field: FieldScanner): Weighted<{ token: string }> | undefined {
  const name = field.match(token)?.toLowerCase();
  const weight = readWeight(field);
  return name === undefined || weight === undefined ? undefined : { token: name, weight };
}

function printElement(element: Weighted<{ token: string }>): string | undefined {
  const weight = printWeight(element.weight);
  return isToken(element.token) && weight !== undefined ? `${element.token.toLowerCase()}${weight}` : undefined;
}

/**
 * Tokens with weights, as `Accept-Encoding` and `Accept-Language` have them (RFC 9110 §12.4.2), in the order sent; the
 * tokens in lower case. Empty is a list of none.
 */
export const weighted: Codec<readonly Weighted<{ token: string }>[]> = /* @__PURE__ */ elements({
  expects: "a list of weighted tokens",
  least: 0,
  read: readElement,
  print: printElement,
});
