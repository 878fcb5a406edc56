/** The issuer's description and the access token, while the issuer answers, is away, hangs, or sends what it likes. */
import { Readable, pipeline } from "node:stream";
import { inspect } from "node:util";
import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it, vi } from "vitest";
import { HttpClient, Test } from "usher-http";
import { Oidc } from "usher-http/oidc";
import { Shop, keys } from "./fake-issuer.ts";
import { serverOfTest } from "../../support/http-server.ts";
import { logged } from "../../support/logs.ts";

const discovery = "/.well-known/openid-configuration";
const begin = (shop: Shop) => Test.call(shop.app, "GET", "/sign-in");
afterEach(() => void vi.useRealTimers());

function holdClock(): void {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-23T12:00:00Z") });
}
const pass = (ms: number): void => void vi.setSystemTime(Date.now() + ms);
const down = { [discovery]: () => Promise.reject(new TypeError("fetch failed")) };

describe("the issuer's description", () => {
  it("is read at the first sign-in, and again when it is ten minutes old", async () => {
    holdClock();
    const shop = new Shop();
    expect(shop.issuer.calls).toEqual([]);
    for (let i = 0; i < 5; i++) await begin(shop);
    expect(shop.issuer.count(discovery)).toBe(1);
    pass(600_001);
    for (let i = 0; i < 5; i++) await begin(shop);
    expect(shop.issuer.count(discovery)).toBe(2);
  });

  it("is used for a day while the issuer is away, which is asked every half minute", async () => {
    holdClock();
    const shop = new Shop();
    await begin(shop);
    shop.issuer.answers = { instead: down };
    pass(600_001);
    for (let i = 0; i < 5; i++) expect((await begin(shop)).status).toBe(303);
    expect(shop.issuer.count(discovery)).toBe(2);
    pass(30_001);
    await begin(shop);
    expect(shop.issuer.count(discovery)).toBe(3);
    pass(24 * 3_600_000);
    expect((await begin(shop)).status).toBe(503);
    shop.issuer.answers = {};
    pass(1001);
    expect((await begin(shop)).status).toBe(303);
  });

  it("is read again whenever it is as old as freshMs, also after one that was", async () => {
    holdClock();
    const shop = new Shop({}, { freshMs: 1000 });
    for (let i = 1; i <= 3; i++) {
      await begin(shop);
      expect(shop.issuer.count(discovery)).toBe(i);
      pass(1001);
    }
  });

  it("is not needed to start, nor for any route but the sign-in's; an issuer that is away is asked once a second", async () => {
    holdClock();
    const shop = new Shop();
    shop.issuer.answers = { instead: down };
    expect((await Test.call(shop.app, "GET", "/")).status).toBe(200);
    for (let i = 0; i < 5; i++) {
      const answer = await begin(shop);
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
    }
    expect(shop.issuer.count(discovery)).toBe(1);
    shop.issuer.answers = {};
    pass(1001);
    expect((await begin(shop)).status).toBe(303);
  });

  it.each([
    ["of another issuer", () => Response.json({ issuer: "https://evil.example" })],
    ["HTML", () => new Response("<h1>Hi</h1>", { headers: { "content-type": "text/html" } })],
    ["a list", () => Response.json([])],
    ["elsewhere", () => Response.redirect("https://evil.example/", 302)],
    ["an error", () => new Response("", { status: 500 })],
    ["without an endpoint", () => Response.json({ issuer: "https://issuer.example" })],
    [
      "with an endpoint that is no https",
      () => Response.json({ issuer: "https://issuer.example", authorization_endpoint: "javascript:alert(1)" }),
    ],
    [
      "with an endpoint over http",
      () => Response.json({ issuer: "https://issuer.example", authorization_endpoint: "http://localhost/auth" }),
    ],
  ])("is refused where it is %s", async (_what, instead) => {
    const shop = new Shop();
    shop.issuer.answers = { instead: { [discovery]: instead } };
    const answer = await begin(shop);
    expect([answer.status, answer.json()]).toMatchObject([503, { error: "sign_in_unavailable" }]);
    expect(logged().join("")).not.toContain("evil");
  });
});

