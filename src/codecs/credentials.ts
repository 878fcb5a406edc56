import { ok } from "../result.ts";
import type { Result } from "../result.ts";
import type { Codec } from "./codec.ts";
import { readElements } from "./elements.ts";
import { FieldScanner, token } from "./field-scanner.ts";
import { malformed } from "./malformed.ts";
import { Pairs, printPairs } from "./parameters.ts";
import { isToken, readWord } from "./word.ts";

/** Who a caller says it is, as `Authorization` has it. */
export interface Credentials {
  /** In lower case: `Bearer` and `bearer` are one scheme. */
  readonly scheme: string;
  /** A token68, such as a bearer's or a Basic one, or parameters: none where the scheme stands alone. */
  readonly value:
    | { readonly kind: "token68"; readonly token: string }
    | { readonly kind: "parameters"; readonly parameters: ReadonlyMap<string, string> };
}

const notCredentials = /* @__PURE__ */ malformed("credentials");
const spaces = / +/y;
const token68ToEnd = /[A-Za-z0-9\-._~+/]+=*$/y;

function parse(text: string): Result<Credentials, string> {
  const field = new FieldScanner(text);
  const scheme = field.match(token)?.toLowerCase();
  if (scheme === undefined) return notCredentials;
  if (field.done) return ok({ scheme, value: { kind: "parameters", parameters: new Map() } });
  if (field.match(spaces) === undefined || field.done) return notCredentials;
  const token68 = field.match(token68ToEnd);
  if (token68 !== undefined) return ok({ scheme, value: { kind: "token68", token: token68 } });
  const given = readElements(field, readPair);
  const pairs = new Pairs();
  if (given?.every(([name, value]) => pairs.add(name, value)) !== true) return notCredentials;
  return ok({
    scheme,
    value: {
      kind: "parameters",
      get parameters() {
        return pairs.map;
      },
    },
  });
}

function readPair(field: FieldScanner): readonly [name: string, value: string] | undefined {
  const name = field.match(token)?.toLowerCase();
  // RFC 9110 §11.2 has bad white space around this "=", which a recipient must read.
  field.skipBlanks();
  if (name === undefined || !field.take("=")) return undefined;
  field.skipBlanks();
  const value = readWord(field);
  return value === undefined ? undefined : [name, value];
}

function print({ scheme, value }: Credentials): string {
  const printed = value.kind === "token68" ? printToken68(value.token) : printPairs(value.parameters)?.join(", ");
  if (!isToken(scheme) || printed === undefined) return "";
  return printed === "" ? scheme.toLowerCase() : `${scheme.toLowerCase()} ${printed}`;
}

function printToken68(text: string): string | undefined {
  return /^[A-Za-z0-9\-._~+/]+=*$/.test(text) ? text : undefined;
}

/**
 * A scheme and what it gives (RFC 9110 §11.4): `Bearer abc`, `Digest username="ann", nc=00000001`. Two tokens, or a
 * parameter given twice, are malformed.
 */
export const credentials: Codec<Credentials> = { parse, print, text: { type: "string" } };
