/** The `Password` namespace: hashes of passwords. */
import { needs, needsCount, needsObject, needsText } from "../given.ts";
import { printHash, readHash, wrongCost } from "./password-hash.ts";
import type { PasswordCost, StoredHash } from "./password-hash.ts";
import { Turns } from "./password-turns.ts";

export type { PasswordCost } from "./password-hash.ts";

/** The options of {@link make}. */
export interface PasswordOptions {
  /** The cost of a new hash: N 2¹⁵, r 8 and p 3 unless set, one of OWASP's equal choices. It takes 32 MiB. */
  readonly cost?: PasswordCost;
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
  /** Whether the password is right, and its hash has another cost than new ones: hash it again, and store that. */
  readonly needsRehash: boolean;
}

/** Hashes passwords, made by {@link make}. */
export interface Passwords {
  /**
   * The hash of a password with a new salt, in the PHC string format: `$scrypt$ln=15,r=8,p=3$…$…`. Every runtime verifies it.
   *
   * @throws RangeError for a password that is too long; 503 `busy` where too many are hashed.
   */
  hash(password: string): Promise<string>;
  /**
   * Whether a password is that of a stored hash. Without a stored hash it takes as long, and is wrong: so the time does not tell which
   * accounts exist.
   *
   * @throws TypeError for a stored text that is no such hash, or that would cost more than one may; it is not quoted.
   */
  verify(stored: string | undefined, password: string): Promise<PasswordCheck>;
}

/**
 * Hashes passwords by the runtime's own scrypt (RFC 7914), off the event loop, and a few at once. A password is normalized by NFC
 * before, so that it is the same from every keyboard.
 *
 * @throws TypeError for a wrong option.
 * @example
 * ```ts
 * const passwords = Password.make({ atOnce: 4 });
 * const stored = await passwords.hash("correct horse battery staple");
 * const { isRight, needsRehash } = await passwords.verify(stored, "correct horse battery staple");
 * ```
 */
export function make(options: PasswordOptions = {}): Passwords {
  needsObject("Password.make: options", options);
  const { cost = { log2N: 15, r: 8, p: 3 }, atOnce = 2, maxWaiting = 100, waitMs = 5000, maxBytes = 1024 } = options;
  needsObject("Password.make: cost", cost);
  const wrong = wrongCost(cost);
  needs(wrong === undefined, "Password.make: cost", cost, String(wrong));
  for (const [name, bound] of Object.entries({ atOnce, maxWaiting, waitMs, maxBytes })) {
    needsCount(`Password.make: ${name}`, bound);
  }
  return new ScryptPasswords(cost, new Turns(atOnce, maxWaiting, waitMs), maxBytes);
}

let shared: Passwords | undefined;

/** Hashes a password as {@link make} without options does. All callers of a process share its turns. */
export function hash(password: string): Promise<string> {
  return (shared ??= make()).hash(password);
}

/** Verifies a password as {@link make} without options does. All callers of a process share its turns. */
export function verify(stored: string | undefined, password: string): Promise<PasswordCheck> {
  return (shared ??= make()).verify(stored, password);
}

const saltBytes = 16;
const hashBytes = 32;
const wrong: PasswordCheck = { isRight: false, needsRehash: false };
const utf8 = /* @__PURE__ */ new TextEncoder();

class ScryptPasswords implements Passwords {
  readonly #cost: PasswordCost;
  readonly #turns: Turns;
  readonly #maxBytes: number;
  /** Verified where there is no stored hash. */
  readonly #nobody: StoredHash;

  constructor(cost: PasswordCost, turns: Turns, maxBytes: number) {
    this.#cost = cost;
    this.#turns = turns;
    this.#maxBytes = maxBytes;
    this.#nobody = { cost, salt: new Uint8Array(saltBytes), hash: new Uint8Array(hashBytes) };
  }

  async hash(password: string): Promise<string> {
    needsText("Password.hash: its password", password);
    const bytes = this.#bytesOf(password);
    if (bytes === undefined) throw new RangeError(`Password.hash: a password has at most ${this.#maxBytes} bytes`);
    const salt = crypto.getRandomValues(new Uint8Array(saltBytes));
    const made = await this.#turns.run(() => scrypt(bytes, salt, hashBytes, this.#cost));
    return printHash({ cost: this.#cost, salt, hash: made });
  }

  async verify(stored: string | undefined, password: string): Promise<PasswordCheck> {
    needs(stored === undefined || typeof stored === "string", "Password.verify: its stored hash", stored, "a text");
    needsText("Password.verify: its password", password);
    const { cost, salt, hash } = stored === undefined ? this.#nobody : storedHash(stored);
    const bytes = this.#bytesOf(password);
    // Its length is the client's own: that it is answered sooner shows nothing.
    if (bytes === undefined) return wrong;
    const made = await this.#turns.run(() => scrypt(bytes, salt, hash.byteLength, cost));
    if (!isSame(made, hash) || stored === undefined) return wrong;
    return { isRight: true, needsRehash: !this.#isOwn(cost) };
  }

  #isOwn({ log2N, r, p }: PasswordCost): boolean {
    return log2N === this.#cost.log2N && r === this.#cost.r && p === this.#cost.p;
  }

  /** Undefined where it is too long; a long text is not normalized. */
  #bytesOf(password: string): Uint8Array | undefined {
    if (password.length > this.#maxBytes) return undefined;
    const bytes = utf8.encode(password.normalize("NFC"));
    return bytes.byteLength > this.#maxBytes ? undefined : bytes;
  }
}

function storedHash(stored: string): StoredHash {
  const read = readHash(stored);
  if (read !== undefined) return read;
  throw new TypeError("Password.verify: the stored text is no hash of scrypt, or costs more than one may");
}

/** In the same time wherever two of one length differ. */
function isSame(one: Uint8Array, other: Uint8Array): boolean {
  let differs = one.byteLength ^ other.byteLength;
  for (let i = 0; i < one.byteLength; i++) differs |= (one[i] as number) ^ (other[i] as number);
  return differs === 0;
}

/** What is used of `node:crypto`. */
interface NodeCrypto {
  scrypt(
    password: Uint8Array,
    salt: Uint8Array,
    length: number,
    cost: { readonly N: number; readonly r: number; readonly p: number; readonly maxmem: number },
    done: (error: Error | null | undefined, hash: Uint8Array) => void,
  ): void;
}

/** Node's module. A Worker that hashes nothing must not import it: it has none without `nodejs_compat`. */
function nodeCrypto(): NodeCrypto {
  const { process } = globalThis as { readonly process?: { getBuiltinModule?(name: string): unknown } };
  const found = process?.getBuiltinModule?.("node:crypto");
  if (found === undefined) throw new Error("Password needs node:crypto: on Workers set the flag nodejs_compat");
  return found as NodeCrypto;
}

async function scrypt(
  password: Uint8Array,
  salt: Uint8Array,
  length: number,
  { log2N, r, p }: PasswordCost,
): Promise<Uint8Array> {
  const crypto = nodeCrypto();
  const N = 2 ** log2N;
  // What OpenSSL counts, and room for its own.
  const maxmem = 128 * r * (N + p + 2) + 65_536;
  return new Promise((resolve, reject) => {
    crypto.scrypt(password, salt, length, { N, r, p, maxmem }, (error, hash) => {
      // Without an error it is null on Node, and undefined on Bun.
      if (error) reject(error);
      else resolve(new Uint8Array(hash));
    });
  });
}
