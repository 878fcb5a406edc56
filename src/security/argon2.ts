import { hashOf, nodeCrypto } from "./node-crypto.ts";
import type { Argon2Parameters } from "./node-crypto.ts";
import type { PasswordAlgorithm } from "./password-algorithm.ts";

/** The cost of Argon2id (RFC 9106): it fills its memory `passes` times. */
export interface Argon2Cost {
  /** The memory in KiB: 19,456 by default, 8 or more for each lane. */
  readonly memoryKiB: number;
  /** How often the memory is filled: 2 by default. */
  readonly passes: number;
  /** The lanes that can be filled at once: 1 by default, 64 at most. Each may take a thread. */
  readonly parallelism: number;
}

/** The most memory of one hash: 256 MiB. A stored hash may ask for any. */
const maxKiB = 2 ** 18;
/** The most work of one hash, KiB times passes: four passes of the most memory, as long as the most of scrypt. */
const maxWork = 2 ** 20;
/** Node starts a thread for each lane: 1,024 of them took twenty times as long as their memory. */
const maxLanes = 64;
/** The least that a lane counts for in each pass: its four threads take as long as 40 KiB. */
const leastOfLane = 64;

/** Why a cost cannot be taken; undefined where it can. */
export function wrongArgon2Cost({ memoryKiB, passes, parallelism }: Argon2Cost): string | undefined {
  const areWhole = [memoryKiB, passes, parallelism].every((one) => Number.isSafeInteger(one) && one >= 1);
  if (!areWhole) return "memoryKiB, passes and parallelism: whole numbers, 1 or more";
  if (parallelism > maxLanes) return "a parallelism of at most 64";
  if (memoryKiB < 8 * parallelism) return "a memoryKiB of at least 8 for each lane";
  if (memoryKiB > maxKiB) return "at most 256 MiB of memory";
  const counted = Math.max(memoryKiB, leastOfLane * parallelism);
  return counted * passes > maxWork ? "at most 1 GiB in all passes, 64 KiB or more for each lane" : undefined;
}

/** OWASP's parameters. */
export function argon2id(cost: Argon2Cost = { memoryKiB: 19_456, passes: 2, parallelism: 1 }): PasswordAlgorithm {
  const { memoryKiB: memory, passes, parallelism } = cost;
  return {
    head: `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}`,
    hash(message, nonce, tagLength) {
      const parameters = { message, nonce, tagLength, memory, passes, parallelism };
      return hashOf((done) => nodeCrypto().argon2?.("argon2id", parameters, done));
    },
  };
}

let isThere: boolean | undefined;

/** Whether this runtime has Argon2id. It is tried once. */
export function hasArgon2(): boolean {
  try {
    // As little as there is: what OpenSSL under Node cannot, it says only where it is called.
    const [message, nonce] = [new Uint8Array(0), new Uint8Array(8)];
    const trial: Argon2Parameters = { message, nonce, tagLength: 16, memory: 8, passes: 1, parallelism: 1 };
    isThere ??= nodeCrypto().argon2Sync?.("argon2id", trial) !== undefined;
  } catch {
    isThere = false;
  }
  return isThere;
}

const form = /^\$argon2id\$v=19\$m=([1-9]\d{0,6}),t=([1-9]\d{0,6}),p=([1-9]\d{0,2})$/;

/** Reads the head of a stored hash; undefined if it is not one of Argon2id, or costs more than is allowed. */
export function readArgon2(head: string): PasswordAlgorithm | undefined {
  const found = form.exec(head);
  if (found === null) return undefined;
  const cost = { memoryKiB: Number(found[1]), passes: Number(found[2]), parallelism: Number(found[3]) };
  return wrongArgon2Cost(cost) === undefined ? argon2id(cost) : undefined;
}
