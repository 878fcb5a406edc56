import type { Codec } from "./codec.ts";
import { elements } from "./elements.ts";
import type { FieldScanner } from "./field-scanner.ts";
import { token } from "./field-scanner.ts";
import { isToken, printQuoted, printWord, readWord } from "./word.ts";

/** One word to a cache: `no-store`, or `max-age` with the argument `60`. */
export interface CacheDirective {
  /** In lower case. */
  readonly directive: string;
  /** What it says, whether it was sent quoted or not. */
  readonly argument?: string;
}

function readElement(field: FieldScanner): CacheDirective | undefined {
  const directive = field.match(token)?.toLowerCase();
  if (directive === undefined) return undefined;
  if (!field.take("=")) return { directive };
  const argument = readWord(field);
  return argument === undefined ? undefined : { directive, argument };
}

function printElement({ directive: given, argument }: CacheDirective): string | undefined {
  const directive = given.toLowerCase();
  if (!isToken(directive)) return undefined;
  if (argument === undefined) return directive;
  // RFC 9111 §5.2.2.4, §5.2.2.7: these two take field names, and a sender quotes even one of them.
  const quotes = directive === "no-cache" || directive === "private";
  const printed = quotes ? printQuoted(argument) : printWord(argument);
  return printed === undefined ? undefined : `${directive}=${printed}`;
}

/** The directives of `Cache-Control` (RFC 9111 §5.2), in the order sent; one may be there twice. */
export const cacheControl: Codec<readonly CacheDirective[]> = /* @__PURE__ */ elements({
  expects: "a Cache-Control value",
  least: 0,
  read: readElement,
  print: printElement,
});
