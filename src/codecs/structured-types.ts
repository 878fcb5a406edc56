/**
 * A value in a structured field (RFC 9651 §3.3). A number is an integer of at most 15 digits, a string has printable
 * ASCII alone, and a `Date` is in whole seconds. A decimal is `{ thousandths }`, because `1.0` is not the integer `1`;
 * a number with a fraction may be printed too, rounded to thousandths, half to even.
 */
export type StructuredValue =
  | number
  | string
  | boolean
  | Uint8Array
  | Date
  | { readonly token: string }
  | { readonly thousandths: number }
  | { readonly display: string };

/** Values by key, in the order sent; a key that stands alone is `true`. */
export type StructuredParameters = ReadonlyMap<string, StructuredValue>;

/** A value and its parameters. */
export type StructuredItem = readonly [value: StructuredValue, parameters: StructuredParameters];

/** Several items in parentheses, and the parameters of them all. */
export type StructuredInnerList = readonly [items: readonly StructuredItem[], parameters: StructuredParameters];

/** What a list or a dictionary holds. */
export type StructuredMember = StructuredItem | StructuredInnerList;

/** Items and inner lists, in the order sent. */
export type StructuredList = readonly StructuredMember[];

/** Items and inner lists by key. A key sent twice has its last value, in its first place. */
export type StructuredDictionary = ReadonlyMap<string, StructuredMember>;
