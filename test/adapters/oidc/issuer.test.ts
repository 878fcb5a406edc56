/** The discovery document of the issuer, while the issuer works, is unreachable, hangs, or sends invalid data. */
import { Readable, pipeline } from "node:stream";
import { inspect } from "node:util";
import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Deadline, HttpClient, Test } from "usher-http";
import { Oidc } from "usher-http/oidc";
import { Shop, keys, session } from "./fake-issuer.ts";
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

describe("the discovery document of the issuer", () => {
  it("is read at the first sign-in, and again after ten minutes", async () => {
    holdClock();
    const shop = new Shop();
    expect(shop.issuer.calls).toEqual([]);
    for (let i = 0; i < 5; i++) await begin(shop);
    expect(shop.issuer.count(discovery)).toBe(1);
    pass(600_001);
    for (let i = 0; i < 5; i++) await begin(shop);
    expect(shop.issuer.count(discovery)).toBe(2);
  });

  it("is used for a day while the issuer is unreachable, which is tried every half minute", async () => {
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
    // The third failure in a row.
    pass(4001);
    expect((await begin(shop)).status).toBe(303);
  });

  it("is read again whenever it is older than freshMs, also after an earlier refresh", async () => {
    holdClock();
    const shop = new Shop({}, { freshMs: 1000 });
    for (let i = 1; i <= 3; i++) {
      await begin(shop);
      expect(shop.issuer.count(discovery)).toBe(i);
      pass(1001);
    }
  });

  it("is needed only for a sign-in, not for the start; an unreachable issuer is tried once a second", async () => {
    holdClock();
    const shop = new Shop();
    shop.issuer.answers = { instead: down };
    expect((await Test.call(shop.app, "GET", "/")).status).toBe(200);
    for (let i = 0; i < 5; i++) {
      const answer = await begin(shop);
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
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
  ])("is refused, and not asked for again in the same second, if it is %s", async (_what, instead) => {
    holdClock();
    const shop = new Shop();
    shop.issuer.answers = { instead: { [discovery]: instead } };
    for (let i = 0; i < 3; i++) {
      const answer = await begin(shop);
      expect([answer.status, answer.json()]).toMatchObject([503, { error: "sign_in_unavailable" }]);
    }
    expect(shop.issuer.count(discovery)).toBe(1);
    expect(logged().join("")).not.toContain("evil");
  });
});

describe("the discovery document, with a clock that is set back", () => {
  it("is read again at once after a clock was set back, and again when it is old by the new clock", async () => {
    holdClock();
    const shop = new Shop();
    shop.issuer.answers = { instead: down };
    expect((await begin(shop)).status).toBe(503);
    shop.issuer.answers = {};
    pass(-3_600_000);
    expect((await begin(shop)).status).toBe(303);
    pass(-3_600_000);
    await begin(shop);
    expect(shop.issuer.count(discovery)).toBe(3);
  });
});

describe("an issuer that fails or changes", () => {
  it("is not tried again in the second after a call that timed out", async () => {
    holdClock();
    const shop = new Shop();
    const late = () => {
      pass(5000);
      return Promise.reject(new TypeError("time-out"));
    };
    shop.issuer.answers = { instead: { [discovery]: late } };
    for (let i = 0; i < 3; i++) expect((await begin(shop)).status).toBe(503);
    expect(shop.issuer.count(discovery)).toBe(1);
  });

  it("is available to a request whose own call failed, if another request has read the document", async () => {
    const shop = new Shop();
    let fail = (): void => {};
    const failing = new Promise<never>((_, reject) => (fail = () => reject(new TypeError("time-out"))));
    shop.issuer.answers = { instead: { [discovery]: () => failing } };
    const slow = begin(shop);
    await expect.poll(() => shop.issuer.count(discovery)).toBe(1);
    shop.issuer.answers = {};
    expect((await begin(shop)).status).toBe(303);
    fail();
    expect((await slow).status).toBe(303);
    expect((await begin(shop)).status).toBe(303);
    expect(shop.issuer.count(discovery)).toBe(2);
  });

  it("may have a new key at any time, also right after its keys were fetched", async () => {
    const shop = new Shop();
    expect((await shop.signIn(shop.browser())).status).toBe(303);
    const { keys: before } = (await (await shop.issuer.fetch(`${shop.issuer.url}/jwks`)).json()) as { keys: object[] };
    const after = before.map((key) => ({ ...key, kid: "two" }));
    const fetched = shop.issuer.count("/jwks");
    shop.issuer.answers = {
      header: (all) => ({ ...all, kid: "two" }),
      instead: { "/jwks": () => Response.json({ keys: after }) },
    };
    for (let i = 0; i < 3; i++) expect((await shop.signIn(shop.browser())).status).toBe(303);
    expect(shop.issuer.count("/jwks") - fetched).toBe(1);
  });
});

describe("the server of an issuer", () => {
  /** Answers discovery with a function, on a socket. */
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

  it("that never answers is given up after the time limit", async () => {
    const [status, calls] = await signInAt(() => undefined, 100);
    expect(status).toBe(503);
    // A busy machine may not have connected within that time.
    expect(calls).toBeLessThanOrEqual(1);
  });

  it("that sends without end is given up after 256 KiB", async () => {
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

it("no object of an application shows a secret", () => {
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
  ])("is accepted: the issuer %s", (url) => {
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

it("the discovery document is read to its end although the request that started it has timed out", async () => {
  const http = HttpClient.make();
  const { url: slow } = await serverOfTest((_request, response) => {
    const endpoints = { authorization_endpoint: `${slow}/auth`, token_endpoint: `${slow}/token` };
    const description = { issuer: slow, jwks_uri: `${slow}/jwks`, ...endpoints };
    response.writeHead(200, { "content-type": "application/json" });
    setTimeout(() => response.end(JSON.stringify(description)), 200);
  });
  const routes = Oidc.routes(Oidc.issuer(slow, { clientId: "shop", http }), {
    origin: "http://localhost:8080",
    keys,
    sessions: session(),
    onSignIn: ({ claims }) => ({ user: claims.sub }),
  });
  const app = Test.app(routes, { deadline: Deadline.make(10_000), deadlineHeader: "x-timeout-ms" });
  const hasty = await Test.call(app, "GET", "/sign-in", { headers: { "x-timeout-ms": "20" } });
  expect(hasty.status).toBe(503);
  expect((await Test.call(app, "GET", "/sign-in")).status).toBe(303);
});
