import {
  FieldScanner,
  isToken,
  printParameters,
  printQuoted,
  printWord,
  readParameters,
  readWord,
  token,
} from "../http/fields.ts";
import type { Pairs } from "../http/fields.ts";
import { ok } from "../result.ts";
import type { Result } from "../result.ts";
import { elements, malformed } from "./codec.ts";
import type { Codec } from "./codec.ts";

/** A media type: `text/html;charset=utf-8`. */
export interface MediaType {
  /** In lower case, like the subtype. */
  readonly type: string;
  /** In lower case. */
  readonly subtype: string;
  /** In the order sent, names in lower case, values without quotes. */
  readonly parameters: ReadonlyMap<string, string>;
}

const notMediaType = /* @__PURE__ */ malformed("a media type");

interface ReadMediaType {
  readonly type: string;
  readonly subtype: string;
  readonly pairs: Pairs;
}

/** Type, `/`, subtype and parameters. */
function readMediaType(field: FieldScanner, parametersEnd?: RegExp): ReadMediaType | undefined {
  const type = field.match(token)?.toLowerCase();
  if (type === undefined || !field.take("/")) return undefined;
  const subtype = field.match(token)?.toLowerCase();
  if (subtype === undefined) return undefined;
  const pairs = readParameters(field, parametersEnd);
  return pairs && { type, subtype, pairs };
}

/** Undefined where it cannot be printed. */
function printMediaType({ type, subtype, parameters }: MediaType): string | undefined {
  const printed = printParameters(parameters);
  if (!isToken(type) || !isToken(subtype) || printed === undefined) return undefined;
  return `${type.toLowerCase()}/${subtype.toLowerCase()}${printed}`;
}

function parse(text: string): Result<MediaType, string> {
  const field = new FieldScanner(text);
  const mediaType = readMediaType(field);
  if (mediaType === undefined || !field.done) return notMediaType;
  const { type, subtype, pairs } = mediaType;
  return ok({
    type,
    subtype,
    get parameters() {
      return pairs.map;
    },
  });
}

/**
 * One parameter of a media type; undefined where it has none of that name, or is malformed. Without the `Map` of all of them: a form of
 * many parts would fill many (see `keyOf`).
 */
export function parameterOf(text: string, wanted: string): string | undefined {
  const field = new FieldScanner(text);
  const read = readMediaType(field);
  return field.done ? read?.pairs.list.find(([name]) => name === wanted)?.[1] : undefined;
}

/** The media type of `Content-Type` (RFC 9110 §8.3.1). A repeated parameter is malformed. */
export const mediaType: Codec<MediaType> = {
  parse,
  print: (value) => printMediaType(value) ?? "",
  text: { type: "string" },
};

/** A value with its weight in thousandths: 0 means not acceptable, 1000 is preferred. */
export type Weighted<A> = A & { readonly weight: number };

/** The start of a weight. The name is read in either case, and nothing may follow the weight. */
const weightStart: RegExp = /[ \t]*;[ \t]*[qQ]=/y;
const quality = /0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?/y;

/** Reads a weight (RFC 9110 §12.4.2): 1000 without one; undefined where it is malformed. */
function readWeight(field: FieldScanner): number | undefined {
  if (field.match(weightStart) === undefined) return 1000;
  const text = field.match(quality);
  if (text === undefined) return undefined;
  return text.startsWith("1") ? 1000 : Number(text.slice(2).padEnd(3, "0"));
}

