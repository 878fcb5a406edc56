/** Password hashes by scrypt, and invalid Argon2id options; the hashes of Argon2id are in password-runtimes.test.ts. */
import { scryptSync } from "node:crypto";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Deadline, Password, Path, Returns, Test, deadline, post } from "usher-http";
import { gate } from "../support/gate.ts";
import { messages } from "../support/logs.ts";

/** The lowest cost: these tests are not about scrypt itself. */
const cost = { log2N: 4, r: 1, p: 1 };
const cheap = Password.make({ cost });
const phc = (ln: number, r: number, p: number, salt: string, hash: Buffer): string => {
  const text = (bytes: Buffer) => bytes.toString("base64").replaceAll("=", "");
  return `$scrypt$ln=${ln},r=${r},p=${p}$${text(Buffer.from(salt))}$${text(hash)}`;
};
const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ""), "hex");

/** Holds the first hash of a test until it is released. */
function holdFirstHash() {
  const node = process.getBuiltinModule("node:crypto");
  const { scrypt } = node;
  let go = (): void => {};
  const hashing = vi.spyOn(node, "scrypt").mockImplementationOnce((...given: Parameters<typeof scrypt>) => {
    go = () => scrypt(...given);
  });
  onTestFinished(() => hashing.mockRestore());
  return { hashing, release: () => go() };
}

describe("a stored hash of another program", () => {
  it.each<[string, string, string]>([
    [
      "RFC 7914 §12, the first",
      "",
      phc(
        4,
        1,
        1,
        "",
        hex(`77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442
             fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906`),
      ),
    ],
    [
      "RFC 7914 §12, the second",
      "password",
      phc(
        10,
        8,
        16,
        "NaCl",
        hex(`fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162
             2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640`),
      ),
    ],
    [
      "RFC 7914 §12, the third",
      "pleaseletmein",
      phc(
        14,
        8,
        1,
        "SodiumChloride",
        hex(`7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2
             d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887`),
      ),
    ],
    [
      "passlib's, of ln 8",
      "password",
      "$scrypt$ln=8,r=8,p=1$WKs1xljLudd6z9kbY0wpJQ$yCR4iDZYDKv+iEJj6yHY0lv/epnfB6f/w1EbXrsJOuQ",
    ],
    [
      "passlib's, of ln 16",
      "password",
      "$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E",
    ],
  ])("is verified: %s", async (_what, password, stored) => {
    const own = stored.startsWith("$scrypt$ln=4,r=1,p=1$");
    expect(await cheap.verify(stored, password)).toEqual({ isRight: true, needsRehash: !own });
    expect(await cheap.verify(stored, `${password} `)).toEqual({ isRight: false, needsRehash: false });
  });
});

describe("a password hash", () => {
  it("is scrypt's, with a salt of its own", async () => {
    const [one, other] = [await cheap.hash("secret"), await cheap.hash("secret")];
    expect(one).toMatch(/^\$scrypt\$ln=4,r=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(one).not.toBe(other);
    const [, , , salt = "", hash] = one.split("$");
    const expected = scryptSync("secret", Buffer.from(salt, "base64"), 32, { N: 16, r: 1, p: 1 });
    expect(hash).toBe(expected.toString("base64").replaceAll("=", ""));
  });

  it("has OWASP's cost, and `verify` accepts it", async () => {
    const stored = await Password.hash("secret");
    expect(stored).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$/);
    expect(await Password.verify(stored, "secret")).toEqual({ isRight: true, needsRehash: false });
    expect(await cheap.verify(stored, "secret")).toEqual({ isRight: true, needsRehash: true });
  });

  it.each([
    ["nothing", ""],
    ["NUL", "a\0b"],
    ["any character", "pässword \u{1f600}"],
    ["1,024 bytes", "k".repeat(1024)],
  ])("is refused for %s", async (_what, password) => {
    const stored = await cheap.hash(password);
    expect((await cheap.verify(stored, password)).isRight).toBe(true);
    expect((await cheap.verify(stored, password.slice(0, -1) + (password === "" ? "x" : ""))).isRight).toBe(false);
  });

  it("is the same from every keyboard: the password is normalized to NFC", async () => {
    expect((await cheap.verify(await cheap.hash("Bj\u00f6rn"), "Bjo\u0308rn")).isRight).toBe(true);
  });

  it.each([1025, 1_048_576])("refuses a password of %i bytes", async (bytes) => {
    const long = "k".repeat(bytes);
    await expect(cheap.hash(long)).rejects.toThrow("at most 1024 bytes");
    expect(await cheap.verify(undefined, long)).toEqual({ isRight: false, needsRehash: false });
  });
});

