import { hashOf, nodeCrypto } from "./node-crypto.ts";
import type { PasswordAlgorithm } from "./password-algorithm.ts";

/** The cost of scrypt (RFC 7914): it takes 128 · 2^`log2N` · `r` bytes of memory, and time for `p` times as much. */
export interface PasswordCost {
  /** The logarithm of N: 15 by default. */
  readonly log2N: number;
  /** The block size: 8 by default. */
  readonly r: number;
  /** How often, one after the other: 3 by default. */
  readonly p: number;
}

/** The most memory of one hash: 256 MiB, and a little for what is not of N. A stored hash may ask for any. */
const maxBytes = 2 ** 28 + 2 ** 17;
/** The most work of one hash, N · r · p: eight times that of OWASP's parameters. */
const maxWork = 2 ** 23;

/** Why a cost cannot be taken; undefined where it can. */
export function wrongScryptCost({ log2N, r, p }: PasswordCost): string | undefined {
  const areWhole = [log2N, r, p].every((one) => Number.isSafeInteger(one) && one >= 1);
  if (!areWhole || log2N > 24) return "log2N, r and p: whole numbers, 1 or more, and log2N at most 24";
  const N = 2 ** log2N;
  // OpenSSL copies the p blocks once.
  if (128 * r * (N + 2 * p + 2) > maxBytes) return "at most 256 MiB of memory";
  // Each of the p takes as long as sixteen of N besides: it is made by SHA-256, and hashed by it.
  return Math.max(N, 16) * r * p > maxWork ? "at most 2²³ blocks of work" : undefined;
}

/** One of OWASP's equal choices. */
export function scrypt(cost: PasswordCost = { log2N: 15, r: 8, p: 3 }): PasswordAlgorithm {
  const { log2N, r, p } = cost;
  const N = 2 ** log2N;
  // What OpenSSL counts, and room for its own.
  const maxmem = 128 * r * (N + p + 2) + 65_536;
  return {
    head: `$scrypt$ln=${log2N},r=${r},p=${p}`,
    hash: (password, salt, length) =>
      hashOf((done) => nodeCrypto().scrypt(password, salt, length, { N, r, p, maxmem }, done)),
  };
}

const form = /^\$scrypt\$ln=([1-9]\d?),r=([1-9]\d{0,6}),p=([1-9]\d{0,6})$/;

/** Reads the head of a stored hash; undefined if it is not one of scrypt, or costs more than is allowed. */
export function readScrypt(head: string): PasswordAlgorithm | undefined {
  const found = form.exec(head);
  if (found === null) return undefined;
  const cost = { log2N: Number(found[1]), r: Number(found[2]), p: Number(found[3]) };
  return wrongScryptCost(cost) === undefined ? scrypt(cost) : undefined;
}
