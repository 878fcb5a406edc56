/** The program that each runtime runs: makes a hash, and verifies that of another runtime. */
import { Password } from "../../src/index.ts";
import type { PasswordCheck } from "../../src/index.ts";

const scrypt = Password.make({ cost: { log2N: 10, r: 8, p: 3 } });
const cost = { memoryKiB: 256, passes: 2, parallelism: 1 };

/** What one runtime found and made. */
export interface PasswordReport {
  readonly right: boolean;
  readonly wrong: boolean;
  readonly made: string;
  /** What Argon2id did, or the sentences about its lack. */
  readonly argon2: Argon2Report | { readonly make: string; readonly verify: string };
}

/** What a runtime with Argon2id did. */
export interface Argon2Report {
  readonly made: string;
  readonly byDefault: string;
  readonly checks: readonly (string | { readonly right: PasswordCheck; readonly wrong: PasswordCheck })[];
  /** Whether a hash of the other algorithm has to be made again. */
  readonly rehash: readonly boolean[];
  /** Whether the event loop turned while it hashed. */
  readonly turned: boolean;
}

/** A stored hash and its password. */
export type Known = readonly [password: string, stored: string];

/** What of `stored` is right here, and a hash made here; and what Argon2id does with `known`. */
export async function report(stored: string, known: readonly Known[]): Promise<PasswordReport> {
  const [right, wrong] = [await scrypt.verify(stored, "Bj\u00f6rn\0"), await scrypt.verify(stored, "Bjorn")];
  const made = await scrypt.hash("Bj\u00f6rn\0");
  return { right: right.isRight, wrong: wrong.isRight, made, argon2: await argon2(made, known) };
}

async function argon2(ofScrypt: string, known: readonly Known[]): Promise<PasswordReport["argon2"]> {
  let passwords;
  try {
    passwords = Password.make({ algorithm: "argon2id", cost });
  } catch (error) {
    return { make: String(error), verify: await sentence(() => scrypt.verify(known[0]?.[1], "")) };
  }
  const checks = [];
  for (const [password, hash] of known) {
    const check = async () => ({
      right: await passwords.verify(hash, password),
      wrong: await passwords.verify(hash, `${password} `),
    });
    checks.push(await check().catch(String));
  }
  let turned = false;
  setTimeout(() => {
    turned = true;
  }, 1);
  const byDefault = await Password.make({ algorithm: "argon2id" }).hash("Bj\u00f6rn\0");
  const own = await passwords.hash("Bj\u00f6rn\0");
  const rehash = [await passwords.verify(ofScrypt, "Bj\u00f6rn\0"), await scrypt.verify(own, "Bj\u00f6rn\0")];
  return { made: own, byDefault, checks, rehash: rehash.map((one) => one.isRight && one.needsRehash), turned };
}

async function sentence(run: () => Promise<unknown>): Promise<string> {
  return run().then(() => "no error", String);
}
