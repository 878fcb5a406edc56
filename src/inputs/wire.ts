/**
 * The styles of inputs that are texts. A style has four sides: it is read, written, described and typed. Reading and the schema are in
 * the file of each style (`wire-list.ts`, `wire-object.ts`; one text is read in `text.ts`), and the table here has the description of all
 * of them. A program without an API document has none of the table in its bundle.
 *
 * A caller's side is `wire-write.ts`. It has no imports, as the typed client in a browser and the page of the API document load it, and
 * `usher client` copies it.
 */
import type { ListBounds } from "../codecs/codec.ts";
import type { AnyStandard } from "../schema/standard.ts";
import { listSchema } from "./wire-list.ts";
import { objectSchema } from "./wire-object.ts";
import type { DescribePart } from "./wire-object.ts";

/**
 * How the values of an input are sent: one text, a list of texts, or an object of them. A list in a query, a form or a cookie repeats the
 * name (`?tag=a&tag=b`, OpenAPI's `form`); a list in a header has commas (`x-tag: a, b`, OpenAPI's `simple`). An object has a name for
 * each member (`?filter[min]=3`, OpenAPI's `deepObject`).
 */
export type Style = "text" | "list" | "deepObject";

/** What the API document, the tools and the command say of a style. */
interface Description {
  /** Members of the parameter object, where the style is not the usual one of its place. */
  readonly parameter?: { readonly style: string; readonly explode: boolean };
  /** The JSON Schema of the schema that the input was declared with. */
  readonly declared: (shape: AnyStandard, describe: DescribePart) => object;
  /** The JSON Schema of the input, from that of what it was declared with. */
  readonly schema: (one: object, bounds: ListBounds) => object;
  /** A value of the input, each part of it that was declared replaced. */
  readonly replaced: (value: unknown, each: (one: unknown) => unknown) => unknown;
  /** The TypeScript type that a caller gives, from that of what it was declared with. */
  readonly type: (one: string) => string;
  /** Whether a default can be written into the schema. */
  readonly hasDefault: boolean;
  /** Follows the name in a list of routes. */
  readonly mark: string;
}

const asItIs = (one: object): object => one;
const describedAsOne = (shape: AnyStandard, describe: DescribePart): object => describe(shape);
const replacedAsOne = (value: unknown, each: (one: unknown) => unknown): unknown => each(value);
const sameType = (one: string): string => one;

// Written out: a bundler keeps a table with a spread in it.
export const describing: { readonly [S in Style]: Description } = {
  text: {
    declared: describedAsOne,
    schema: asItIs,
    replaced: replacedAsOne,
    type: sameType,
    hasDefault: true,
    mark: "",
  },
  list: {
    declared: describedAsOne,
    schema: listSchema,
    replaced: (value, each) => (value as readonly unknown[]).map(each),
    type: (one) => `readonly (${one})[]`,
    hasDefault: false,
    mark: "...",
  },
  deepObject: {
    parameter: { style: "deepObject", explode: true },
    declared: objectSchema,
    schema: asItIs,
    replaced: replacedAsOne,
    type: sameType,
    hasDefault: false,
    mark: "",
  },
};