/** The weight with `;q=` before it, nothing for 1000; undefined where it is not from 0 to 1000. */
function printWeight(weight: number): string | undefined {
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
 * Tokens with weights, as in `Accept-Encoding` and `Accept-Language` (RFC 9110 §12.4.2), in the order sent. The tokens are
 * in lower case. An empty text is an empty list.
 */
export const weighted: Codec<readonly Weighted<{ token: string }>[]> = /* @__PURE__ */ elements({
  expects: "a list of weighted tokens",
  least: 0,
  read: readElement,
  print: printElement,
});

/** Whether a coding, in lower case, is gzip, which has two names (RFC 9110 §8.4.1.3). */
function isGzip(coding: string): boolean {
  return coding === "gzip" || coding === "x-gzip";
}

/**
 * The content coding that a client prefers to the plain content (RFC 9110 §12.5.3), of those that are offered, the first one where
 * it likes several equally; undefined for the plain content. What is not listed is less wanted than any coding that is. A field that
 * cannot be read asks for none.
 *
 * @param field `Accept-Encoding`.
 */
export function preferredCoding<Coding extends string>(
  field: string | undefined,
  offered: readonly Coding[],
): Coding | undefined {
  const read = field === undefined || offered.length === 0 ? undefined : weighted.parse(field);
  if (read?.ok !== true) return undefined;
  const isNamed = (token: string, name: string): boolean => (name === "gzip" ? isGzip(token) : token === name);
  const weightOf = (name: string): number | undefined => read.value.find(({ token }) => isNamed(token, name))?.weight;
  const any = weightOf("*") ?? 0;
  let best: Coding | undefined;
  let most = weightOf("identity") ?? 0;
  for (const coding of offered) {
    const weight = weightOf(coding) ?? any;
    if (weight > most || (weight === most && weight > 0 && best === undefined)) [best, most] = [coding, weight];
  }
  return best;
}

/** A media type, every subtype of a type (`text/*`), or every type. */
export interface MediaRange extends MediaType {}

function readMediaRange(field: FieldScanner): Weighted<MediaRange> | undefined {
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

function printMediaRange(element: Weighted<MediaRange>): string | undefined {
  // A parameter named q would be read as the weight.
  if (!isRange(element) || element.parameters.has("q") || element.parameters.has("Q")) return undefined;
  const range = printMediaType(element);
  const weight = printWeight(element.weight);
  return range === undefined || weight === undefined ? undefined : `${range}${weight}`;
}

// "*" is also a token, but "*/html" has no meaning.
function isRange({ type, subtype }: Pick<MediaRange, "type" | "subtype">): boolean {
  return type !== "*" || subtype === "*";
}

/**
 * The media ranges of `Accept` (RFC 9110 §12.5.1), in the order sent, each with the parameters before its weight. An empty
 * text is an empty list.
 */
export const accept: Codec<readonly Weighted<MediaRange>[]> = /* @__PURE__ */ elements({
  expects: "an Accept value",
  least: 0,
  read: readMediaRange,
  print: printMediaRange,
});

/** A cache directive: `no-store`, or `max-age` with the argument `60`. */
export interface CacheDirective {
  /** In lower case. */
  readonly directive: string;
  /** The argument, without quotes. */
  readonly argument?: string;
}

function readDirective(field: FieldScanner): CacheDirective | undefined {
  const directive = field.match(token)?.toLowerCase();
  if (directive === undefined) return undefined;
  if (!field.take("=")) return { directive };
  const argument = readWord(field);
  return argument === undefined ? undefined : { directive, argument };
}

function printDirective({ directive: given, argument }: CacheDirective): string | undefined {
  const directive = given.toLowerCase();
  if (!isToken(directive)) return undefined;
  if (argument === undefined) return directive;
  // RFC 9111 §5.2.2.4, §5.2.2.7: these two take field names, and a sender quotes even a single one.
  const quotes = directive === "no-cache" || directive === "private";
  const printed = quotes ? printQuoted(argument) : printWord(argument);
  return printed === undefined ? undefined : `${directive}=${printed}`;
}

/** The directives of `Cache-Control` (RFC 9111 §5.2), in the order sent; a directive may repeat. */
export const cacheControl: Codec<readonly CacheDirective[]> = /* @__PURE__ */ elements({
  expects: "a Cache-Control value",
  least: 0,
  read: readDirective,
  print: printDirective,
});
