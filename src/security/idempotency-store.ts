import { needsOptions } from "../arguments.ts";
import { withoutDeadline } from "../logging/context.ts";
import { FairStore, shareOf } from "../fair-store.ts";
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
  /** Whose key it is, for a share of a store that is bounded. Not to be stored: the digest has it. */
  readonly caller?: string;
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
  /**
   * Keys: 10,000 by default. Beyond that the caller whose answers take the most loses its oldest one. Of keys that are being answered
   * one caller may have an eighth, or 100 if that is more: another one is a 503 `busy`.
   */
  readonly most?: number;
  /** The length of all answers, in characters: 64 Mi by default. Beyond that the same caller loses its oldest answers. */
  readonly maxText?: number;
}

/** Keeps answers in memory, for a server of one process; they end with it. */
export function memory(options: IdempotencyMemoryOptions = {}): IdempotencyStore {
  needsOptions("Idempotency.memory", options, "most maxText");
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
  readonly caller: string | undefined;
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
  /** What each key weighs in addition to its answer: callers that fill the store with keys have as much of it as those with long answers. */
  readonly #perKey: number;
  readonly #claims = new Map<string, Kept>();
  /** How many claims each caller has. */
  readonly #counts = new Map<string, number>();
  readonly #answers = new FairStore<Kept>();
  #claimed = 0;

  constructor(most: number, maxText: number) {
    this.#most = most;
    this.#maxText = maxText;
    this.#perKey = Math.ceil(maxText / most);
  }

  async claim(digest: string, claim: IdempotencyClaim): Promise<IdempotencyEntry | undefined> {
    const at = performance.now();
    if (++this.#claimed % sweepEvery === 0) this.#sweep(at);
    const { fingerprint, token, leaseMs, keepMs, takesOver, caller } = claim;
    const known = this.#find(digest, at);
    const isFree = known === undefined || (known.answer === undefined && takesOver && known.lockedUntil <= at);
    if (!isFree && known.token !== token) {
      return { fingerprint: known.fingerprint, answer: known.answer, leaseMs: known.lockedUntil - at };
    }
    if (known === undefined) this.#makeRoom(caller, at);
    const [lockedUntil, keptUntil] = [at + leaseMs, at + keepMs];
    this.#setClaim(digest, { fingerprint, token, answer: undefined, lockedUntil, keptUntil, caller });
    return undefined;
  }

  async keep(digest: string, { fingerprint, token, answer, keepMs }: IdempotencyAnswer): Promise<boolean> {
    const claim = this.#claims.get(digest);
    if (claim?.token !== token) return false;
    this.#dropClaim(digest);
    const keptUntil = performance.now() + keepMs;
    const kept = { ...claim, fingerprint, answer, lockedUntil: 0, keptUntil };
    this.#answers.set(digest, kept, () => claim.caller, answer.length + this.#perKey);
    // Not this one: its work would be done twice.
    while (this.#text > this.#maxText && this.#answers.evict(digest) !== undefined);
    return true;
  }

  async extend(digest: string, token: string, leaseMs: number): Promise<void> {
    const claimed = this.#claims.get(digest);
    if (claimed?.token !== token) return;
    const lockedUntil = performance.now() + leaseMs;
    this.#setClaim(digest, { ...claimed, lockedUntil, keptUntil: Math.max(claimed.keptUntil, lockedUntil) });
  }

  async free(digest: string, token: string): Promise<void> {
    if (this.#claims.get(digest)?.token === token) this.#dropClaim(digest);
  }

  /** The length of all answers. */
  get #text(): number {
    return this.#answers.weight - this.#answers.size * this.#perKey;
  }

  #setClaim(digest: string, claim: Kept): void {
    this.#dropClaim(digest);
    this.#claims.set(digest, claim);
    const { caller } = claim;
    if (caller !== undefined) this.#counts.set(caller, (this.#counts.get(caller) ?? 0) + 1);
  }

  #dropClaim(digest: string): void {
    const claim = this.#claims.get(digest);
    if (claim === undefined) return;
    this.#claims.delete(digest);
    const { caller } = claim;
    if (caller === undefined) return;
    const left = (this.#counts.get(caller) ?? 0) - 1;
    if (left > 0) this.#counts.set(caller, left);
    else this.#counts.delete(caller);
  }

  #find(digest: string, at: number): Kept | undefined {
    const known = this.#answers.get(digest) ?? this.#claims.get(digest);
    if (known === undefined || known.keptUntil > at) return known;
    this.#forget(digest);
    return undefined;
  }

  /** A claim that holds is never dropped for another one: its request still runs. One that has run out is, as the oldest answer is. */
  #makeRoom(caller: string | undefined, at: number): void {
    const isOverShare = caller !== undefined && (this.#counts.get(caller) ?? 0) >= shareOf(this.#most);
    if (isOverShare && !this.#dropLost(at, caller))
      throw new TooManyClaims("Idempotency.memory: too many keys of one caller");
    while (this.#claims.size + this.#answers.size >= this.#most) {
      if (this.#answers.evict() === undefined && !this.#dropLost(at)) {
        throw new TooManyClaims("Idempotency.memory: every key is claimed");
      }
    }
  }

  /** Drops the oldest claim that has run out, of one caller or of any. */
  #dropLost(at: number, of?: string): boolean {
    for (const [digest, { lockedUntil, caller }] of this.#claims) {
      if (lockedUntil > at || (of !== undefined && of !== caller)) continue;
      this.#dropClaim(digest);
      return true;
    }
    return false;
  }

  #forget(digest: string): void {
    this.#answers.delete(digest);
    this.#dropClaim(digest);
  }

  #sweep(at: number): void {
    for (const [digest, { keptUntil }] of this.#claims) if (keptUntil <= at) this.#dropClaim(digest);
    this.#answers.sweep(2 * sweepEvery, ({ keptUntil }) => keptUntil <= at);
  }
}

/** The number of claims between two sweeps. */
const sweepEvery = 1000;
