/** The `Password` namespace: hashes of passwords. */
import { ambient } from "../ambient.ts";
import { needs, needsCount, needsObject, needsOptions, needsText, shown } from "../arguments.ts";
import { losslessBytes } from "../http/bytes.ts";
import { argon2id, hasArgon2, wrongArgon2Cost } from "./argon2.ts";
import type { Argon2Cost } from "./argon2.ts";
import type { PasswordAlgorithm } from "./password-algorithm.ts";
import { printHash, readHash } from "./password-hash.ts";
import type { StoredHash } from "./password-hash.ts";
import { Turns } from "./password-turns.ts";
import { scrypt, wrongScryptCost } from "./scrypt.ts";
import type { PasswordCost } from "./scrypt.ts";

export type { Argon2Cost } from "./argon2.ts";
export type { PasswordCost } from "./scrypt.ts";

/** The options of `Password.make`: scrypt with its cost, or Argon2id with its own. */
export type PasswordOptions = PasswordLimits &
  (
    | {
        /** The algorithm of a new hash: scrypt unless set. Every runtime has it. */
        readonly algorithm?: "scrypt";
        /** The cost of a new hash: N 2¹⁵, r 8 and p 3 unless set, one of OWASP's equal choices. It takes 32 MiB. */
        readonly cost?: PasswordCost;
      }
    | {
        /** The algorithm of a new hash: Node 24.7 or newer has Argon2id, and so has Bun 1.4.5. Deno and Workers have not. */
        readonly algorithm: "argon2id";
        /** The cost of a new hash: 19,456 KiB, 2 passes and 1 lane unless set, OWASP's choice. It takes 19 MiB. */
        readonly cost?: Argon2Cost;
      }
  );

/** How much is hashed at once, and of how long a password. */
export interface PasswordLimits {
  /** The most hashes at once: 2 unless set. Each takes a thread, and the memory of its cost. */
  readonly atOnce?: number;
  /** The most callers that wait for their turn: 100 unless set. One more is refused with 503 `busy`. */
  readonly maxWaiting?: number;
  /** How long one waits for its turn, in milliseconds: 5,000 unless set. Then it is refused with 503 `busy`. */
  readonly waitMs?: number;
  /** The most bytes of a password in UTF-8: 1,024 unless set. */
  readonly maxBytes?: number;
}

/** What {@link Passwords.verify} found. */
export interface PasswordCheck {
  /** Whether it is the password of the hash. */
  readonly isRight: boolean;
  /** Whether the password is right, and its hash has another algorithm or cost than new ones: hash it again, and store that. */
  readonly needsRehash: boolean;
}

/** Hashes passwords, made by `Password.make`. */
export interface Passwords {
  /**
   * The hash of a password with a new salt, in the PHC string format: `$scrypt$ln=15,r=8,p=3$…$…`, which every runtime verifies, or
   * `$argon2id$v=19$m=19456,t=2,p=1$…$…`.
   *
   * @throws RangeError for a password that is too long; 503 `busy` where too many are hashed.
   */
  hash(password: string): Promise<string>;
  /**
   * Whether a password is that of a stored hash, of either algorithm. Without a stored hash it takes as long, and is wrong: so the
   * time does not tell which accounts exist.
   *
   * @throws TypeError for a stored text that is no such hash, or that would cost more than one may; it is not quoted. Error for a hash
   * of Argon2id where the runtime has none.
   */
  verify(stored: string | undefined, password: string): Promise<PasswordCheck>;
}

/**
 * Hashes passwords by the runtime's own scrypt (RFC 7914) or Argon2id (RFC 9106), off the event loop, and a few at once. A password
 * is normalized by NFC before, so that it is the same from every keyboard.
 *
 * @throws TypeError for a wrong option. Error for `algorithm: "argon2id"` where the runtime has none.
 * @example
 * ```ts
 * const passwords = Password.make({ atOnce: 4 });
 * const stored = await passwords.hash("correct horse battery staple");
 * const { isRight, needsRehash } = await passwords.verify(stored, "correct horse battery staple");
 * ```
 */
export function make(options: PasswordOptions = {}): Passwords {
  needsOptions("Password.make", options, "atOnce maxWaiting waitMs maxBytes algorithm cost");
  const { atOnce = 2, maxWaiting = 100, waitMs = 5000, maxBytes = 1024 } = options;
  const algorithm = algorithmOf(options);
  for (const [name, bound] of Object.entries({ atOnce, maxWaiting, waitMs, maxBytes })) {
    needsCount(`Password.make: ${name}`, bound);
  }
  // A longer timer would fire at once.
  needs(waitMs < 2 ** 31, "Password.make: waitMs", waitMs, "milliseconds, less than 2³¹");
  ambient.use();
  return new HashedPasswords(algorithm, new Turns(atOnce, maxWaiting, waitMs), maxBytes);
}

