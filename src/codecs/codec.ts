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
export type SentAs<Sent> = unknown extends Sent ? string : Sent;

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
