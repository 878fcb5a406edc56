/** What is used of `node:crypto`. */
export interface NodeCrypto {
  scrypt(
    password: Uint8Array,
    salt: Uint8Array,
    length: number,
    cost: { readonly N: number; readonly r: number; readonly p: number; readonly maxmem: number },
    done: HashListener,
  ): void;
  /** Only some versions of some runtimes have them. */
  argon2?(algorithm: "argon2id", parameters: Argon2Parameters, done: HashListener): void;
  argon2Sync?(algorithm: "argon2id", parameters: Argon2Parameters): Uint8Array;
}

/** Without an error it is null on Node, and undefined on Bun. */
type HashListener = (error: Error | null | undefined, hash: Uint8Array) => void;

/** Of RFC 9106 §3.1, as Node names them. */
export interface Argon2Parameters {
  readonly message: Uint8Array;
  readonly nonce: Uint8Array;
  readonly tagLength: number;
  /** In KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

/** Node's module. A Worker that hashes nothing must not import it: it has none without `nodejs_compat`. */
export function nodeCrypto(): NodeCrypto {
  const { process } = globalThis as { readonly process?: { getBuiltinModule?(name: string): unknown } };
  const found = process?.getBuiltinModule?.("node:crypto");
  if (found === undefined) throw new Error("Password needs node:crypto: on Workers set the flag nodejs_compat");
  return found as NodeCrypto;
}

/** What a function of `node:crypto` calls back with. */
export function hashOf(begin: (done: HashListener) => void): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    begin((error, hash) => {
      if (error) reject(error);
      else resolve(new Uint8Array(hash));
    });
  });
}