describe("a server of an issuer", () => {
  /** Answers discovery by a function, on a socket. */
  async function signInAt(answer: (response: ServerResponse) => unknown, ms: number) {
    let calls = 0;
    const { url, close } = await serverOfTest((_request, response) => {
      calls++;
      answer(response);
    });
    const http = HttpClient.make({ timeoutMs: ms, maxBody: 262_144 });
    const shop = new Shop({}, { http });
    const routes = Oidc.routes(Oidc.issuer(url, { clientId: "shop", http }), {
      origin: "http://localhost:8080",
      keys,
      sessions: shop.sessions,
      onSignIn: ({ claims }) => ({ user: claims.sub }),
    });
    const answered = await Test.call(Test.app(routes), "GET", "/sign-in");
    await close();
    return [answered.status, calls];
  }

  it("that never answers is left after its time", async () => {
    const [status, calls] = await signInAt(() => undefined, 100);
    expect(status).toBe(503);
    // A machine that is busy for that time has not connected yet.
    expect(calls).toBeLessThanOrEqual(1);
  });

  it("that sends without end is left after 256 KiB", async () => {
    let sent = 0;
    const endless = function* () {
      for (;;) {
        sent += 65_536;
        yield Buffer.alloc(65_536, " ");
      }
    };
    expect(await signInAt((response) => pipeline(Readable.from(endless()), response, () => {}), 20_000)).toEqual([
      503, 1,
    ]);
    expect(sent).toBeLessThan(1e8);
  });
});

/** A shop whose access token has expired. */
async function expired(answers: Shop["issuer"]["answers"]["token"] = {}) {
  const shop = new Shop();
  shop.issuer.answers = { token: { expires_in: 1 } };
  const browser = shop.browser();
  await shop.signIn(browser);
  shop.issuer.answers = { token: { expires_in: 3600, ...answers }, claims: (all) => ({ ...all, nonce: undefined }) };
  const token = async () => (await browser.call("GET", "/token")).body;
  return { shop, browser, token, spent: () => shop.issuer.count("/token") - 1 };
}

const error = (name: string) => () => Response.json({ error: name, error_description: "<evil>" }, { status: 400 });

describe("an access token", () => {
  it("is given as it is while it holds, and undefined without a session or tokens", async () => {
    const shop = new Shop();
    const browser = shop.browser();
    expect((await browser.call("GET", "/token")).body).toBe("none");
    await shop.signIn(browser);
    expect((await browser.call("GET", "/token")).body).toBe("access-1");
    expect(shop.issuer.count("/token")).toBe(1);
    const other = new Shop({ onSignIn: ({ claims }) => ({ user: claims.sub }) });
    const second = other.browser();
    await other.signIn(second);
    expect((await second.call("GET", "/token")).body).toBe("none");
  });

  it("that has expired is refreshed, and the session keeps the new ones", async () => {
    const { shop, browser, token, spent } = await expired();
    expect([await token(), await token()]).toEqual(["access-2", "access-2"]);
    expect([spent(), shop.issuer.sent.get("refresh_token")]).toEqual([1, "refresh-1"]);
    const found = await shop.sessions.find(browser.cookies().get("session"), new Date());
    expect(found?.data.tokens).toMatchObject({ refreshToken: "refresh-2", subject: "ada" });
  });

  it.each([
    ["rotates", {}],
    ["stays", { refresh_token: undefined }],
  ])("is refreshed once for many requests at once, where the refresh token %s", async (_how, answers) => {
    const { token, spent } = await expired(answers);
    const all = await Promise.all(Array.from({ length: 20 }, token));
    expect([new Set(all), spent()]).toEqual([new Set(["access-2"]), 1]);
  });

  it("is not refreshed again by a request that read the session before", async () => {
    const { shop, browser, token, spent } = await expired();
    const id = browser.cookies().get("session");
    const before = await shop.sessions.find(id, new Date());
    await token();
    // Another request writes the data that it read before.
    await before?.update({ ...before.data });
    expect([await token(), spent()]).toEqual(["access-2", 1]);
  });

  it("that lives shorter than a call takes is refreshed each time, and no request waits", async () => {
    const { token, spent } = await expired({ expires_in: 1 });
    expect([await token(), await token(), await token(), spent()]).toEqual(["access-2", "access-3", "access-4", 3]);
  });

  it.each([
    ["has ended the sign-in", "none", 200, { "/token": error("invalid_grant") }],
    ["refuses the client", "", 503, { "/token": error("invalid_client") }],
    ["cannot be reached", "", 503, { "/token": () => Promise.reject(new TypeError("fetch failed")) }],
    ["answers HTML", "", 503, { "/token": () => new Response("<evil>") }],
  ])("is not given where the issuer %s", async (_what, body, status, instead) => {
    const { shop, browser } = await expired();
    shop.issuer.answers = { instead };
    const answer = await browser.call("GET", "/token");
    expect(answer.status).toBe(status);
    if (status === 200) expect(answer.body).toBe(body);
    expect(answer.body + logged().join("")).not.toContain("evil");
    shop.issuer.answers = { claims: (all) => ({ ...all, nonce: undefined }) };
    // An issuer that was away is asked again; a refresh token that it does not take is not sent twice.
    expect((await browser.call("GET", "/token")).body).toBe(status === 200 ? "none" : "access-2");
  });

  it("of another user is not taken, nor one whose ID token another key signed", async () => {
    const { shop, token } = await expired();
    shop.issuer.answers = { claims: (all) => ({ ...all, sub: "eve", nonce: undefined }) };
    expect(await token()).toBe("none");
    const other = await expired();
    other.shop.issuer.answers = { sign: () => "AAAA" };
    expect((await other.browser.call("GET", "/token")).status).toBe(503);
  });
});

