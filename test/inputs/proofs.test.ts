/** `Authorization`: bearer and basic (contract 5.2; RFC 6750, RFC 7617), and comparing secrets. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Codec, Dep, Header, Path, Refusal, Returns, Test, get, isSameSecret, refuse } from "usher-http";
import "../support/logs.ts";
import { codePoint } from "../support/code-point.ts";

const signedOut = Refusal.code("signed_out", {
  status: 401,
  doc: "Nobody.",
  challenge: 'Basic realm="t", charset="UTF-8"',
});
const credentials = Header.optional("authorization", Codec.credentials);
const told = (read: (credentials: Codec.Credentials | undefined) => unknown) => {
  const who = Dep.credential(
    "basic",
    Dep.join({ credentials }, ({ credentials }) => JSON.stringify(read(credentials)) ?? refuse(signedOut), {
      refuses: [signedOut],
    }),
  );
  return get(Path.root, { inputs: { who }, returns: Returns.text }, ({ who }) => who);
};

async function ask(read: Parameters<typeof told>[0], authorization?: string) {
  const headers = authorization === undefined ? {} : { authorization };
  const answered = await Test.call(Test.app([told(read)]), "GET", "/", { headers });
  return answered.status === 200 ? answered.json() : answered.status;
}

const base64 = (text: string | Uint8Array): string => Buffer.from(text).toString("base64");

describe("a bearer token", () => {
  it.each([
    ["Bearer abc.def-~+/==", "abc.def-~+/=="],
    ["bearer abc", "abc"],
    ["BEARER  abc", "abc"],
    [undefined, 401],
    ["Bearer", 401],
    ["Bearer a=b", 401],
    [`Basic ${base64("a:b")}`, 401],
    ["Bearer a b", 400],
  ])("of %j is %j", async (authorization, expected) => {
    expect(await ask(Codec.bearerToken, authorization)).toBe(expected);
  });
});

describe("a basic login", () => {
  it.each([
    [`Basic ${base64("ann:open sesame")}`, { user: "ann", password: "open sesame" }],
    [`basic ${base64("ann:a:b:")}`, { user: "ann", password: "a:b:" }],
    [`Basic ${base64(":")}`, { user: "", password: "" }],
    [`Basic ${base64("Jürgen:€")}`, { user: "Jürgen", password: "€" }],
    ["Basic YTpi", { user: "a", password: "b" }],
    ["Basic YTo=", { user: "a", password: "" }],
    ["Basic YTo", { user: "a", password: "" }],
    [undefined, 401],
    ["Basic", 401],
    ["Bearer YTpi", 401],
    [`Basic ${base64("nothing between")}`, 401],
    [`Basic ${base64(Uint8Array.of(0x61, 0x3a, 0xff))}`, 401],
    [`Basic ${base64("a:b\r\nc")}`, 401],
    ["Basic YTpi~", 401],
    ["Basic YTpib", 401],
    ["Basic a=b", 401],
  ])("of %j is %j", async (authorization, expected) => {
    expect(await ask(Codec.basicLogin, authorization)).toEqual(expected);
  });

  it("may be any name without a colon, and any password", async () => {
    const text = fc.string({ unit: codePoint }).filter((text) => text.isWellFormed() && !/\p{Cc}/u.test(text));
    const user = text.filter((text) => !text.includes(":"));
    await fc.assert(
      fc.asyncProperty(user, text, async (user, password) => {
        const given = `Basic ${base64(`${user}:${password}`)}`;
        expect(await ask(Codec.basicLogin, given)).toEqual({ user, password });
      }),
      { numRuns: 100 },
    );
  });
});

describe("comparing a secret", () => {
  it("is true for the same text, and false for every other text", () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), fc.string({ unit: codePoint }), (a, b) => {
        expect(isSameSecret(a, b)).toBe(a === b);
        expect(isSameSecret(a, a)).toBe(true);
        expect(isSameSecret(a + b, a)).toBe(b === "");
        expect(isSameSecret(a, a + b)).toBe(b === "");
      }),
    );
    for (const [given, secret] of [
      ["", "a"],
      ["a", ""],
      ["aa", "a"],
      ["abab", "ab"],
      ["\u0000", ""],
      // One character differs, at each position.
      ["xbc", "abc"],
      ["axc", "abc"],
      ["abx", "abc"],
    ] as const) {
      expect(isSameSecret(given, secret)).toBe(false);
    }
    expect(isSameSecret("", "")).toBe(true);
  });
});
