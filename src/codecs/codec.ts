import { FieldScanner } from "../http/fields.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";

declare const sent: unique symbol;

/**
 * Converts one type of value to text and back, in a path, a query, a header, a cookie or a form. `Sent` is the type that a
 * typed client takes: the value where the platform writes it as the codec does, and otherwise the text.
 */
export interface Codec<in out A, out Sent = unknown> {
  /** The value, or a sentence for the client. The sentence never quotes the text. */
  readonly parse: (text: string) => Result<A, string>;
  readonly print: (value: A) => string;
  /** A header on several lines is read as one, the lines joined with `, `. */
  readonly list?: boolean;
  /** The API document's description of the text. */
  readonly text?: TextShape;
  readonly [sent]?: Sent;
}

/** The type that a typed client takes for a codec's value; text, where the codec's type does not give it. */
export type EncodedAs<Sent> = unknown extends Sent ? string : Sent;

/** A text's description in the API document. */
export interface TextShape {
  readonly type: "string" | "integer" | "number" | "boolean";
  readonly format?: string;
  readonly enum?: readonly string[];
  /** The name that the author gave the type. */
  readonly kind?: string;
}

/** A codec of any type of value. */
export interface AnyCodec {
  readonly parse: (text: string) => Result<unknown, string>;
  readonly print: (value: never) => string;
  readonly list?: boolean;
  readonly text?: TextShape;
}

/**
 * The error for every text that a codec does not read. One frozen value, made with the codec: a hostile request costs no
 * allocation, and no sentence can quote its text.
 */
export function malformed(expects: string): Result<never, string> {
  return Object.freeze(error(`This is not ${expects}.`));
}

/**
 * A codec for a type of the application.
 *
 * @param options `kind` is its title in the API document. `parse` returns the value, or the whole sentence for the client,
 *   which must not quote the text. `list` marks a header that may be sent on several lines: they are read as one, joined
 *   with `, `.
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
 * Reads the rest of a field as elements with commas between them (RFC 9110 §5.6.1); undefined where one is malformed. A
 * recipient must skip empty elements.
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
 * @param options `least` is the smallest number of elements.
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
