import { needsObject } from "../arguments.ts";
import { decode } from "../http/bytes.ts";
import { FieldScanner, Pairs, isToken, printPairs, readWord, token } from "../http/fields.ts";
import { ok } from "../result.ts";
import type { Result } from "../result.ts";
import { malformed, readElements } from "./codec.ts";
import type { Codec } from "./codec.ts";

/** The credentials of `Authorization`. */
export interface Credentials {
  /** In lower case: `Bearer` and `bearer` are one scheme. */
  readonly scheme: string;
  /** A token68, as `Bearer` and `Basic` have, or parameters. A scheme alone has no parameters. */
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
  // RFC 9110 §11.2: a recipient must read bad white space around this "=".
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
 * A scheme and its token or parameters (RFC 9110 §11.4): `Bearer abc`, `Digest username="ann", nc=00000001`. Two tokens, or
 * a repeated parameter, are malformed.
 */
export const credentials: Codec<Credentials> = { parse, print, text: { type: "string" } };

/** A user's name and password, as a browser's login dialog sends them. */
export interface BasicLogin {
  /** The name; it has no colon. */
  readonly user: string;
  /** The password, as sent. */
  readonly password: string;
}

// Constants: of a function, a program that exports it again has the type `typeof bearerToken`, which its declarations cannot name.

/** The token of `Authorization: Bearer …` (RFC 6750 §2.1); undefined for other credentials, or without any. */
export const bearerToken = (credentials: Credentials | undefined): string | undefined => {
  return token68Of("Codec.bearerToken", "bearer", credentials);
};

/** The login of `Authorization: Basic …` (RFC 7617 §2), in UTF-8; undefined for other credentials, or without any. */
export const basicLogin = (credentials: Credentials | undefined): BasicLogin | undefined => {
  const token = token68Of("Codec.basicLogin", "basic", credentials);
  const text = token === undefined ? undefined : base64Text(token);
  const colon = text?.indexOf(":") ?? -1;
  if (text === undefined || colon === -1) return undefined;
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
};

function token68Of(reader: string, scheme: string, credentials: Credentials | undefined): string | undefined {
  if (credentials === undefined) return undefined;
  needsObject(`${reader}: it`, credentials);
  const { value } = credentials;
  return credentials.scheme === scheme && value.kind === "token68" ? value.token : undefined;
}

function base64Text(token: string): string | undefined {
  // A token68 may have characters that base64 does not use, and a last group that is too short.
  const padding = token.indexOf("=");
  const bare = padding === -1 ? token : token.slice(0, padding);
  if (bare.length % 4 === 1 || !/^[A-Za-z0-9+/]*=*$/.test(token)) return undefined;
  const text = decode(Uint8Array.from(atob(bare), (character) => character.charCodeAt(0)));
  // RFC 7617 §2: neither name nor password has a control character.
  return text === undefined || /\p{Cc}/u.test(text) ? undefined : text;
}