it("a password hash tells texts with lone surrogates apart", async () => {
  const stored = await cheap.hash("\ud800 and more");
  const checks = ["\ud800 and more", "\ud801 and more", "\ufffd and more"].map((text) => cheap.verify(stored, text));
  expect((await Promise.all(checks)).map(({ isRight }) => isRight)).toEqual([true, false, false]);
});

describe("a stored hash", () => {
  const [salt, hash] = ["A".repeat(22), "A".repeat(43)];
  it.each([
    ["", "nothing"],
    ["secret", "a password"],
    [`$argon2i$v=19$m=19456,t=2,p=1$${salt}$${hash}`, "another algorithm"],
    [`$argon2id$v=16$m=19456,t=2,p=1$${salt}$${hash}`, "the version before"],
    [`$argon2id$m=19456,t=2,p=1$${salt}$${hash}`, "no version"],
    [`$argon2id$v=19$m=19456,t=2,p=1,keyid=AAAA$${salt}$${hash}`, "a key that is elsewhere"],
    [`$argon2id$v=19$m=19456,t=2,p=1$AAAA$${hash}`, "a salt of three bytes"],
    [`$argon2id$v=19$m=262145,t=1,p=1$${salt}$${hash}`, "more than 256 MiB"],
    [`$argon2id$v=19$m=9999999,t=1,p=1$${salt}$${hash}`, "9.5 GiB"],
    [`$argon2id$v=19$m=262144,t=5,p=1$${salt}$${hash}`, "five passes of 256 MiB"],
    [`$argon2id$v=19$m=8,t=9999999,p=1$${salt}$${hash}`, "minutes of passes"],
    [`$argon2id$v=19$m=19456,t=2,p=65$${salt}$${hash}`, "65 threads"],
    [`$argon2id$v=19$m=15,t=2,p=2$${salt}$${hash}`, "lanes without memory"],
    [`$argon2id$v=19$t=2,m=19456,p=1$${salt}$${hash}`, "another order"],
    [`$scrypt$ln=24,r=8,p=1$${salt}$${hash}`, "2 GiB of memory"],
    [`$scrypt$ln=99,r=8,p=1$${salt}$${hash}`, "no memory of this world"],
    [`$scrypt$ln=15,r=8,p=9999999$${salt}$${hash}`, "days of work"],
    [`$scrypt$ln=4,r=9999999,p=1$${salt}$${hash}`, "blocks too large"],
    [`$scrypt$ln=4,r=1,p=0$${salt}$${hash}`, "no work"],
    [`$scrypt$ln=4,r=1,p=1$${salt}$AAAA`, "a hash of three bytes"],
    [`$scrypt$ln=4,r=1,p=1$${salt}$`, "no hash"],
    [`$scrypt$ln=4,r=1,p=1$${salt}$${"A".repeat(42)}B`, "bits that are not used"],
    [`$scrypt$ln=4,r=1,p=1$${"A".repeat(100_000)}$${hash}`, "a long salt"],
    [`$scrypt$ln=4,r=1,p=1$${salt}$${hash}\n`, "a line break"],
  ])("that is malformed is refused, and not quoted: %#", async (stored) => {
    await expect(cheap.verify(stored, "secret")).rejects.toThrow(
      "Password.verify: the stored text is no hash of scrypt or Argon2id, or costs more than one may",
    );
  });

  it("that is undefined, for an account that does not exist, is false after the time of a hash", async () => {
    const one = Password.make({ cost, atOnce: 1, maxWaiting: 1 });
    const all = await Promise.allSettled([1, 2, 3].map(() => one.verify(undefined, "")));
    expect(all.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(all[0]).toMatchObject({ value: { isRight: false, needsRehash: false } });
  });
});

describe("concurrent password hashes", () => {
  it("wait in a queue, and one more is a 503", async () => {
    const passwords = Password.make({ cost, atOnce: 2, maxWaiting: 3 });
    const route = post(Path.root, { returns: Returns.text }, async () => passwords.hash("secret"));
    const app = Test.app([route]);
    const answers = await Promise.all(Array.from({ length: 8 }, () => Test.call(app, "POST", "/")));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 200, 200, 200, 200, 503, 503, 503,
    ]);
    expect((await Test.call(app, "POST", "/")).status).toBe(200);
  });

  it("wait no longer than their limit", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const passwords = Password.make({ cost, atOnce: 1, waitMs: 1 });
    const all = Promise.allSettled([1, 2].map(() => passwords.verify(undefined, "")));
    vi.advanceTimersByTime(1);
    expect((await all).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(await passwords.verify(undefined, "")).toMatchObject({ isRight: false });
  });

  it("leave the queue at the deadline of their request", async () => {
    const { hashing, release } = holdFirstHash();
    const passwords = Password.make({ cost, atOnce: 1, maxWaiting: 1, waitMs: 600_000 });
    const route = post(Path.root, { returns: Returns.text }, async () => passwords.hash("secret"));
    const first = passwords.hash("secret");
    const answer = await Test.call(Test.app([route], { deadline: Deadline.make(30) }), "POST", "/");
    expect([answer.status, answer.json()]).toMatchObject([503, { error: "timed_out" }]);
    const third = passwords.hash("secret");
    release();
    await Promise.all([first, third]);
    expect(hashing).toHaveBeenCalledTimes(2);
    expect(messages("error")).toEqual([]);
  });

  it("do not enter the queue when the deadline of their request has passed", async () => {
    const { hashing, release } = holdFirstHash();
    const passwords = Password.make({ cost, atOnce: 1, maxWaiting: 1, waitMs: 2000 });
    const late = gate<Promise<string>>();
    const route = post(Path.root, { inputs: { deadline }, returns: Returns.text }, async ({ deadline }) => {
      await new Promise((resolve) => deadline.addEventListener("abort", resolve));
      const hashed = passwords.hash("secret");
      late.open(hashed);
      return hashed;
    });
    const ended = late.passed.catch((thrown: unknown) => String(thrown));
    const first = passwords.hash("secret");
    const answer = await Test.call(Test.app([route], { deadline: Deadline.make(30) }), "POST", "/");
    expect([answer.status, answer.json()]).toMatchObject([503, { error: "timed_out" }]);
    expect(await ended).toBe("TimeoutError: The deadline of the request has passed.");
    const third = passwords.hash("secret");
    release();
    await Promise.all([first, third]);
    expect(hashing).toHaveBeenCalledTimes(2);
  });

  it("leave no timer that keeps the process alive", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const passwords = Password.make({ cost, atOnce: 1, waitMs: 60_000 });
    await Promise.all([1, 2, 3].map(() => passwords.hash("secret")));
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("a wrong cost of a password hash", () => {
  it.each([
    { log2N: 22, r: 8, p: 1 },
    { log2N: 15, r: 8, p: 100 },
    { log2N: 1, r: 1, p: 4_194_304 },
    { log2N: 1, r: 1_048_576, p: 4 },
    { log2N: 1, r: 1, p: 524_289 },
    { log2N: 0, r: 8, p: 1 },
    { log2N: 15, r: 8.5, p: 1 },
    { memoryKiB: 19_456, passes: 2, parallelism: 1 },
  ])("of scrypt is refused: %j", (given) => {
    expect(() => Password.make({ cost: given as typeof cost })).toThrow("Password.make: cost");
  });

  it.each([
    { log2N: 18, r: 8, p: 4 },
    { log2N: 16, r: 32, p: 4 },
    { log2N: 1, r: 1, p: 1 },
  ])("of scrypt is taken at the bound: %j", (given) => {
    expect(() => Password.make({ cost: given })).not.toThrow();
  });

  it.each([
    [{ memoryKiB: 7, passes: 2, parallelism: 1 }, "a memoryKiB of at least 8 for each lane"],
    [{ memoryKiB: 511, passes: 2, parallelism: 64 }, "a memoryKiB of at least 8 for each lane"],
    [{ memoryKiB: 262_145, passes: 1, parallelism: 1 }, "at most 256 MiB of memory"],
    [{ memoryKiB: 262_144, passes: 5, parallelism: 1 }, "at most 1 GiB in all passes"],
    [{ memoryKiB: 512, passes: 2048, parallelism: 64 }, "at most 1 GiB in all passes, 64 KiB or more for each lane"],
    [{ memoryKiB: 8192, passes: 1, parallelism: 65 }, "a parallelism of at most 64"],
    [{ memoryKiB: 8192, passes: 0.5, parallelism: 1 }, "memoryKiB, passes and parallelism: whole numbers, 1 or more"],
    [{ memoryKiB: Number.NaN, passes: 1, parallelism: 1 }, "whole numbers"],
    [{ log2N: 15, r: 8, p: 3 }, "memoryKiB, passes and parallelism: whole numbers, 1 or more"],
  ])("of Argon2id is refused: %j", (given, why) => {
    const options = {
      algorithm: "argon2id",
      cost: given as { memoryKiB: number; passes: number; parallelism: number },
    } as const;
    expect(() => Password.make(options)).toThrow("Password.make: cost");
    expect(() => Password.make(options)).toThrow(why);
  });
});

it("a time to wait that no timer has is refused", () => {
  expect(() => Password.make({ cost, waitMs: 2 ** 31 - 1 })).not.toThrow();
  expect(() => Password.make({ cost, waitMs: 2 ** 31 })).toThrow(
    "Password.make: waitMs is a number, and not milliseconds, less than 2³¹",
  );
});

it("another algorithm is refused with its name", () => {
  expect(() => Password.make({ algorithm: "bcrypt" as "scrypt" })).toThrow(
    'Password.make: algorithm is "bcrypt", and not "scrypt" or "argon2id"',
  );
});

it("a Node whose OpenSSL has no Argon2id says so where it is called: it is called once", async () => {
  const node = process.getBuiltinModule("node:crypto");
  const own = Object.getOwnPropertyDescriptor(node, "argon2Sync");
  const argon2Sync = vi.fn(() => {
    throw new Error("error:030000EA:digital envelope routines::Argon2 is not supported");
  });
  Object.defineProperty(node, "argon2Sync", { value: argon2Sync, configurable: true, writable: true });
  onTestFinished(() => {
    if (own === undefined) Reflect.deleteProperty(node, "argon2Sync");
    else Object.defineProperty(node, "argon2Sync", own);
  });
  // A module of its own: another test may have asked already.
  const ofThisTest = "../../src/security/argon2.ts?of-this-test";
  const { hasArgon2 } = (await import(ofThisTest)) as { readonly hasArgon2: () => boolean };
  expect([hasArgon2(), hasArgon2()]).toEqual([false, false]);
  expect(argon2Sync).toHaveBeenCalledTimes(1);
});
