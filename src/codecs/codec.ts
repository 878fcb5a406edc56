import { FieldScanner } from "../http/fields.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";

declare const sent: unique symbol;

/**
 * One kind of value as text, in a path, a query, a header, a cookie or a form. `Sent` is what a typed client, which has
 * only the types, is given for it: the value where the platform's own text of it is the codec's, and otherwise the text.
 */
export interface Codec<in out A, out Sent = unknown> {
  /** The value, or the sentence a client is told; the sentence never quotes the text. */
  readonly parse: (text: string) => Result<A, string>;
  readonly print: (value: A) => string;
  /** Reads a header sent on several lines whole, the lines joined with `, `. */
  readonly list?: boolean;
  /** What the API document says of the text. */
  readonly text?: TextShape;
  readonly [sent]?: Sent;
}

/** What a client is given for a codec's value; its text, where the codec's type does not say. */
export type EncodedAs<Sent> = unknown extends Sent ? string : Sent;

/** A text's description in the API document. */
export interface TextShape {
  readonly type: "string" | "integer" | "number" | "boolean";
  readonly format?: string;
  readonly enum?: readonly string[];
  /** The word the author gave the kind of value. */
  readonly kind?: string;
}

/** A codec of any value, where which one does not matter. */
export interface AnyCodec {
  readonly parse: (text: string) => Result<unknown, string>;
  readonly print: (value: never) => string;
  readonly list?: boolean;
  readonly text?: TextShape;
}

/**
 * The answer to every text a codec does not read: one frozen value made with the codec, so a hostile request
 * costs no allocation and no sentence can quote what was sent.
 */
export function malformed(expects: string): Result<never, string> {
  return Object.freeze(error(`This is not ${expects}.`));
}

/**
 * A type of the application's own.
 *
 * @param options `kind` is its title in the API document. `parse` answers the value, or the whole sentence the
 * client is told, which must not quote the text. `list` marks a header that may come on several lines: they are read
 * as one, joined with `, `.
 * @example
 * ```ts
 * const sku = Codec.custom({
 *   kind: "sku",
 *   parse: (text) => (/^[A-Z]{3}-[0-9]{4}$/.test(text) ? ok(text) : error("An article number is ABC-1234.")),
 *   print: (value: string) => value,
 * });
 * ```
 */
export function custom<A>(options: {
  readonly kind: string;
  readonly parse: (text: string) => Result<A, string>;
  readonly print: (value: A) => string;
  readonly list?: boolean;
}): Codec<A> {
  const { kind, parse, print, list = false } = options;
  return { parse, print, list, text: { type: "string", kind } };
}

/**
 * What is left of a field value as elements with commas between them (RFC 9110 §5.6.1); undefined where one is
 * malformed. Empty elements are passed over, as a recipient must.
 */
export function readElements<A>(field: FieldScanner, read: (field: FieldScanner) => A | undefined): A[] | undefined {
  const list: A[] = [];
  for (;;) {
    field.skipBlanks();
    if (field.take(",")) continue;
    if (field.done) return list;
    const element = read(field);
    if (element === undefined) return undefined;
    list.push(element);
    field.skipBlanks();
    if (!field.done && !field.take(",")) return undefined;
  }
}

/**
 * A codec of a list field. A list with an element that cannot be printed prints as nothing.
 *
 * @param options `least` is how many elements there are at least.
 */
export function elements<A>(options: {
  readonly expects: string;
  readonly least: 0 | 1;
  readonly read: (field: FieldScanner) => A | undefined;
  readonly print: (element: A) => string | undefined;
}): Codec<readonly A[]> {
  const { expects, least, read, print } = options;
  const notList = malformed(expects);
  return {
    parse: (text) => {
      const list = readElements(new FieldScanner(text), read);
      return list !== undefined && list.length >= least ? ok(list) : notList;
    },
    print: (list) => {
      const printed = list.map(print);
      return printed.includes(undefined) ? "" : printed.join(", ");
    },
    list: true,
    text: { type: "string" },
  };
}