it.each([
  ["ten minutes have passed", 600_001, 1],
  ["a thousand others were spent", 0, 1000],
])("an access token that a refresh token was refused for is asked for again once %s", async (_when, ms, others) => {
  holdClock();
  const { shop, token, spent } = await expired();
  shop.issuer.answers = { instead: { "/token": error("invalid_grant") } };
  expect([await token(), await token(), spent()]).toEqual(["none", "none", 1]);
  pass(ms);
  shop.issuer.answers = { token: { expires_in: 1 } };
  const other = shop.browser();
  await shop.signIn(other);
  shop.issuer.answers = { token: { expires_in: 1, id_token: undefined } };
  for (let i = 0; i < others; i++) await other.call("GET", "/token");
  expect(spent()).toBe(1 + 1 + others);
  expect(await token()).toBe(`access-${2 + others + 1}`);
});

it("no object that an application holds shows a secret", () => {
  const issuer = Oidc.issuer("https://issuer.example", { clientId: "shop", clientSecret: "the-secret-of-the-shop" });
  const { routes } = new Shop({}, { clientSecret: "the-secret-of-the-shop" });
  const shown = [issuer, routes].map((one) => inspect(one, { depth: 20, showHidden: true }) + JSON.stringify(one));
  expect(shown.join("")).not.toContain("the-secret-of-the-shop");
});

describe("an option of Oidc", () => {
  it.each([
    ["http://issuer.example", "its URL must be https, or http of localhost"],
    ["http://localhost.evil.example", "its URL must be https, or http of localhost"],
    ["ftp://localhost", "its URL must be https, or http of localhost"],
    ["issuer.example", "its URL must be https, or http of localhost"],
    ["https://issuer.example/?a=b", "its URL must have no query, fragment, user or password"],
    ["https://ada@issuer.example", "its URL must have no query, fragment, user or password"],
  ])("is refused: the issuer %s", (url, message) => {
    expect(() => Oidc.issuer(url, { clientId: "shop" })).toThrow(`Oidc.issuer: ${message}`);
  });

  it.each([
    ["http://localhost:9000"],
    ["http://127.0.0.1:9000/realm"],
    ["http://[::1]:9000"],
    ["https://issuer.example/realms/shop"],
  ])("is taken: the issuer %s", (url) => {
    expect(Oidc.issuer(url, { clientId: "shop" }).discoveryUrl).toBe(`${url}/.well-known/openid-configuration`);
  });

  it.each([
    [{ origin: "http://shop.example" }, "origin must be https"],
    [{ origin: "https://shop.example/app" }, "origin must be https"],
    [{ home: "//evil.example" }, "home is"],
    [{ signedOut: "https://evil.example" }, "signedOut is"],
    [{ parameters: { redirect_uri: "https://evil.example" } }, "parameters.redirect_uri is set by the framework"],
    [{ parameters: { response_type: "token" } }, "parameters.response_type is set by the framework"],
    [{ attemptMs: 0 }, "attemptMs is"],
    [{ acr: [] }, "acr is"],
  ])("is refused: %j", (given, message) => {
    expect(() => new Shop(given)).toThrow(`Oidc.routes: ${message}`);
  });
});
