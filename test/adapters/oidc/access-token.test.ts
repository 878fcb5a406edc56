/** The access token of a session, and its refresh: alone, in concurrent requests, and while the issuer is unreachable. */
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Deadline, Dep, HttpClient, Path, Returns, Test, get } from "usher-http";
import type { Session, Sessions, TestBrowser } from "usher-http";
import { Oidc } from "usher-http/oidc";
import { Shop } from "./fake-issuer.ts";
import type { Data } from "./fake-issuer.ts";
import { gate } from "../../support/gate.ts";
import { serverOfTest } from "../../support/http-server.ts";
import { logged } from "../../support/logs.ts";

afterEach(() => void vi.useRealTimers());

function holdClock(): void {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-23T12:00:00Z") });
}
const pass = (ms: number): void => void vi.setSystemTime(Date.now() + ms);

/** A shop whose access token has expired. */
async function expired(answers: Shop["issuer"]["answers"]["token"] = {}, shop: Shop = new Shop()) {
  shop.issuer.answers = { token: { expires_in: 1 } };
  const browser = shop.browser();
  await shop.signIn(browser);
  shop.issuer.answers = { token: { expires_in: 3600, ...answers }, claims: (all) => ({ ...all, nonce: undefined }) };
  const token = async () => (await browser.call("GET", "/token")).body;
  return { shop, browser, token, spent: () => shop.issuer.count("/token") - 1 };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const newest = (tokens: Data["tokens"]): Data["tokens"] => tokens && { ...tokens, refreshToken: "newest" };
const error = (name: string) => () => Response.json({ error: name, error_description: "<evil>" }, { status: 400 });

describe("an access token", () => {
  it("is given unchanged while it is valid, and undefined without a session or tokens", async () => {
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

  it("that has expired is refreshed, and the session stores the new tokens", async () => {
    const { shop, browser, token, spent } = await expired();
    expect([await token(), await token()]).toEqual(["access-2", "access-2"]);
    expect([spent(), shop.issuer.sent.get("refresh_token")]).toEqual([1, "refresh-1"]);
    const found = await shop.sessions.find(browser.cookies().get("session"), new Date());
    expect(found?.data.tokens).toMatchObject({ refreshToken: "refresh-2", subject: "ada" });
  });

  it.each([
    ["rotates", {}],
    ["stays", { refresh_token: undefined }],
  ])("is refreshed once for many concurrent requests, when the refresh token %s", async (_how, answers) => {
    const { token, spent } = await expired(answers);
    const all = await Promise.all(Array.from({ length: 20 }, token));
    expect([new Set(all), spent()]).toEqual([new Set(["access-2"]), 1]);
  });

  it("is not refreshed again by a request that read the session before", async () => {
    const { shop, browser, token, spent } = await expired();
    const id = browser.cookies().get("session");
    const before = await shop.sessions.find(id, new Date());
    await token();
    // Another request writes the data that it has read before.
    await before?.update({ ...before.data });
    expect([await token(), spent()]).toEqual(["access-2", 1]);
  });

  it("with a lifetime shorter than a call is refreshed each time, and no request waits", async () => {
    const { token, spent } = await expired({ expires_in: 1 });
    expect([await token(), await token(), await token(), spent()]).toEqual(["access-2", "access-3", "access-4", 3]);
  });

  const refused = { cause: { code: "ECONNREFUSED" } };
  it.each([
    ["has ended the sign-in", "none", 200, "none", { "/token": error("invalid_grant") }],
    ["refuses the client", "", 503, "access-2", { "/token": error("invalid_client") }],
    ["refuses connections", "", 503, "access-2", { "/token": () => Promise.reject(new TypeError("failed", refused)) }],
    // It may have taken the refresh token.
    ["closes the connection", "", 503, "none", { "/token": () => Promise.reject(new TypeError("fetch failed")) }],
    ["answers HTML", "", 503, "none", { "/token": () => new Response("<evil>") }],
  ])("is undefined if the issuer %s", async (_what, body, status, next, instead) => {
    holdClock();
    const { shop, browser } = await expired();
    shop.issuer.answers = { instead };
    const answer = await browser.call("GET", "/token");
    expect(answer.status).toBe(status);
    if (status === 200) expect(answer.body).toBe(body);
    expect(answer.body + logged().join("")).not.toContain("evil");
    shop.issuer.answers = { claims: (all) => ({ ...all, nonce: undefined }) };
    pass(1001);
    expect((await browser.call("GET", "/token")).body).toBe(next);
  });

  it("of another user is refused, and one whose ID token was signed with another key", async () => {
    const { shop, token } = await expired();
    shop.issuer.answers = { claims: (all) => ({ ...all, sub: "eve", nonce: undefined }) };
    expect(await token()).toBe("none");
    const other = await expired();
    other.shop.issuer.answers = { sign: () => "AAAA" };
    expect((await other.browser.call("GET", "/token")).status).toBe(503);
  });
});

describe("an access token that several concurrent requests need", () => {
  it("is refreshed once for two separate inputs", async () => {
    const { browser, token, spent } = await expired();
    const again = async () => (await browser.call("GET", "/token/again")).body;
    expect([await Promise.all([token(), again()]), spent()]).toEqual([["access-2", "access-2"], 1]);
  });

  it("is refreshed once, however slow the issuer is", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
    const { shop, token, spent } = await expired();
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const { fetch } = shop.issuer;
    vi.spyOn(shop.issuer, "fetch").mockImplementationOnce(async (...given) => {
      await held;
      return fetch.apply(shop.issuer, given);
    });
    const slow = token();
    while (vi.mocked(shop.issuer.fetch).mock.calls.length === 0) await turn();
    pass(30_000);
    const other = token();
    while (vi.getTimerCount() === 0 && spent() === 0) await turn();
    release();
    expect(await slow).toBe("access-2");
    await vi.advanceTimersByTimeAsync(20);
    expect([await other, spent()]).toEqual(["access-2", 1]);
  });

  it("that cannot be refreshed is requested once, when many requests wait for it", async () => {
    const { shop, browser, spent } = await expired();
    let fail = (): void => {};
    const failing = new Promise<never>((_, reject) => (fail = () => reject(new TypeError("time-out"))));
    shop.issuer.answers = { instead: { "/token": () => failing } };
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const asked = Array.from({ length: 5 }, () => browser.call("GET", "/token"));
    while (vi.getTimerCount() < 4) await turn();
    fail();
    await vi.advanceTimersByTimeAsync(1000);
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect([statuses, spent()]).toEqual([Array(5).fill(503), 1]);
  });

  it.each<readonly [what: string, change: (data: Data) => Data, user: string, refreshToken: string | undefined]>([
    ["its user", (data) => ({ ...data, user: "grace" }), "grace", "refresh-2"],
    ["its tokens", ({ user, tokens }) => ({ user, tokens: newest(tokens) }), "ada", "newest"],
    ["that it has tokens", ({ user }) => ({ user }), "ada", undefined],
  ])(
    "is refreshed without undoing another request's change of the session: %s",
    async (_what, change, user, refreshToken) => {
      const { shop, browser, token } = await expired();
      const id = browser.cookies().get("session");
      let release = (): void => {};
      const held = new Promise<void>((resolve) => (release = resolve));
      const newer = { access_token: "access-2", token_type: "Bearer", expires_in: 3600, refresh_token: "refresh-2" };
      shop.issuer.answers = { instead: { "/token": () => held.then(() => Response.json(newer)) } };
      const asked = [token(), token()];
      await expect.poll(() => shop.issuer.count("/token")).toBe(2);
      const other = await shop.sessions.find(id, new Date());
      await other?.update(change(other.data));
      release();
      expect(await Promise.all(asked)).toEqual(["access-2", "access-2"]);
      const { data } = (await shop.sessions.find(id, new Date())) ?? {};
      expect([data?.user, data?.tokens?.refreshToken]).toEqual([user, refreshToken]);
    },
  );
});

describe("an access token of one session among a thousand", () => {
  it("is refreshed once, during the refreshes of the others", async () => {
    const { shop, browser, token } = await expired();
    const { tokens } = (await shop.sessions.find(browser.cookies().get("session"), new Date()))?.data ?? {};
    const newer = { access_token: "access-2", token_type: "Bearer", expires_in: 3600, refresh_token: "refresh-2" };
    const issued = gate();
    shop.issuer.answers = { instead: { "/token": () => issued.passed.then(() => Response.json(newer)) } };
    const calls = [token()];
    await expect.poll(() => shop.issuer.count("/token")).toBe(2);
    for (let i = 0; i < 1000; i++) {
      let id = "";
      const setCookie = ({ value }: { readonly value: string }) => void (id = value);
      await shop.sessions.start(setCookie, { user: "eve", tokens: tokens && { ...tokens, refreshToken: `${i}` } });
      const headers = { cookie: `session=${id}` };
      calls.push(Test.call(shop.app, "GET", "/token", { headers }).then(({ body }) => body));
    }
    await expect.poll(() => shop.issuer.count("/token")).toBe(1002);
    calls.push(token());
    await turn();
    issued.open();
    expect([new Set(await Promise.all(calls)), shop.issuer.count("/token")]).toEqual([new Set(["access-2"]), 1002]);
  });
});

describe("a session whose refresh token does not change", () => {
  it("is stored once for all that wait for a refresh, and keeps a concurrent change of another request", async () => {
    const { shop, browser, token } = await expired({ refresh_token: undefined });
    const id = browser.cookies().get("session");
    const { store } = shop;
    const [save, find] = [store.save.bind(store), store.find.bind(store)];
    let updated = 0;
    vi.spyOn(store, "save").mockImplementation(async (...given) => {
      if (given[2] === "updated") updated++;
      await save(...given);
    });
    let hasChanged = false;
    vi.spyOn(store, "find").mockImplementation(async (digest) => {
      const entry = await find(digest);
      if (updated === 0 || hasChanged) return entry;
      // Between the read and the write of a request that waited.
      hasChanged = true;
      const other = await shop.sessions.find(id, new Date());
      await other?.update({ ...other.data, user: "grace" });
      return entry;
    });
    expect(new Set(await Promise.all([token(), token(), token()]))).toEqual(new Set(["access-2"]));
    expect((await shop.sessions.find(id, new Date()))?.data).toMatchObject({
      user: "grace",
      tokens: { accessToken: "access-2" },
    });
    expect([hasChanged, updated]).toEqual([true, 2]);
  });
});

describe("a refresh of tokens", () => {
  it("works in sessions of another kind, too", async () => {
    const { shop, browser } = await expired();
    const { data } = (await shop.sessions.find(browser.cookies().get("session"), new Date())) ?? {};
    const updates: unknown[] = [];
    const own = { data, update: async (next: Data) => void updates.push(next) } as Session<Data>;
    const sessions: Sessions<Data> = { ...shop.sessions, optional: Dep.return(own) };
    const issuer = Oidc.issuer(shop.issuer.url, { clientId: "shop", http: shop.issuer });
    const token = Oidc.accessToken([issuer], sessions);
    const route = get(Path.root, { inputs: { token }, returns: Returns.text }, ({ token }) => token ?? "none");
    expect((await Test.call(Test.app([route]), "GET", "/")).body).toBe("access-2");
    expect(updates).toMatchObject([{ user: "ada", tokens: { refreshToken: "refresh-2" } }]);
  });

  it.each<readonly [what: string, ms: number, answers: Shop["issuer"]["answers"]]>([
    ["cannot be fetched", 400_000, { instead: { "/jwks": () => Promise.reject(new TypeError("fetch failed")) } }],
    ["is no JSON", 400_000, { instead: { "/jwks": () => new Response("<evil>") } }],
    ["is not among those just fetched", 0, { header: (all) => ({ ...all, kid: "two" }) }],
  ])("works when the key of the new ID token %s: the older ID token is kept", async (_what, ms, answers) => {
    holdClock();
    const { shop, browser, token, spent } = await expired();
    const id = browser.cookies().get("session");
    const before = await shop.sessions.find(id, new Date());
    pass(ms);
    shop.issuer.answers = { ...shop.issuer.answers, ...answers };
    expect([await token(), await token(), spent()]).toEqual(["access-2", "access-2", 1]);
    const found = await shop.sessions.find(id, new Date());
    const { idToken } = before?.data.tokens ?? {};
    expect(found?.data.tokens).toMatchObject({ refreshToken: "refresh-2", idToken });
  });
});

/** A shop with an issuer on a socket. The deadline of one request passes just before the issuer sends the second tokens. */
async function cutAtIssuer(target: (shop: Shop, browser: TestBrowser) => Promise<string>) {
  const [arrived, held] = [gate(), gate()];
  const { url } = await serverOfTest((request, response) => {
    const answer = async (): Promise<void> => {
      const body = new URLSearchParams(await text(request));
      if (request.url === "/token" && shop.issuer.count("/token") > 0) {
        arrived.open();
        await held.passed;
      }
      const given = await shop.issuer.fetch(`${url}${request.url}`, { body });
      response.writeHead(given.status, { "content-type": "application/json" }).end(await given.text());
    };
    void answer();
  });
  const shop = new Shop({ userInfo: true }, { http: HttpClient.make() }, url);
  const { browser, token, spent } = await expired({}, shop);
  const path = await target(shop, browser);
  const headers = { cookie: [...browser.cookies()].map((pair) => pair.join("=")).join("; ") };
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const cut = Test.call(Test.app(shop.routes, { deadline: Deadline.make(1000) }), "GET", path, { headers });
  await arrived.passed;
  vi.advanceTimersByTime(1100);
  const { status } = await cut;
  held.open();
  return { shop, browser, token, spent, status };
}

describe("the deadline of a request during a sign-in or a refresh", () => {
  it("does not end the refresh, whose tokens are available to the next request", async () => {
    const { token, spent, status } = await cutAtIssuer(async () => "/token");
    expect([status, await token(), spent()]).toEqual([503, "access-2", 1]);
  });

  it("ends a sign-in before the browser's old session is ended", async () => {
    const { shop, browser, status } = await cutAtIssuer(async (shop, browser) => {
      shop.issuer.answers = {};
      return shop.callback(await shop.begin(browser));
    });
    await expect.poll(() => shop.issuer.count("/me")).toBe(2);
    for (let i = 0; i < 100; i++) await turn();
    expect([status, (await browser.call("GET", "/")).body]).toEqual([503, "ada"]);
  });
});

it.each([
  ["ten minutes have passed", 600_001, 1],
  ["a thousand others were spent", 0, 1000],
])("an access token whose refresh token was refused is requested again when %s", async (_when, ms, others) => {
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
