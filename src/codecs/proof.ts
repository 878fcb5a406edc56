import type { Credentials } from "./credentials.ts";
import { decode } from "./utf8.ts";

/** A person's name and password, as HTTP's own dialog sends them. */
export interface BasicLogin {
  readonly user: string;
  readonly password: string;
}

/** The token of `Authorization: Bearer …` (RFC 6750 §2.1); undefined for credentials of another kind, and for none. */
export function bearerToken(credentials: Credentials | undefined): string | undefined {
  return credentials?.scheme === "bearer" ? token68Of(credentials) : undefined;
}

/** The login of `Authorization: Basic …` (RFC 7617 §2), in UTF-8; undefined for credentials of another kind, and for none. */
export function basicLogin(credentials: Credentials | undefined): BasicLogin | undefined {
  const token = credentials?.scheme === "basic" ? token68Of(credentials) : undefined;
  const text = token === undefined ? undefined : base64Text(token);
  const colon = text?.indexOf(":") ?? -1;
  if (text === undefined || colon === -1) return undefined;
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

function token68Of({ value }: Credentials): string | undefined {
  return value.kind === "token68" ? value.token : undefined;
}

function base64Text(token: string): string | undefined {
  // A token68 may have letters that are none of base64's, and a last group that is too short.
  const padding = token.indexOf("=");
  const bare = padding === -1 ? token : token.slice(0, padding);
  if (bare.length % 4 === 1 || !/^[A-Za-z0-9+/]*=*$/.test(token)) return undefined;
  const text = decode(Uint8Array.from(atob(bare), (character) => character.charCodeAt(0)));
  // RFC 7617 §2: neither has a control character.
  return text === undefined || /\p{Cc}/u.test(text) ? undefined : text;
}
