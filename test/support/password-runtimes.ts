/** The program that each runtime runs: makes a hash, and verifies that of another runtime. */
import { Password } from "../../src/index.ts";

const passwords = Password.make({ cost: { log2N: 10, r: 8, p: 3 } });

/** What of `stored` is right here, and a hash made here. */
export async function report(stored: string): Promise<string> {
  const [right, wrong] = [await passwords.verify(stored, "Bj\u00f6rn\0"), await passwords.verify(stored, "Bjorn")];
  return `${right.isRight} ${wrong.isRight} ${await passwords.hash("Bj\u00f6rn\0")}`;
}