function algorithmOf(options: PasswordOptions): PasswordAlgorithm {
  if (options.cost !== undefined) needsObject("Password.make: cost", options.cost);
  if (options.algorithm !== "argon2id") {
    const { algorithm = "scrypt", cost } = options;
    if (algorithm !== "scrypt") {
      throw new TypeError(`Password.make: algorithm is ${shown(algorithm)}, and not "scrypt" or "argon2id"`);
    }
    refuseCost(cost, cost && wrongScryptCost(cost));
    return scrypt(cost);
  }
  refuseCost(options.cost, options.cost && wrongArgon2Cost(options.cost));
  if (!hasArgon2()) throw new Error(`Password.make: algorithm "argon2id": ${noArgon2}, or take "scrypt"`);
  return argon2id(options.cost);
}

const noArgon2 = "this runtime has no Argon2id. Run it on Node 24.7 or newer or on Bun 1.4.5 or newer";

function refuseCost(cost: unknown, wrong: string | undefined): void {
  needs(wrong === undefined, "Password.make: cost", cost, String(wrong));
}

let shared: Passwords | undefined;

/** Hashes a password as `Password.make` without options does. All callers of a process share its turns. */
export function hash(password: string): Promise<string> {
  return (shared ??= make()).hash(password);
}

/** Verifies a password as `Password.make` without options does. All callers of a process share its turns. */
export function verify(stored: string | undefined, password: string): Promise<PasswordCheck> {
  return (shared ??= make()).verify(stored, password);
}

const saltBytes = 16;
const hashBytes = 32;
const wrong: PasswordCheck = { isRight: false, needsRehash: false };

class HashedPasswords implements Passwords {
  readonly #algorithm: PasswordAlgorithm;
  readonly #turns: Turns;
  readonly #maxBytes: number;
  /** Verified where there is no stored hash. */
  readonly #nobody: StoredHash;

  constructor(algorithm: PasswordAlgorithm, turns: Turns, maxBytes: number) {
    this.#algorithm = algorithm;
    this.#turns = turns;
    this.#maxBytes = maxBytes;
    this.#nobody = { algorithm, salt: new Uint8Array(saltBytes), hash: new Uint8Array(hashBytes) };
  }

  async hash(password: string): Promise<string> {
    needsText("Password.hash: its password", password);
    const bytes = this.#bytesOf(password);
    if (bytes === undefined) throw new RangeError(`Password.hash: a password has at most ${this.#maxBytes} bytes`);
    const salt = crypto.getRandomValues(new Uint8Array(saltBytes));
    const made = await this.#turns.run(() => this.#algorithm.hash(bytes, salt, hashBytes));
    return printHash({ algorithm: this.#algorithm, salt, hash: made });
  }

  async verify(stored: string | undefined, password: string): Promise<PasswordCheck> {
    needs(stored === undefined || typeof stored === "string", "Password.verify: its stored hash", stored, "a text");
    needsText("Password.verify: its password", password);
    const { algorithm, salt, hash } = stored === undefined ? this.#nobody : storedHash(stored);
    const bytes = this.#bytesOf(password);
    // Its length is the client's own: that it is answered sooner shows nothing.
    if (bytes === undefined) return wrong;
    const made = await this.#turns.run(() => algorithm.hash(bytes, salt, hash.byteLength));
    if (!isSame(made, hash) || stored === undefined) return wrong;
    return { isRight: true, needsRehash: algorithm.head !== this.#algorithm.head };
  }

  /** Undefined where it is too long; a long text is not normalized. */
  #bytesOf(password: string): Uint8Array | undefined {
    if (password.length > this.#maxBytes) return undefined;
    const bytes = losslessBytes(password.normalize("NFC"));
    return bytes.byteLength > this.#maxBytes ? undefined : bytes;
  }
}

function storedHash(stored: string): StoredHash {
  const read = readHash(stored);
  if (read === undefined) {
    throw new TypeError(
      "Password.verify: the stored text is no hash of scrypt or Argon2id, or costs more than one may",
    );
  }
  if (read.algorithm.head.startsWith("$argon2id$") && !hasArgon2())
    throw new Error(`Password.verify: the stored hash is of Argon2id, and ${noArgon2}`);
  return read;
}

/** In the same time wherever two of one length differ. */
function isSame(one: Uint8Array, other: Uint8Array): boolean {
  let differs = one.byteLength ^ other.byteLength;
  for (let i = 0; i < one.byteLength; i++) differs |= (one[i] as number) ^ (other[i] as number);
  return differs === 0;
}
