/** The rules of RFC 9700 (OAuth 2.0 Security Best Current Practice) and OpenID Connect Core §3.1.3.7, each against an attack. */
import { describe, expect, it } from "vitest";
import { Test } from "usher-http";
import type { TestBrowser } from "usher-http";
import { base64url, Shop, signEs256 } from "./fake-issuer.ts";
import type { Answers } from "./fake-issuer.ts";
import { logged } from "../../support/logs.ts";

const failed = [400, "sign_in_failed", "That sign-in did not work. Please start it again."];
const refused = [403, "sign_in_refused", "That sign-in was cancelled, or is not allowed."];
const away = [503, "sign_in_unavailable", "Signing in is not possible now. Please try again in a moment."];

const told = (answer: { readonly status: number; readonly body: string }): readonly unknown[] => {
  const { error, message } = JSON.parse(answer.body) as { readonly error: string; readonly message: string };
  return [answer.status, error, message];
};

const cookieOf = (browser: TestBrowser) => [...browser.cookies()][0] ?? ["", ""];

/** A sign-in in which the browser's answer is changed. */
async function answered(changes: { readonly [name: string]: string }, answers: Answers = {}) {
  const shop = new Shop();
  shop.issuer.answers = answers;
  const browser = shop.browser();
  const asked = await shop.begin(browser);
  const answer = await browser.call("GET", shop.callback(asked, changes));
  expect(browser.cookies().has("session")).toBe(answer.status === 303);
  return { answer, shop };
}

describe("the answer that the browser sends", () => {
  it.each([
    ["§4.7: without a state", { state: "" }],
    ["§4.7: with another state", { state: "a".repeat(43) }],
    ["§4.7: with a state that no cookie's name could be of", { state: "../../;=\u0000" }],
    ["§4.4: without the issuer, which says that it sends it (RFC 9207)", { iss: "" }],
    ["§4.4: with another issuer", { iss: "https://evil.example" }],
    ["§4.4: with almost the same issuer", { iss: "https://issuer.example/" }],
    ["§2.1.2: with a token and no code", { code: "", id_token: "a.b.c" }],
    ["§2.1.2: with an ID token beside the code", { id_token: "a.b.c" }],
    ["without a code", { code: "" }],
    ["longer than an answer is", { code: "c".repeat(9000) }],
  ])("is refused, and no code is redeemed: %s", async (_rule, changes) => {
    const { answer, shop } = await answered(changes);
    expect(told(answer)).toEqual(failed);
    expect(shop.issuer.count("/token")).toBe(0);
  });

  it.each<readonly ["GET" | "HEAD", { readonly [name: string]: string }]>([
    ["HEAD", {}],
    ["GET", { "sec-purpose": "prefetch" }],
    ["GET", { "sec-purpose": "prefetch;prerender" }],
    ["GET", { purpose: "prefetch" }],
    ["GET", { "x-moz": "prefetch" }],
  ])("has no effect in a %s with the headers %j", async (method, headers) => {
    const shop = new Shop();
    const browser = shop.browser();
    const target = shop.callback(await shop.begin(browser));
    const answer = await browser.call(method, target, { headers });
    expect([answer.status, answer.headers.getSetCookie(), shop.issuer.count("/token")]).toEqual([400, [], 0]);
    expect((await browser.call("GET", target)).status).toBe(303);
  });

  it.each(["state", "code", "iss"])("is refused if it has %s twice", async (name) => {
    const shop = new Shop();
    const browser = shop.browser();
    const target = shop.callback(await shop.begin(browser));
    const again = new URLSearchParams(target.split("?")[1]).get(name) ?? "";
    const answer = await browser.call("GET", `${target}&${new URLSearchParams({ [name]: again }).toString()}`);
    expect([told(answer), shop.issuer.count("/token")]).toEqual([failed, 0]);
  });

  it("is refused in another browser, and in one without the cookie (§4.5, §4.7)", async () => {
    const shop = new Shop();
    const [victim, attacker] = [shop.browser(), shop.browser()];
    const ofAttacker = shop.callback(await shop.begin(attacker));
    expect(told(await victim.call("GET", ofAttacker))).toEqual(failed);
    await shop.begin(victim);
    expect(told(await victim.call("GET", ofAttacker))).toEqual(failed);
    expect(shop.issuer.count("/token")).toBe(0);
  });

  it("is refused with the cookie of another attempt, or one that is changed, cut off or too old", async () => {
    const shop = new Shop({ attemptMs: 60_000 });
    const browser = shop.browser();
    const target = shop.callback(await shop.begin(browser));
    const [name, value] = cookieOf(browser);
    const other = shop.browser();
    await shop.begin(other);
    const [, ofOther] = cookieOf(other);
    const broken = `${value.slice(0, 20)}${value[20] === "A" ? "B" : "A"}${value.slice(21)}`;
    for (const sent of [ofOther, broken, value.slice(1), "", "x".repeat(9000)]) {
      const answer = await Test.call(shop.app, "GET", target, { headers: [["cookie", `${name}=${sent}`]] });
      expect(told(answer)).toEqual(failed);
    }
    const headers = [["cookie", `${name}=${value}`]] as const;
    const late = await Test.call(shop.app, "GET", target, { headers, now: new Date(Date.now() + 62_000) });
    expect([told(late), shop.issuer.count("/token")]).toEqual([failed, 0]);
  });

  it("is accepted once: not again, and once for two concurrent requests (§2.1.1)", async () => {
    const shop = new Shop();
    const browser = shop.browser();
    const target = shop.callback(await shop.begin(browser));
    const cookie = [...browser.cookies()].map((pair) => pair.join("=")).join("; ");
    const call = () => Test.call(shop.app, "GET", target, { headers: [["cookie", cookie]] });
    const both = await Promise.all([call(), call()]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([303, 400]));
    expect(told(await call())).toEqual(failed);
    expect(shop.issuer.count("/token")).toBe(1);
  });

  it("is refused at another app with the same keys (§4.4)", async () => {
    const shop = new Shop();
    const other = new Shop({ origin: "https://other.example" });
    const browser = shop.browser();
    const target = shop.callback(await shop.begin(browser));
    const headers = [["cookie", [...browser.cookies()].map((pair) => pair.join("=")).join("; ")]] as const;
    expect(told(await Test.call(other.app, "GET", target, { headers }))).toEqual(failed);
    expect(other.issuer.count("/token")).toBe(0);
  });
});

