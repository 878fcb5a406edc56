import { encodeBase64 } from "../http/bytes.ts";

/** The cost of scrypt (RFC 7914): it takes 128 · 2^`log2N` · `r` bytes of memory, and time for `p` times as much. */
export interface PasswordCost {
  /** The logarithm of N: 15 by default. */
  readonly log2N: number;
  /** The block size: 8 by default. */
  readonly r: number;
  /** How often, one after the other: 3 by default. */
  readonly p: number;
}

/** A stored hash, in parts. */
export interface StoredHash {
  readonly cost: PasswordCost;
  readonly salt: Uint8Array;
  readonly hash: Uint8Array;
}

/** The most memory of one hash: 256 MiB. A stored hash may ask for any. */
const maxBytes = 2 ** 28;
/** The most work of one hash, N · r · p: eight times that of OWASP's parameters. */
const maxWork = 2 ** 23;

/** Why a cost cannot be taken; undefined where it can. */
export function wrongCost({ log2N, r, p }: PasswordCost): string | undefined {
  const areWhole = [log2N, r, p].every((one) => Number.isSafeInteger(one) && one >= 1);
  if (!areWhole || log2N > 24) return "whole numbers, 1 or more, and log2N at most 24";
  const work = 2 ** log2N * r;
  if (128 * work > maxBytes) return "at most 256 MiB of memory";
  return work * p > maxWork ? "at most 2²³ blocks of work" : undefined;
}

const phc =
  /^\$scrypt\$ln=([1-9]\d?),r=([1-9]\d{0,6}),p=([1-9]\d{0,6})\$([A-Za-z0-9+/]{0,86})\$([A-Za-z0-9+/]{22,86})$/;

/** Reads a hash in the PHC string format; undefined where it is none of scrypt, or costs more than one may. */
export function readHash(stored: string): StoredHash | undefined {
  const found = phc.exec(stored);
  if (found === null) return undefined;
  const [, ln, r, p, salt = "", hash = ""] = found;
  const cost = { log2N: Number(ln), r: Number(r), p: Number(p) };
  const [saltBytes, hashBytes] = [bytesOf(salt), bytesOf(hash)];
  if (saltBytes === undefined || hashBytes === undefined || wrongCost(cost) !== undefined) return undefined;
  return { cost, salt: saltBytes, hash: hashBytes };
}

export function printHash({ cost: { log2N, r, p }, salt, hash }: StoredHash): string {
  return `$scrypt$ln=${log2N},r=${r},p=${p}$${textOf(salt)}$${textOf(hash)}`;
}

/** Base64 without padding, as the PHC string format has it. */
function textOf(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll("=", "");
}

function bytesOf(text: string): Uint8Array | undefined {
  if (text.length % 4 === 1) return undefined;
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  // A last character may have unused bits, and only one text is canonical.
  return textOf(bytes) === text ? bytes : undefined;
}
