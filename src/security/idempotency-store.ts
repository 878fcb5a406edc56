import { needsObject } from "../arguments.ts";
import { withoutDeadline } from "../logging/context.ts";
import { OldestFirst } from "../oldest-first.ts";
import { RefusingError, busy, refuse } from "../refusals.ts";
import type { Refusal } from "../refusals.ts";

/** A request that claims its key. */
export interface IdempotencyClaim {
  /** The SHA-256 of its method, path, query and body, in hexadecimal digits. */
  readonly fingerprint: string;
  /** A random text, by which the store tells this request from others with the same key. */
  readonly token: string;
  /** For how many milliseconds the claim holds, unless it is extended. */
  readonly leaseMs: number;
  /** For how many milliseconds the key is known, unless the claim is extended past that. */
  readonly keepMs: number;
  /** Whether it may claim a key whose claim has run out without an answer. */
  readonly takesOver: boolean;
}

/** The claim or the answer that a store has for a key. */
export interface IdempotencyEntry {
  /** That of its first request; undefined where it is not known yet. */
  readonly fingerprint: string | undefined;
  /** The kept answer; undefined while there is none. */
  readonly answer: string | undefined;
  /** For how many milliseconds its claim still holds; 0 or less where it has run out. */
  readonly leaseMs: number;
}

/** An answer to be kept. */
export interface IdempotencyAnswer {
  /** That of the claim. */
  readonly fingerprint: string;
  /** That of the claim. */
  readonly token: string;
  /** The answer, as text. */
  readonly answer: string;
  /** For how many milliseconds it is kept. */
  readonly keepMs: number;
  /** The refusal that it is, whose work a transaction rolls back. */
  readonly refused: Refusal | undefined;
}

/**
 * Keeps the answer of each key. A key is known by the SHA-256 of itself and its caller, so a stolen store shows neither. A store that
 * several processes share uses its own clock. What it throws is a 500 or 503: a request whose key is not claimed does not run.
 */
export interface IdempotencyStore {
  /**
   * Whether it writes in the transaction of the handler. Then a claim ends with the transaction, and the answer is kept before the
   * commit.
   */
  readonly isTransaction?: boolean;
  /**
   * Claims a key, in one atomic step. Undefined where it is claimed, also by the same token before; otherwise the entry of the key,
   * and nothing is changed.
   */
  claim(digest: string, claim: IdempotencyClaim, now: Date): Promise<IdempotencyEntry | undefined>;
  /** Keeps the answer of a claim. False where the key is not claimed by this token any more. */
  keep(digest: string, answer: IdempotencyAnswer, now: Date): Promise<boolean>;
  /** Lets a claim hold for `leaseMs` from now on, and its key be known for as long at least. */
  extend(digest: string, token: string, leaseMs: number): Promise<void>;
  /** Forgets a claim without an answer: the next request with the key runs. */
  free(digest: string, token: string): Promise<void>;
}

/** The size of a store in memory. */
export interface IdempotencyMemoryOptions {
  /** Keys: 10,000 by default. Beyond that the oldest answer is dropped. */
  readonly most?: number;
  /** The length of all answers, in characters: 64 Mi by default. Beyond that the oldest answers are dropped. */
  readonly maxText?: number;
}

/** Keeps answers in memory, for a server of one process; they end with it. */
export function memory(options: IdempotencyMemoryOptions = {}): IdempotencyStore {
  needsObject("Idempotency.memory: options", options);
  const { most = 10_000, maxText = 67_108_864 } = options;
  for (const [name, bound] of Object.entries({ most, maxText })) {
    if (Number.isSafeInteger(bound) && bound >= 1) continue;
    throw new Error(`Idempotency.memory: ${name} must be a whole number, 1 or more, not ${bound}`);
  }
  return new MemoryIdempotencyStore(most, maxText);
}

/** A claimed key, or one with its answer. Times are in milliseconds of the monotonic clock. */
interface Kept {
  readonly fingerprint: string;
  readonly token: string;
  readonly answer: string | undefined;
  readonly lockedUntil: number;
  readonly keptUntil: number;
}

/** An error of `claim` after which nothing is claimed for sure: there is nothing to free. */
export abstract class NotClaimed extends RefusingError {}

/** Claims that a store may have although their requests are over: they are freed once it answers again. */
export class LostClaims {
  readonly #free: (digest: string, token: string) => Promise<unknown>;
  /** Their digests, by token. */
  readonly #digests = new Map<string, string>();

  constructor(free: (digest: string, token: string) => Promise<unknown>) {
    this.#free = free;
  }

