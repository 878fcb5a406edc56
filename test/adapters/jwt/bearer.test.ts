/** The tokens that `Jwt.bearer` accepts: the rules of RFC 6750, 7519, 8725 and 9068, a row each. */
import { generateKeyPairSync } from "node:crypto";
import { SignJWT } from "jose";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { Openapi, Path, Returns, Test, get } from "usher-http";
import { Jwt } from "usher-http/jwt";
import { lines, logWith, logged, messages } from "../../support/logs.ts";
import { asking, bytesOf, claims, forged, hs256, now, options, pairOf, seconds, secret, signed } from "./tokens.ts";

const signedOut = '{"error":"signed_out","message":"Please sign in."}';
const refused = [401, 'Bearer error="invalid_token"', signedOut] as const;
const ask = asking(Jwt.bearer(options));

/** The reason of a refusal, as it is logged. */
const reasons = (): readonly unknown[] => messages("warn").filter((line) => String(line).includes("signed_out"));
const because = (reason: string) => [`GET /: signed_out: ${reason}`];

describe("a valid token", () => {
  it("gives its claims", async () => {
    expect(await ask(await hs256())).toEqual([200, null, JSON.stringify(claims)]);
  });

  it("gives them as its shape reads them", async () => {
    const user = Jwt.bearer({
      ...options,
      claims: v.pipe(
        v.object({ sub: v.string() }),
        v.transform(({ sub }) => sub),
      ),
    });
    expect(await asking(user)(await hs256())).toEqual([200, null, '"ada"']);
  });

  it.each([
    ["expired less long ago than the skew", { exp: seconds - 4 }],
    ["is valid in less time than the skew", { nbf: seconds + 5 }],
    ["is for several services", { aud: ["till", "shop"] }],
    ["expires in a fraction of a second", { exp: seconds + 0.5 }],
    ["has ids of any length", { sub: "a".repeat(1000), jti: "" }],
  ])("may be one that %s", async (_what, more) => {
    expect((await ask(await hs256(more)))[0]).toBe(200);
  });

  it.each(["bearer", "BEARER", "bEaReR"])("may have the scheme %s", async (scheme) => {
    const user = Jwt.bearer(options);
    const app = Test.app([get(Path.root, { inputs: { user }, returns: Returns.text }, ({ user }) => user.sub ?? "")]);
    const headers = { authorization: `${scheme}   ${await hs256()}` };
    expect((await Test.call(app, "GET", "/", { headers, now })).body).toBe("ada");
  });

  it.each([
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
    "Ed25519",
    "PS256",
    "PS384",
    "PS512",
    "RS256",
    "RS384",
    "RS512",
  ] as const)("may be signed by %s, with the key as PEM and as JWK", async (alg) => {
    const { pem, jwk, privateKey } = await pairOf(alg);
    const token = await signed(privateKey, { alg });
    for (const text of [pem, JSON.stringify(jwk), JSON.stringify({ keys: [jwk] })]) {
      const keys = await Jwt.publicKeys([text]);
      expect((await asking(Jwt.bearer({ ...options, keys, algorithms: [alg] }))(token))[0]).toBe(200);
    }
  });
});

