import type { Codec } from "./codec.ts";
import { elements } from "./elements.ts";
import type { FieldScanner } from "./field-scanner.ts";
import { printMediaType, readMediaType } from "./media-type.ts";
import type { MediaType } from "./media-type.ts";
import { printWeight, readWeight, weightStart } from "./weighted.ts";
import type { Weighted } from "./weighted.ts";

/** A media type, every subtype of a type (`text/*`), or every type. */
export interface MediaRange extends MediaType {}

function readElement(field: FieldScanner): Weighted<MediaRange> | undefined {
  const range = readMediaType(field, weightStart);
  if (range === undefined || !isRange(range)) return undefined;
  const { type, subtype, pairs } = range;
  const weight = readWeight(field);
  if (weight === undefined) return undefined;
  return {
    type,
    subtype,
    get parameters() {
      return pairs.map;
    },
    weight,
  };
}

function printElement(element: Weighted<MediaRange>): string | undefined {
  // A parameter named q would be read as the weight.
  if (!isRange(element) || element.parameters.has("q") || element.parameters.has("Q")) return undefined;
  const range = printMediaType(element);
  const weight = printWeight(element.weight);
  return range === undefined || weight === undefined ? undefined : `${range}${weight}`;
}

// "*" is a token too, but says nothing before a subtype.
function isRange({ type, subtype }: Pick<MediaRange, "type" | "subtype">): boolean {
  return type !== "*" || subtype === "*";
}

/**
 * The media ranges of `Accept` (RFC 9110 §12.5.1), in the order sent, each with the parameters before its weight.
 * Empty is a list of none.
 */
export const accept: Codec<readonly Weighted<MediaRange>[]> = /* @__PURE__ */ elements({
  expects: "an Accept value",
  least: 0,
  read: readElement,
  print: printElement,
});