  add(digest: string, token: string): void {
    this.#digests.set(token, digest);
  }

  free(): void {
    if (this.#digests.size === 0) return;
    const lost = [...this.#digests];
    this.#digests.clear();
    withoutDeadline(() => {
      for (const [token, digest] of lost) this.#free(digest, token).catch(() => this.add(digest, token));
    });
  }
}

/** The store has as many claims as it may have. */
class TooManyClaims extends NotClaimed {
  override readonly name: string = "TooManyClaims";
  readonly refusal: Refusal = refuse(busy);
}

class MemoryIdempotencyStore implements IdempotencyStore {
  readonly #most: number;
  readonly #maxText: number;
  readonly #claims = new Map<string, Kept>();
  /** The oldest first. */
  readonly #answers = new OldestFirst<Kept>();
  #text = 0;
  #claimed = 0;

  constructor(most: number, maxText: number) {
    this.#most = most;
    this.#maxText = maxText;
  }

  async claim(digest: string, claim: IdempotencyClaim): Promise<IdempotencyEntry | undefined> {
    const at = performance.now();
    if (++this.#claimed % sweepEvery === 0) this.#sweep(at);
    const { fingerprint, token, leaseMs, keepMs, takesOver } = claim;
    const known = this.#find(digest, at);
    const isFree = known === undefined || (known.answer === undefined && takesOver && known.lockedUntil <= at);
    if (!isFree && known.token !== token) {
      return { fingerprint: known.fingerprint, answer: known.answer, leaseMs: known.lockedUntil - at };
    }
    if (known === undefined) this.#makeRoom(at);
    this.#claims.set(digest, {
      fingerprint,
      token,
      answer: undefined,
      lockedUntil: at + leaseMs,
      keptUntil: at + keepMs,
    });
    return undefined;
  }

  async keep(digest: string, { fingerprint, token, answer, keepMs }: IdempotencyAnswer): Promise<boolean> {
    if (this.#claims.get(digest)?.token !== token) return false;
    this.#claims.delete(digest);
    this.#answers.set(digest, { fingerprint, token, answer, lockedUntil: 0, keptUntil: performance.now() + keepMs });
    this.#text += answer.length;
    // Not this one: its work would be done twice.
    while (this.#text > this.#maxText && this.#answers.size > 1) this.#dropOldest();
    return true;
  }

  async extend(digest: string, token: string, leaseMs: number): Promise<void> {
    const claimed = this.#claims.get(digest);
    if (claimed?.token !== token) return;
    const lockedUntil = performance.now() + leaseMs;
    this.#claims.set(digest, { ...claimed, lockedUntil, keptUntil: Math.max(claimed.keptUntil, lockedUntil) });
  }

  async free(digest: string, token: string): Promise<void> {
    if (this.#claims.get(digest)?.token === token) this.#claims.delete(digest);
  }

  #find(digest: string, at: number): Kept | undefined {
    const known = this.#answers.get(digest) ?? this.#claims.get(digest);
    if (known === undefined || known.keptUntil > at) return known;
    this.#forget(digest);
    return undefined;
  }

  /** A claim that holds is never dropped for another one: its request still runs. One that has run out is, as the oldest answer is. */
  #makeRoom(at: number): void {
    while (this.#claims.size + this.#answers.size >= this.#most) {
      if (this.#answers.size > 0) this.#dropOldest();
      else if (!this.#dropLost(at)) throw new TooManyClaims("Idempotency.memory: every key is claimed");
    }
  }

  /** Drops the oldest claim that has run out. */
  #dropLost(at: number): boolean {
    for (const [digest, { lockedUntil }] of this.#claims) if (lockedUntil <= at) return this.#claims.delete(digest);
    return false;
  }

  #dropOldest(): void {
    const kept = this.#answers.oldest;
    this.#answers.deleteOldest();
    this.#text -= kept?.answer?.length ?? 0;
  }

  #forget(digest: string): void {
    this.#text -= this.#answers.get(digest)?.answer?.length ?? 0;
    this.#answers.delete(digest);
    this.#claims.delete(digest);
  }

  #sweep(at: number): void {
    for (const [digest, { keptUntil }] of this.#claims) if (keptUntil <= at) this.#claims.delete(digest);
    this.#answers.sweep(2 * sweepEvery, ({ answer, keptUntil }) => {
      if (keptUntil > at) return false;
      this.#text -= answer?.length ?? 0;
      return true;
    });
  }
}

/** The number of claims between two sweeps. */
const sweepEvery = 1000;
