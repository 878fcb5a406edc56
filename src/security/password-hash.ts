import { encodeBase64 } from "../http/bytes.ts";
import { readArgon2 } from "./argon2.ts";
import type { PasswordAlgorithm } from "./password-algorithm.ts";
import { readScrypt } from "./scrypt.ts";

/** A stored hash, in parts. */
export interface StoredHash {
  readonly algorithm: PasswordAlgorithm;
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
}

const phc = /^(\$[^$]{1,32}(?:\$v=\d\d)?\$[^$]{1,64})\$([A-Za-z0-9+/]{0,86})\$([A-Za-z0-9+/]{22,86})$/;
/** RFC 9106 §3.1 has no shorter salt; scrypt takes any. */
const minArgon2Salt = 8;

/** Reads a hash in the PHC string format; undefined where it is of no algorithm here, or costs more than one may. */
export function readHash(stored: string): StoredHash | undefined {
  const found = phc.exec(stored);
  if (found === null) return undefined;
  const [, head = "", saltText = "", hashText = ""] = found;
  const [salt, hash] = [fromPhcBase64(saltText), fromPhcBase64(hashText)];
  if (salt === undefined || hash === undefined) return undefined;
  const algorithm = readScrypt(head) ?? (salt.byteLength < minArgon2Salt ? undefined : readArgon2(head));
  return algorithm && { algorithm, salt, hash };
}

export function printHash({ algorithm, salt, hash }: StoredHash): string {
  return `${algorithm.head}$${phcBase64(salt)}$${phcBase64(hash)}`;
}

/** Base64 without padding, as the PHC string format has it. */
function phcBase64(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll("=", "");
}

function fromPhcBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 === 1) return undefined;
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  // A last character may have unused bits, and only one text is canonical.
  return phcBase64(bytes) === text ? bytes : undefined;
}
