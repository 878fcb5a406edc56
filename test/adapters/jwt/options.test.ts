/** Hostile tokens are never a 500, and wrong options are an error at the start. */
import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Dep, Path, Refusal, Returns, Test, get, refuse } from "usher-http";
import { Jwt } from "usher-http/jwt";
import { messages } from "../../support/logs.ts";
import { asking, forged, hs256, now, options, pairOf, seconds, secret } from "./tokens.ts";

const signedOut = '{"error":"signed_out","message":"Please sign in."}';
const refused = [401, 'Bearer error="invalid_token"', signedOut] as const;
const ask = asking(Jwt.bearer(options));

describe("hostile tokens", () => {
  it("are limited in their length", async () => {
    const long = await hs256({ note: "x".repeat(6200) });
    expect(long.length).toBeGreaterThan(8192);
    expect(await ask(long)).toEqual(refused);
    expect(messages("warn")).toEqual(["GET /: signed_out: the token is longer than maxLength"]);
    expect((await asking(Jwt.bearer({ ...options, maxLength: long.length }))(long))[0]).toBe(200);
    expect((await asking(Jwt.bearer({ ...options, maxLength: long.length - 1 }))(long))[0]).toBe(401);
  });

  it("may have ten thousand claims, nested or not, if their length is allowed", async () => {
    const user = asking(Jwt.bearer({ ...options, maxLength: 1_000_000, claims: v.object({ sub: v.string() }) }));
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`c${i}`, i]));
    expect(await user(await hs256(many))).toEqual([200, null, '{"sub":"ada"}']);
    const deep = `{"iss":"https://login.example/","aud":"shop","sub":"ada","exp":${seconds + 9},"x":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
    expect((await user(forged({ alg: "HS256" }, deep)))[0]).toBe(401);
    const own = `{"iss":"https://login.example/","aud":"shop","sub":"ada","exp":${seconds + 9},"__proto__":{"admin":true}}`;
    expect(await user(forged({ alg: "HS256" }, own))).toEqual([200, null, '{"sub":"ada"}']);
  });

  it("are never a 500, whatever they contain", async () => {
    const parts = fc.oneof(fc.base64String(), fc.string(), fc.constantFrom("e30", "eyJhbGciOiJIUzI1NiJ9", ""));
    const made = fc.oneof(
      fc.array(parts, { maxLength: 6 }).map((parts) => parts.join(".").replaceAll(/[^\w.+/~-]/g, "_")),
      fc.tuple(fc.json(), fc.json()).map(([head, payload]) => forged(head, payload)),
      fc
        .tuple(
          fc.dictionary(fc.constantFrom("kid", "typ", "crit", "b64", "cty", "zip", "jwk"), fc.jsonValue()),
          fc.json(),
        )
        .map(([head, payload]) => forged({ alg: "HS256", ...head }, payload)),
    );
    await fc.assert(
      fc.asyncProperty(made, async (token) => {
        expect([400, 401]).toContain((await ask(token))[0]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("the dependencies of a bearer", () => {
  it("run once per request, for any number of uses", async () => {
    const token = await hs256({ scope: "a b" });
    const user = Jwt.bearer(options);
    const inputs = { user, again: user.optional, a: user.scope("a"), b: user.scope("b") };
    const app = Test.app([
      get(Path.root, { inputs, returns: Returns.text }, ({ user, again, a, b }) =>
        String(user === again && a === b && user === a),
      ),
    ]);
    const answer = await Test.call(app, "GET", "/", { headers: { authorization: `Bearer ${token}` }, now });
    expect(answer.body).toBe("true");
  });

  it("may be a resource with the keys, which is checked at its first use", async () => {
    const keys = Dep.ofResource<ReturnType<typeof Jwt.secrets>>("keys");
    const user = Jwt.bearer({ ...options, keys });
    const route = get(Path.root, { inputs: { user }, returns: Returns.text }, ({ user }) => user.sub ?? "");
    const app = Test.app([route], { resources: [Dep.resource(keys, Jwt.secrets([secret]))] });
    const headers = { authorization: `Bearer ${await hs256()}` };
    expect((await Test.call(app, "GET", "/", { headers, now })).body).toBe("ada");
    const other = await Jwt.publicKeys([(await pairOf("ES256")).pem]);
    const wrong = Test.app([route], { resources: [Dep.resource(keys, other)] });
    expect((await Test.call(wrong, "GET", "/", { headers, now })).status).toBe(500);
  });

  it("the codes of a bearer can be used in an application's own refusals", async () => {
    const user = Dep.join(
      { user: Jwt.bearer(options) },
      ({ user }) => (user.sub === "ada" ? refuse(Jwt.notAllowed) : user),
      {
        refuses: [Jwt.notAllowed],
      },
    );
    expect((await asking(user)(await hs256()))[0]).toBe(403);
    expect(Jwt.signedOut).not.toBeInstanceOf(Refusal);
  });
});

describe("the options of a bearer", () => {
  it.each([
    ["no algorithm", { algorithms: [] }, /algorithms is a list, and not a list of algorithms, one at least/],
    ["none", { algorithms: ["none"] }, /algorithms has none: an unsigned token proves nothing/],
    ["NONE", { algorithms: ["HS256", "NONE"] }, /algorithms has none/],
    ["an unknown algorithm", { algorithms: ["hs256"] }, /algorithms has "hs256": it is none of ES256/],
    ["no issuer", { issuer: undefined }, /issuer is undefined, and not a text/],
    ["an empty issuer", { issuer: "" }, /issuer is a string, and not a text or a list of texts, none of them empty/],
    ["no audience", { audience: [] }, /audience is a list/],
    ["a long skew", { clockSkewMs: 300_001 }, /clockSkewMs is a number, and not milliseconds, 300,000 at most/],
    ["no time", { maxAgeMs: 0 }, /maxAgeMs/],
    ["a realm with a quote", { realm: 'a"b' }, /realm is a string, and not a text of printable ASCII/],
    ["keys of another", { keys: {} }, /keys is another object, and not made by Jwt.jwks/],
    ["a shape that is none", { claims: {} }, /claims is another object, and not a schema/],
  ])("are refused at the start with %s", (_what, more, message) => {
    expect(() => Jwt.bearer({ ...options, ...more } as typeof options)).toThrow(message);
  });

  it.each([
    ["a short secret", () => Jwt.secrets([secret, "s3cret".repeat(5)]), /secrets\[1\] is shorter than 32 bytes$/],
    ["no secret", () => Jwt.secrets([]), /a list of texts or bytes, one at least/],
    [
      "a secret too short for the algorithm",
      () => Jwt.bearer({ ...options, algorithms: ["HS512"] }),
      /secrets\[0\] is shorter than the 64 bytes that HS512 needs$/,
    ],
    ["a scope with a space", () => Jwt.bearer(options).scope("a b"), /not a scope of RFC 6749/],
    ["http elsewhere", () => Jwt.jwks("http://login.example/jwks"), /url must be https:/],
    ["no URL", () => Jwt.jwks("login.example"), /url is no URL/],
    [
      "a part of a millisecond",
      () => Jwt.jwks("https://login.example", { timeoutMs: 1500.5 }),
      /timeoutMs is a number/,
    ],
    [
      "a time past all timers",
      () => Jwt.jwks("https://login.example", { timeoutMs: 2 ** 31 }),
      /timeoutMs is a number/,
    ],
  ])("are refused at the start with %s", (_what, make, message) => {
    expect(make).toThrow(message);
    expect(() => make()).not.toThrow(/s3cret/);
  });

  it("are refused at the start with keys that are private, weak, or missing", async () => {
    const { privateKey, jwk } = await pairOf("ES256");
    const weak = { kty: "RSA", e: "AQAB", n: "a".repeat(171) };
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
    const weakPem = publicKey.export({ type: "pkcs1", format: "pem" });
    const wrong: readonly (readonly [text: string, message: RegExp])[] = [
      ["-----BEGIN PRIVATE KEY-----\nMII", /texts\[0\] is a private key: give its public key$/],
      ["-----BEGIN EC PRIVATE KEY-----\nMII", /is a private key/],
      ["-----BEGIN PUBLIC KEY-----\nMII", /is neither a PEM public key or certificate, nor a JSON Web Key/],
      ["-----BEGIN RSA PUBLIC KEY-----\nMII=\n-----END RSA PUBLIC KEY-----", /is neither a PEM public key/],
      ["-----BEGIN RSA PUBLIC KEY-----\nMI=I\n-----END RSA PUBLIC KEY-----", /is neither a PEM public key/],
      ["-----BEGIN RSA PUBLIC KEY-----\n", /is neither a PEM public key/],
      [weakPem, /has an RSA key of fewer than 2048 bits/],
      [JSON.stringify({ ...jwk, d: "AA" }), /has a private key/],
      [JSON.stringify({ kty: "oct", k: "AA" }), /has a secret: give it to Jwt.secrets$/],
      [JSON.stringify({ keys: [jwk, weak] }), /has an RSA key of fewer than 2048 bits/],
      ["{}", /is neither/],
      ["[", /is neither/],
    ];
    for (const [text, message] of wrong) await expect(Jwt.publicKeys([text])).rejects.toThrow(message);
    expect(privateKey.type).toBe("private");
    const keys = await Jwt.publicKeys([JSON.stringify(jwk)]);
    expect(() => Jwt.bearer({ ...options, keys, algorithms: ["RS256"] })).toThrow(
      /RS256, and none of the keys is for it/,
    );
  });
});