describe("an error of the issuer", () => {
  const hostile = `<script>alert(1)</script>\r\nset-cookie: a=b ${"x".repeat(500)}`;
  it.each([
    ["access_denied", refused],
    ["login_required", refused],
    ["interaction_required", refused],
    ["consent_required", refused],
    ["temporarily_unavailable", away],
    ["server_error", away],
    ["invalid_request", failed],
    ["invalid_scope", failed],
    [hostile, failed],
  ])("%s is answered with the framework's own message", async (error, expected) => {
    const changes = { error, error_description: hostile, error_uri: "https://evil.example/" };
    const { answer } = await answered({ ...changes, code: "" });
    expect(told(answer)).toEqual(expected);
    const text = [answer.body, ...[...answer.headers].flat(), ...logged()].join("\n");
    expect(text).not.toMatch(/script|evil|xxx|set-cookie: a/);
  });
});

const in1970 = 1000;
const nowInSeconds = (): number => Math.floor(Date.now() / 1000);
const other = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
const signByOther = async (content: string): Promise<string> => {
  const hash = { name: "ECDSA", hash: "SHA-256" } as const;
  return base64url(new Uint8Array(await crypto.subtle.sign(hash, other.privateKey, Buffer.from(content))));
};
const embedded = await crypto.subtle.exportKey("jwk", other.publicKey);

describe("an ID token", () => {
  const rows: readonly (readonly [rule: string, answers: Answers])[] = [
    ["of another issuer", { claims: (all) => ({ ...all, iss: "https://evil.example" }) }],
    ["for another client", { claims: (all) => ({ ...all, aud: "other" }) }],
    ["for several clients, without azp", { claims: (all) => ({ ...all, aud: ["shop", "other"] }) }],
    ["for several clients, made for another", { claims: (all) => ({ ...all, aud: ["shop", "other"], azp: "other" }) }],
    ["without an audience", { claims: (all) => ({ ...all, aud: undefined }) }],
    ["of another attempt", { claims: (all) => ({ ...all, nonce: "another" }) }],
    ["without a nonce", { claims: (all) => ({ ...all, nonce: undefined }) }],
    ["that has expired", { claims: (all) => ({ ...all, exp: in1970 }) }],
    ["that never expires", { claims: (all) => ({ ...all, exp: undefined }) }],
    ["that is of the future", { claims: (all) => ({ ...all, nbf: nowInSeconds() + 3600 }) }],
    ["without a subject", { claims: (all) => ({ ...all, sub: undefined }) }],
    ["whose subject is no text", { claims: (all) => ({ ...all, sub: 7 }) }],
    ["unsigned: alg none", { header: () => ({ alg: "none" }), sign: () => "" }],
    ["unsigned: alg None", { header: () => ({ alg: "None" }), sign: () => "" }],
    ["with a shared secret: HS256", { header: () => ({ alg: "HS256" }), sign: () => base64url("x".repeat(32)) }],
    ["signed by another key", { sign: signByOther }],
    ["signed by a key that it brings", { header: (all) => ({ ...all, jwk: embedded }), sign: signByOther }],
    [
      "signed by a key elsewhere",
      { header: (all) => ({ ...all, jku: "https://evil.example/jwks" }), sign: signByOther },
    ],
    ["with a key that the issuer has not", { header: (all) => ({ ...all, kid: "two" }), sign: signEs256 }],
    ["with an extension that must be understood", { header: (all) => ({ ...all, crit: ["exp"] }) }],
    ["without a signature", { sign: () => "" }],
    ["with a signature that is no base64", { sign: () => "<script>" }],
    ["that is none", { token: { id_token: "nonsense" } }],
    ["that is missing", { token: { id_token: undefined } }],
    ["that is encrypted", { token: { id_token: "a.b.c.d.e" } }],
    ["beside a token of another kind", { token: { token_type: "mac" } }],
  ];
  it.each(rows)("is refused: %s", async (_rule, answers) => {
    const { answer, shop } = await answered({}, answers);
    expect(told(answer)).toEqual(failed);
    expect(shop.issuer.calls.filter((path) => path.startsWith("/evil"))).toEqual([]);
  });

  it("is accepted within the clock tolerance, and not outside of it", async () => {
    const claims: Answers["claims"] = (all) => ({ ...all, exp: nowInSeconds() - 20 });
    expect((await answered({}, { claims })).answer.status).toBe(303);
    const shop = new Shop({}, { clockToleranceMs: 5000 });
    shop.issuer.answers = { claims };
    expect(told(await shop.signIn(shop.browser()))).toEqual(failed);
  });

  it("must be as recent and as strong as the options require", async () => {
    const shop = new Shop({ maxAgeMs: 60_000, acr: ["gold"] });
    const cases = [
      [{ auth_time: nowInSeconds() - 10, acr: "gold" }, 303],
      [{ auth_time: nowInSeconds() - 3600, acr: "gold" }, 400],
      [{ acr: "gold" }, 400],
      [{ auth_time: nowInSeconds(), acr: "bronze" }, 403],
      [{ auth_time: nowInSeconds() }, 403],
    ] as const;
    for (const [more, status] of cases) {
      shop.issuer.answers = { claims: (all) => ({ ...all, ...more }) };
      expect([more, (await shop.signIn(shop.browser())).status]).toEqual([more, status]);
    }
  });
});