describe("the keys of the option", () => {
  it("may be PKCS #1, which begins with RSA PUBLIC KEY", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const pem = publicKey.export({ type: "pkcs1", format: "pem" });
    const token = await new SignJWT(claims).setProtectedHeader({ alg: "RS256" }).sign(privateKey);
    for (const text of [pem, pem.replaceAll("\n", "\r\n"), `# the key\n${pem}`]) {
      const keys = await Jwt.publicKeys([text]);
      expect((await asking(Jwt.bearer({ ...options, keys, algorithms: ["RS256"] }))(token))[0]).toBe(200);
    }
  });

  it.each([
    ["HS384", 48],
    ["HS512", 64],
  ] as const)("may be secrets of %s", async (alg, size) => {
    const key = bytesOf("k".repeat(size));
    const user = Jwt.bearer({ ...options, keys: Jwt.secrets([key]), algorithms: [alg] });
    expect((await asking(user)(await signed(key, { alg })))[0]).toBe(200);
  });

  it("may have a kid or none, and so may the token", async () => {
    const [named, other, nameless] = await Promise.all([pairOf("ES256", "a"), pairOf("ES256", "b"), pairOf("ES256")]);
    const keys = await Jwt.publicKeys([JSON.stringify(named.jwk), JSON.stringify(other.jwk), nameless.pem]);
    const user = asking(Jwt.bearer({ ...options, keys, algorithms: ["ES256"] }));
    const statusOf = async ({ privateKey }: typeof named, kid?: string) =>
      (await user(await signed(privateKey, kid === undefined ? { alg: "ES256" } : { alg: "ES256", kid })))[0];
    for (const kid of ["a", undefined]) expect(await statusOf(named, kid)).toBe(200);
    for (const kid of ["c", undefined]) expect(await statusOf(nameless, kid)).toBe(200);
    expect(await statusOf(named, "b")).toBe(401);
    expect(await statusOf(nameless, "b")).toBe(401);
  });

  it("may be many, each of which may have signed a token that names none", async () => {
    const pairs = await Promise.all(Array.from({ length: 6 }, () => pairOf("ES256")));
    const keys = await Jwt.publicKeys(pairs.map(({ pem }) => pem));
    const user = asking(Jwt.bearer({ ...options, keys, algorithms: ["ES256"] }));
    const statuses = pairs.map(async ({ privateKey }) => (await user(await signed(privateKey, { alg: "ES256" })))[0]);
    expect(await Promise.all(statuses)).toEqual(pairs.map(() => 200));
  });

  it("may be several secrets, each of which may have signed the token", async () => {
    const newer = "a newer secret of thirty-two bytes";
    const user = asking(Jwt.bearer({ ...options, keys: Jwt.secrets([newer, secret]) }));
    for (const key of [newer, secret, newer]) expect((await user(forged({ alg: "HS256" }, claims, key)))[0]).toBe(200);
    expect((await user(forged({ alg: "HS256" }, claims, "another")))[0]).toBe(401);
  });
});

describe("an invalid token", () => {
  const without = (name: string): object => ({ ...claims, [name]: undefined });
  it.each([
    ["has expired", { exp: seconds - 5 }, "it has expired"],
    ["expired before 1970", { exp: -1 }, "it has expired"],
    ["expires at a time in words", { exp: "2027-01-01" }, "its claim exp is of another type"],
    ["is not valid yet", { nbf: seconds + 6 }, "it is not valid yet"],
    ["is valid from a time in words", { nbf: "now" }, "its claim nbf is of another type"],
    ["was issued at no number", { iat: {} }, "its claim iat is of another type"],
    ["is of another issuer", { iss: "https://login.example" }, "its iss is another"],
    ["is of an issuer in other letters", { iss: "https://LOGIN.example/" }, "its iss is another"],
    ["is of several issuers", { iss: ["https://login.example/"] }, "its iss is another"],
    ["is for another service", { aud: "till" }, "its aud is another"],
    ["is for nobody", { aud: [] }, "its aud is another"],
    ["is for a service by a longer name", { aud: "shop2" }, "its aud is another"],
    ["is for what is no text", { aud: ["shop", 1] }, "its claim aud is of another type"],
    ["is about a number", { sub: 1 }, "its claim sub is of another type"],
    ["has an id that is null", { jti: null }, "its claim jti is of another type"],
  ])("is refused if it %s", async (_what, more, reason) => {
    expect(await ask(await hs256(more))).toEqual(refused);
    expect(reasons()).toEqual(because(reason));
  });

  it.each(["iss", "aud", "exp"])("is refused without %s", async (name) => {
    expect(await ask(forged({ alg: "HS256" }, without(name)))).toEqual(refused);
    expect(reasons()).toEqual(because(`it has no ${name}`));
  });

  it.each([
    ["an exp without an end", '"exp":1e999', "its claim exp is of another type"],
    ["an exp of -0 and more", '"exp":-0.0', "it has expired"],
    ["an nbf without a beginning", `"exp":${seconds + 9},"nbf":-1e999`, "its claim nbf is of another type"],
    ["an exp that is null", '"exp":null', "its claim exp is of another type"],
    ["two exp, the last of them past", `"exp":${seconds + 9},"exp":1`, "it has expired"],
  ])("is refused with %s", async (_what, member, reason) => {
    expect(await ask(forged({ alg: "HS256" }, `{"iss":"https://login.example/","aud":"shop",${member}}`))).toEqual(
      refused,
    );
    expect(reasons()).toEqual(because(reason));
  });

  it.each([
    ["a list", "[]"],
    ["a text", '"claims"'],
    ["null", "null"],
    ["no JSON", "{"],
    ["nothing", ""],
    ["not UTF-8", Buffer.from([0x7b, 0xff, 0x7d]).toString("latin1")],
  ])("is refused if its payload is %s", async (_what, payload) => {
    expect(await ask(forged({ alg: "HS256" }, payload))).toEqual(refused);
    expect(reasons()).toEqual(because("it is no JWT"));
  });

  it("is refused if its claims do not fit the shape", async () => {
    const user = asking(Jwt.bearer({ ...options, claims: v.object({ sub: v.string(), shop: v.number() }) }));
    expect(await user(await hs256({ shop: "s3cr3t-value" }))).toEqual(refused);
    expect(await user(await hs256())).toEqual(refused);
    expect(reasons()).toHaveLength(2);
    expect(logged().join("\n")).not.toContain("s3cr3t-value");
  });

  it("is refused if it is older than maxAgeMs, or has no iat", async () => {
    const user = asking(Jwt.bearer({ ...options, maxAgeMs: 60_000, clockSkewMs: 0 }));
    expect((await user(await hs256({ iat: seconds - 60 })))[0]).toBe(200);
    expect(await user(await hs256({ iat: seconds - 61 }))).toEqual(refused);
    expect(await user(await hs256({ iat: seconds + 1 }))).toEqual(refused);
    expect(await user(await hs256())).toEqual(refused);
    const reason = ["it is older than maxAgeMs", "its iat is another", "it has no iat"];
    expect(reasons()).toEqual(reason.flatMap(because));
  });
});

