import { FieldScanner } from "../http/fields.ts";
import {
  printDictionary,
  printItem,
  printList,
  readDictionary,
  readItem,
  readList,
} from "../http/structured-fields.ts";
import type { StructuredDictionary, StructuredItem, StructuredList } from "../http/structured-fields.ts";
import { ok } from "../result.ts";
import { malformed } from "./codec.ts";
import type { Codec } from "./codec.ts";

const spaces = / */y;

// The framework has its own parser and printer. structured-headers 2.1 reads 1 and 1.0 as one number and a date only at the
// end of the field. It prints some display strings that read back differently.
function structured<A>(options: {
  readonly expects: string;
  readonly list: boolean;
  readonly read: (field: FieldScanner) => A | undefined;
  readonly print: (value: A) => string | undefined;
}): Codec<A> {
  const { expects, list, read, print } = options;
  const notStructured = malformed(expects);
  return {
    parse: (text) => {
      // RFC 9651 §4.2: spaces before and after do not belong to the field; tabs do.
      const field = new FieldScanner(text);
      field.match(spaces);
      const value = read(field);
      field.match(spaces);
      return value !== undefined && field.done ? ok(value) : notStructured;
    },
    print: (value) => print(value) ?? "",
    list,
    text: { type: "string" },
  };
}

/** One value with parameters (RFC 9651 §3.3): `token;a=1`. */
export const structuredItem: Codec<StructuredItem> = /* @__PURE__ */ structured({
  expects: "a structured item",
  list: false,
  read: readItem,
  print: printItem,
});

/** Items and inner lists (RFC 9651 §3.1): `a, b;q=1.0, (c d)`. An empty text is an empty list. */
export const structuredList: Codec<StructuredList> = /* @__PURE__ */ structured({
  expects: "a structured list",
  list: true,
  read: readList,
  print: printList,
});

/** Items and inner lists by key (RFC 9651 §3.2): `a=1, b, c=(x y)`. An empty text is an empty dictionary. */
export const structuredDictionary: Codec<StructuredDictionary> = /* @__PURE__ */ structured({
  expects: "a structured dictionary",
  list: true,
  read: readDictionary,
  print: printDictionary,
});
