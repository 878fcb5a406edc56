import type { AttributeKind } from "./attributes.ts";

/** Where a value of a template stands. Each has all members: V8 reads objects of one shape faster. */
export interface Hole {
  /**
   * `content` between tags; `text` in an element whose text has no tags; `json` in a script that is data; `value` between quotes;
   * `whole` in the place of a quoted value, `address` in a URL that is checked as a whole.
   */
  readonly in: "content" | "text" | "json" | "value" | "whole" | "address";
  /** Whether the text before may end in `{`, which would make `{{` of a value's `{`. */
  readonly isAfterBrace: boolean;
  /** For the sentence of an error: `line 3, after <a href="`. Only the template's own text. */
  readonly place: string;
  readonly attribute: HoleAttribute | undefined;
  /** The template's text from the beginning of the URL, or from the value before. */
  readonly before: string | undefined;
  /** The template's text to the end of the URL; undefined where another value follows. */
  readonly after: string | undefined;
  /** Of the last value in quotes: where the next text is behind the quote. */
  readonly quoteEnd: number | undefined;
  /** Of the first value in an element of text: the end of its tag, to which attributes may be added, and the text to the value. */
  readonly tagEnd: string | undefined;
  /** How many values are in that element. */
  readonly count: number | undefined;
}

export interface HoleAttribute {
  readonly name: string;
  readonly kind: AttributeKind;
  readonly takesWords: boolean;
  /** The characters that are escaped in it, or may make code of it. */
  readonly special: RegExp;
  /** Values that AngularJS runs as code, in addition to those with `{{`: each has a special character. */
  readonly code: RegExp | undefined;
}

/** A template, read once for each place of the program that has one. */
export interface Template {
  /** One more than holes. */
  readonly texts: readonly string[];
  readonly holes: readonly Hole[];
}
