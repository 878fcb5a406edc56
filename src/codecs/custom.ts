import type { Result } from "../result.ts";
import type { Codec } from "./codec.ts";

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