describe("RFC 8725", () => {
  const none = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.`;

  it.each([
    [
      "§3.1: an algorithm that is not named",
      () => forged({ alg: "HS512" }, claims),
      "its alg is none of the algorithms",
    ],
    ["§3.2: none", () => none, "its alg is none of the algorithms"],
    ["§3.2: None", () => forged({ alg: "None" }, claims), "its alg is none of the algorithms"],
    ["§3.2: no algorithm", () => forged({}, claims), "its alg is none of the algorithms"],
    ["§3.2: a list of algorithms", () => forged({ alg: ["HS256"] }, claims), "its alg is none of the algorithms"],
    ["§3.2: constructor", () => forged({ alg: "constructor" }, claims), "its alg is none of the algorithms"],
    ["§3.3: another's signature", () => forged({ alg: "HS256" }, claims, "x".repeat(32)), "none of the keys signed it"],
    ["§3.3: a signature cut short", async () => (await hs256()).slice(0, -4), "none of the keys signed it"],
    ["§3.3: no signature", async () => (await hs256()).replace(/[^.]+$/, ""), "none of the keys signed it"],
    ["§3.9: no service", () => hs256({ aud: undefined }), "it has no aud"],
    ["§3.10: a kid that is no text", () => forged({ alg: "HS256", kid: { $ne: 1 } }, claims), "its kid is no text"],
    [
      "RFC 7515 §4.1.11: what it holds critical",
      () => forged({ alg: "HS256", crit: ["exp"], exp: 1 }, claims),
      "its head requires what is not supported",
    ],
    [
      "RFC 7797: a payload that is not encoded",
      () => forged({ alg: "HS256", crit: ["b64"], b64: false }, claims),
      "it is no JWT",
    ],
    ["RFC 7516: an encrypted one", () => "e30.a.b.c.d", "its alg is none of the algorithms"],
    ["RFC 7515 §3.2: JSON", () => "e30", "it is no JWT"],
  ])("%s", async (_rule, token, reason) => {
    expect(await ask(await token())).toEqual(refused);
    expect(reasons()).toEqual(because(reason));
  });

  it("§3.1: a public key is not used as a secret of HS256", async () => {
    const { pem, jwk, privateKey } = await pairOf("RS256");
    const keys = await Jwt.publicKeys([pem]);
    const user = asking(Jwt.bearer({ ...options, keys, algorithms: ["RS256"] }));
    for (const key of [pem, pem.trim(), JSON.stringify(jwk)])
      expect(await user(forged({ alg: "HS256" }, claims, key))).toEqual(refused);
    expect((await user(await signed(privateKey, { alg: "RS256" })))[0]).toBe(200);
    expect(() => Jwt.bearer({ ...options, keys, algorithms: ["RS256", "HS256"] })).toThrow(
      /HS256, whose key is a secret/,
    );
    expect(() => Jwt.bearer({ ...options, algorithms: ["HS256", "RS256"] })).toThrow(/RS256, whose key is no secret/);
  });

  it("§3.10: its own key, and its own URLs for one, are not used", async () => {
    const { jwk, privateKey } = await pairOf("ES256", "mine");
    const keys = await Jwt.publicKeys([(await pairOf("ES256")).pem]);
    const user = asking(Jwt.bearer({ ...options, keys, algorithms: ["ES256"] }));
    const url = "http://127.0.0.1:1/jwks.json";
    for (const own of [{ jwk }, { jku: url }, { x5u: url }, { x5c: ["MII"] }]) {
      expect(await user(await signed(privateKey, { alg: "ES256", ...own }))).toEqual(refused);
    }
  });

  it("§3.11: the type of the token is checked, if the options name one", async () => {
    const user = asking(Jwt.bearer({ ...options, typ: "at+jwt" }));
    for (const typ of ["at+jwt", "AT+JWT", "application/at+jwt"]) {
      expect((await user(forged({ alg: "HS256", typ }, claims)))[0]).toBe(200);
    }
    for (const typ of ["JWT", "id+jwt", "", 1, undefined]) {
      expect(await user(forged({ alg: "HS256", typ }, claims))).toEqual(refused);
    }
    expect(new Set(reasons())).toEqual(new Set(because("its typ is another")));
  });

  it("§3.12: a token of one issuer is not valid for another", async () => {
    const other = asking(Jwt.bearer({ ...options, issuer: ["https://a.example/", "https://b.example/"] }));
    expect(await other(await hs256())).toEqual(refused);
    expect((await other(await hs256({ iss: "https://b.example/" })))[0]).toBe(200);
  });
});

describe("a request without a valid token", () => {
  const user = Jwt.bearer({
    ...options,
    realm: "shop",
    resourceMetadata: "https://shop.example/.well-known/oauth-protected-resource",
  });
  const metadata = 'resource_metadata="https://shop.example/.well-known/oauth-protected-resource"';
  const app = Test.app([
    get(Path.root, { inputs: { user }, returns: Returns.text }, () => "in"),
    get(
      Path.of("any"),
      { inputs: { user: user.optional }, returns: Returns.text },
      ({ user }) => user?.sub ?? "nobody",
    ),
    get(
      Path.of("write"),
      { inputs: { user: user.scope("orders:write", "orders:read") }, returns: Returns.text },
      () => "in",
    ),
  ]);
  const sent = async (target: string, ...values: readonly string[]) => {
    const headers = values.map((value) => ["authorization", value] as const);
    const answer = await Test.call(app, "GET", target, { headers, now });
    return [answer.status, answer.headers.get("www-authenticate") ?? answer.body];
  };
  const bare = [401, `Bearer realm="shop", ${metadata}`];
  const wrong = [401, `Bearer realm="shop", ${metadata}, error="invalid_token"`];

  it.each([
    ["no header", [], bare, [200, "nobody"]],
    ["another scheme", ["Basic YTpi"], bare, [200, "nobody"]],
    ["the scheme alone", ["Bearer"], wrong, wrong],
    ["a token that is none", ["Bearer a.b.c"], wrong, wrong],
    ["parameters", ["Bearer a=b"], wrong, wrong],
  ])("is refused as in RFC 6750: %s", async (_what, values, needed, optional) => {
    expect(await sent("/", ...values)).toEqual(needed);
    expect(await sent("/any", ...values)).toEqual(optional);
    expect(await sent("/write", ...values)).toEqual(needed);
  });

  it.each([
    ["two tokens", ["Bearer a.b.c", "Bearer d.e.f"]],
    ["two tokens in one line", ["Bearer a.b.c, Bearer d.e.f"]],
    ["a token with a space", ["Bearer a. b.c"]],
  ])("is a 400 if it is malformed: %s", async (_what, values) => {
    expect((await sent("/", ...values))[0]).toBe(400);
    expect((await sent("/any", ...values))[0]).toBe(400);
  });

  it.each([
    ["orders:write", [403, 'in="x"']],
    ["orders:read orders:write", [200, "in"]],
    ["orders:write\torders:read", [403, ""]],
    ["orders:writes orders:read", [403, ""]],
    ["", [403, ""]],
    [
      ["orders:write", "orders:read", "x"],
      [200, "in"],
    ],
    [{ "orders:write": true }, [403, ""]],
    [undefined, [403, ""]],
  ])("needs all the scopes of the route: %j", async (scope, [status]) => {
    const [answered, challenge] = await sent("/write", `Bearer ${await hs256({ scope })}`);
    expect(answered).toBe(status);
    const needed = 'error="insufficient_scope", scope="orders:write orders:read"';
    if (status === 403) expect(challenge).toBe(`Bearer realm="shop", ${metadata}, ${needed}`);
  });

  it("may need the scopes of another claim", async () => {
    const user = asking(Jwt.bearer({ ...options, scopeClaim: "scp" }).scope("write"));
    expect((await user(await hs256({ scp: ["write"] })))[0]).toBe(200);
    const forbidden = '{"error":"not_allowed","message":"You may not do that."}';
    expect(await user(await hs256({ scope: "write" }))).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="write"',
      forbidden,
    ]);
    expect(messages("warn").at(-1)).toBe("GET /: not_allowed: the token has no scope write");
  });
});

describe("the output of a bearer", () => {
  it("has no text of the token in the log or the answer", async () => {
    logWith({ levels: { default: "debug" } });
    const value = "pr1vate-v4lue";
    const tokens = [
      await hs256({ iss: value }),
      await hs256({ exp: value, [value]: value }),
      forged({ alg: value, kid: value }, claims),
      forged({ alg: "HS256", crit: [value], [value]: 1 }, { [value]: value }),
      forged({ alg: "HS256" }, `{${value}`),
      `${value}.${value}.${value}`,
    ];
    for (const token of tokens) {
      const answer = await ask(token);
      expect(answer).toEqual(refused);
      for (const part of [value, ...token.split(".").filter((part) => part.length > 8)]) {
        expect(logged().join("\n")).not.toContain(part);
      }
    }
    expect(lines().length).toBeGreaterThan(0);
  });

  it("is http bearer in the API document, with its challenges", () => {
    const user = Jwt.bearer({ ...options, doc: "An access token." });
    const routes = [
      get(Path.root, { inputs: { user: user.scope("write") }, returns: Returns.text }, () => ""),
      get(Path.of("any"), { inputs: { user: user.optional }, returns: Returns.text }, () => ""),
    ];
    const { document } = Openapi.document(routes, { title: "Shop", version: "1" }) as never as { document: never };
    const { paths, components } = (document ?? Openapi.document(routes, { title: "Shop", version: "1" })) as {
      readonly paths: { readonly [path: string]: { readonly get: { readonly [member: string]: unknown } } };
      readonly components: { readonly securitySchemes: unknown };
    };
    const scheme = { type: "http", scheme: "bearer", bearerFormat: "JWT", description: "An access token." };
    expect(components.securitySchemes).toEqual({ bearer: scheme });
    expect(paths["/"]?.get).toMatchObject({
      security: [{ bearer: ["write"] }],
      responses: {
        401: { headers: { "WWW-Authenticate": { schema: { enum: ["Bearer", 'Bearer error="invalid_token"'] } } } },
        403: {
          headers: { "WWW-Authenticate": { schema: { enum: ['Bearer error="insufficient_scope", scope="write"'] } } },
        },
      },
    });
    expect(paths["/any"]?.get).toMatchObject({ security: [{ bearer: [] }, {}] });
  });

  it("is OpenID Connect in the API document, with its scopes", () => {
    const openIdConnect = "https://login.example/.well-known/openid-configuration";
    const user = Jwt.bearer({ ...options, openIdConnect });
    const routes = [get(Path.root, { inputs: { user: user.scope("write") }, returns: Returns.text }, () => "")];
    expect(Openapi.document(routes, { title: "Shop", version: "1" })).toMatchObject({
      components: { securitySchemes: { openIdConnect: { type: "openIdConnect", openIdConnectUrl: openIdConnect } } },
      paths: { "/": { get: { security: [{ openIdConnect: ["write"] }] } } },
    });
  });
});
