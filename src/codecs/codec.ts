import type { Result } from "../result.ts";

/** One kind of value as text, in a path, a query, a header, a cookie or a form. */
export interface Codec<in out A> {
  /** The value, or the sentence a client is told; the sentence never quotes the text. */
  readonly parse: (text: string) => Result<A, string>;
  readonly print: (value: A) => string;
  /** Reads a header sent on several lines whole, the lines joined with `, `. */
  readonly list?: boolean;
  /** What the API document says of the text. */
  readonly text?: TextShape;
}

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