const noKey = { kid: "one", kty: "EC", crv: "P-256", alg: "ES256", x: "evil", y: "evil" };

describe("the issuer's endpoints", () => {
  const html = () => new Response("<h1>Oops</h1>", { headers: { "content-type": "text/html" } });
  const error = (name: string, status = 400) =>
    Response.json({ error: name, error_description: "<script>evil</script>" }, { status });
  const rows: readonly (readonly [what: string, instead: NonNullable<Answers["instead"]>, expected: unknown])[] = [
    ["tokens are HTML", { "/token": html }, away],
    ["tokens are cut short", { "/token": () => new Response('{"access_token":', { status: 200 }) }, away],
    ["tokens are a list", { "/token": () => Response.json([]) }, failed],
    ["tokens are elsewhere", { "/token": () => Response.redirect("https://evil.example/token", 307) }, away],
    ["tokens fail", { "/token": () => new Response("oops", { status: 500 }) }, away],
    ["tokens are unreachable", { "/token": () => Promise.reject(new TypeError("fetch failed")) }, away],
    ["the code is spent", { "/token": () => error("invalid_grant") }, failed],
    ["the client is unknown", { "/token": () => error("invalid_client", 401) }, away],
    ["an error of its own", { "/token": () => error("<script>") }, away],
    ["the keys are HTML", { "/jwks": html }, away],
    ["the keys are none", { "/jwks": () => Response.json({ keys: [] }) }, failed],
    ["the key is none", { "/jwks": () => Response.json({ keys: [noKey] }) }, failed],
    ["the keys are elsewhere", { "/jwks": () => Response.redirect("https://evil.example/", 302) }, away],
  ];
  it.each(rows)("are refused if %s", async (_what, instead, expected) => {
    const { answer } = await answered({}, { instead });
    expect(told(answer)).toEqual(expected);
    expect([answer.body, ...logged()].join("\n")).not.toMatch(/script|evil/);
  });

  it("are not read from a discovery document whose issuer is no URL", async () => {
    const shop = new Shop();
    shop.issuer.answers = { description: { issuer: "evil" } };
    expect(told(await shop.browser().call("GET", "/sign-in"))).toEqual(away);
    expect(logged().join("\n")).not.toMatch(/internal|evil/);
  });

  it.each(["token_endpoint", "jwks_uri"])("must use https: %s", async (name) => {
    const { answer, shop } = await answered({}, { description: { [name]: "http://issuer.example/plain" } });
    expect(told(answer)).toEqual(away);
    expect(shop.issuer.calls).not.toContain("/plain");
  });
});

it("a local issuer cannot have an http endpoint on another host", async () => {
  const shop = new Shop({}, {}, "http://localhost:9000");
  expect((await shop.signIn(shop.browser())).status).toBe(303);
  const other = new Shop({}, {}, "http://localhost:9000");
  other.issuer.answers = { description: { token_endpoint: "http://issuer.example/plain" } };
  expect(told(await other.signIn(other.browser()))).toEqual(away);
  expect(other.issuer.calls).not.toContain("/plain");
});

it("no line and no answer has a code, a token, a state or a secret", async () => {
  const { answer, shop } = await answered({ code: "the-code-of-the-test" });
  const { sent } = shop.issuer;
  const secrets = ["the-code-of-the-test", "access-1", "refresh-1", sent.get("code_verifier") ?? "", shop.issuer.nonce];
  expect(answer.status).toBe(303);
  for (const secret of secrets) {
    expect([answer.body, ...[...answer.headers].flat(), ...logged()].join("\n")).not.toContain(secret);
  }
});
