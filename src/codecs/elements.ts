import { ok } from "../result.ts";
import type { Codec } from "./codec.ts";
import { FieldScanner } from "./field-scanner.ts";
import { malformed } from "./malformed.ts";

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
