import { ok } from "../result.ts";
import type { Result } from "../result.ts";
import type { Codec } from "./codec.ts";
import { FieldScanner, token } from "./field-scanner.ts";
import { malformed } from "./malformed.ts";
import { printParameters, readParameters } from "./parameters.ts";
import type { Pairs } from "./parameters.ts";
import { isToken } from "./word.ts";

/** What a body is: `text/html;charset=utf-8`. */
export interface MediaType {
  /** In lower case, as the subtype is. */
  readonly type: string;
  readonly subtype: string;
  /** The names in lower case, in the order sent; what a quoted value says, not its quotes. */
  readonly parameters: ReadonlyMap<string, string>;
}

const notMediaType = /* @__PURE__ */ malformed("a media type");

interface ReadMediaType {
  readonly type: string;
  readonly subtype: string;
  readonly pairs: Pairs;
}

/** Type, `/`, subtype and parameters. */
export function readMediaType(field: FieldScanner, parametersEnd?: RegExp): ReadMediaType | undefined {
  const type = field.match(token)?.toLowerCase();
  if (type === undefined || !field.take("/")) return undefined;
  const subtype = field.match(token)?.toLowerCase();
  if (subtype === undefined) return undefined;
  const pairs = readParameters(field, parametersEnd);
  return pairs && { type, subtype, pairs };
}

/** Undefined where it cannot be printed. */
export function printMediaType({ type, subtype, parameters }: MediaType): string | undefined {
  const printed = printParameters(parameters);
  if (!isToken(type) || !isToken(subtype) || printed === undefined) return undefined;
  return `${type.toLowerCase()}/${subtype.toLowerCase()}${printed}`;
}

function parse(text: string): Result<MediaType, string> {
  const field = new FieldScanner(text);
  const mediaType = readMediaType(field);
  if (mediaType === undefined || !field.done) return notMediaType;
  const { type, subtype, pairs } = mediaType;
  return ok({
    type,
    subtype,
    get parameters() {
      return pairs.map;
    },
  });
}

/** A media type, as `Content-Type` has it (RFC 9110 §8.3.1). A parameter given twice is malformed. */
export const mediaType: Codec<MediaType> = {
  parse,
  print: (value) => printMediaType(value) ?? "",
  text: { type: "string" },
};
