/** Refreshes at an issuer that lies, or that is busy: how often it is called, and what it is sent. */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { TestBrowser } from "usher-http";
import { Shop } from "./fake-issuer.ts";
import { played } from "../../models/seeds.ts";
import { logged } from "../../support/logs.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-23T12:00:00Z") }));
afterEach(() => void vi.useRealTimers());
const pass = (ms: number): void => void vi.setSystemTime(Date.now() + ms);

/** A body that ends before its time. */
function cutShort(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.error(new TypeError("terminated")) });
}
const busy = (status: number, after?: string) => () =>
  new Response("<evil>", { status, headers: after === undefined ? {} : { "retry-after": after } });
const refusal =
  (name: string, status = 400) =>
  () =>
    Response.json({ error: name }, { status });
const rejection = (name: string, code?: string) => (): Promise<never> =>
  Promise.reject(Object.assign(new TypeError("evil", { cause: { code } }), { name }));
const dateIn = (ms: number): string => new Date(Date.now() + ms).toUTCString();

/** How an issuer may fail, and whether it has taken the refresh token. */
const lies: { readonly [name: string]: readonly [isTaken: boolean, lie: () => Response | Promise<Response>] } = {
  "429": [false, busy(429)],
  "429 for a minute": [false, busy(429, "60")],
  "429 until a date": [false, () => busy(429, dateIn(60_000))()],
  "429 until a date that has passed": [false, () => busy(429, dateIn(-60_000))()],
  "429 for a year": [false, busy(429, "31536000")],
  "429 with nonsense": [false, busy(429, "-1")],
  "503": [false, busy(503)],
  "503 for a minute": [false, busy(503, "60")],
  "a redirect": [false, () => Response.redirect("https://evil.example/", 307)],
  invalid_client: [false, refusal("invalid_client", 401)],
  invalid_request: [false, refusal("invalid_request")],
  "no connection": [false, rejection("TypeError", "ECONNREFUSED")],
  "a time-out": [true, rejection("TimeoutError")],
  "a connection that is closed": [true, rejection("TypeError", "ECONNRESET")],
  "an answer that is cut": [true, () => new Response(cutShort(), { headers: { "content-type": "application/json" } })],
  HTML: [true, () => new Response("<evil>", { headers: { "content-type": "text/html" } })],
  "no JSON": [true, () => new Response("{", { headers: { "content-type": "application/json" } })],
  "an empty object": [true, () => Response.json({})],
  "a list": [true, () => Response.json([])],
  "a token of a number": [true, () => Response.json({ access_token: 1, token_type: "Bearer" })],
  "500": [true, busy(500)],
  "502": [true, busy(502)],
};

/** A shop of several users whose access tokens have expired, and what its issuer is sent. */
async function shopOf(users: number, options: { readonly rotates?: boolean } = {}) {
  const sent: { readonly token: string; readonly at: number }[] = [];
  const [spent, open] = [new Set<string>(), new Set<string>()];
  const faults: string[] = [];
  const issuer = { lie: "" };
  const http = {
    async fetch(input: string | URL, init?: RequestInit): Promise<Response> {
      const token = new URLSearchParams(init?.body as URLSearchParams | undefined).get("refresh_token");
      if (token === null) return shop.issuer.fetch(input, init);
      sent.push({ token, at: Date.now() });
      if (spent.has(token)) faults.push(`${token} is sent once more`);
      if (open.has(token)) faults.push(`${token} is sent twice at once`);
      open.add(token);
      const [isTaken, lie] = lies[issuer.lie] ?? [true, () => shop.issuer.fetch(input, init)];
      if (isTaken && options.rotates !== false) spent.add(token);
      // Others arrive meanwhile.
      for (let i = 0; i < 3; i++) await new Promise(setImmediate);
      open.delete(token);
      return lie();
    },
  };
  const shop: Shop = new Shop({}, { http, ...options });
  shop.issuer.answers = { token: { expires_in: 1 } };
  const browsers: TestBrowser[] = [];
  for (let i = 0; i < users; i++) {
    const browser = shop.browser();
    await shop.signIn(browser);
    browsers.push(browser);
  }
  shop.issuer.answers = { token: { expires_in: 1 }, claims: (all) => ({ ...all, nonce: undefined }) };
  return { shop, browsers, sent, faults, issuer };
}

/** The answers of five loops of one user, which ask again at once for three seconds. */
async function loops(browser: TestBrowser): Promise<readonly (readonly [status: number, after: string | null])[]> {
  const answers: (readonly [number, string | null])[] = [];
  for (let ms = 0; ms < 3000; ms += 50) {
    for (const { status, headers } of await Promise.all(
      Array.from({ length: 5 }, () => browser.call("GET", "/token")),
    )) {
      answers.push([status, headers.get("retry-after")]);
    }
    pass(50);
  }
  return answers;
}

describe("an issuer that fails is called few times by five loops of one user:", () => {
  it.each(Object.keys(lies))("%s", async (name) => {
    const { browsers, sent, faults, issuer } = await shopOf(1);
    issuer.lie = name;
    const [browser] = browsers as [TestBrowser];
    const answers = await loops(browser);
    const [isTaken] = lies[name] ?? [];
    // At 0 and 1 second, and next at 3.
    const most = isTaken === true || /minute|until a date$|year/.test(name) ? 1 : 2;
    expect([sent.length, faults]).toEqual([most, []]);
    const [first] = answers;
    expect(first).toEqual([503, expect.stringMatching(/^[1-9]\d*$/)]);
    expect(new Set(answers.map(([status]) => status))).toEqual(new Set(isTaken === true ? [503, 200] : [503]));
    expect(logged().join("")).not.toContain("evil");
  });

  it("and again once it has rested for its Retry-After, but no longer than five minutes", async () => {
    const { browsers, sent, issuer } = await shopOf(2);
    const [one, other] = browsers as [TestBrowser, TestBrowser];
    issuer.lie = "429 for a minute";
    const after = async (browser: TestBrowser) => (await browser.call("GET", "/token")).headers.get("retry-after");
    expect([await after(one), await after(other), sent.length]).toEqual(["60", "60", 1]);
    pass(59_000);
    expect([await after(one), await after(other), sent.length]).toEqual(["1", "1", 1]);
    issuer.lie = "429 for a year";
    pass(1000);
    expect([await after(one), await after(other), sent.length]).toEqual(["300", "300", 2]);
    issuer.lie = "";
    pass(300_000);
    const statuses = await Promise.all(
      [one, other].map(async (browser) => (await browser.call("GET", "/token")).status),
    );
    // One of them tries, and the other gets a 503.
    expect([statuses.toSorted((a, b) => a - b), sent.length]).toEqual([[200, 503], 3]);
    expect((await one.call("GET", "/token")).status).toBe(200);
    expect((await other.call("GET", "/token")).status).toBe(200);
  });

  it("and is sent a refresh token again after a lost answer where it does not rotate them", async () => {
    const { browsers, sent, issuer } = await shopOf(1, { rotates: false });
    const [browser] = browsers as [TestBrowser];
    issuer.lie = "an answer that is cut";
    expect((await browser.call("GET", "/token")).status).toBe(503);
    issuer.lie = "";
    expect((await browser.call("GET", "/token")).status).toBe(503);
    pass(1000);
    expect((await browser.call("GET", "/token")).body).toMatch(/^access-/);
    expect(new Set(sent.map(({ token }) => token)).size).toBe(1);
  });
});

it("a refresh token whose answer was lost is removed from the session, so that no other process sends it", async () => {
  const { shop, browsers, issuer } = await shopOf(1);
  const [browser] = browsers as [TestBrowser];
  issuer.lie = "a time-out";
  expect((await browser.call("GET", "/token")).status).toBe(503);
  const found = await shop.sessions.find(browser.cookies().get("session"), new Date());
  expect(found?.data.tokens).toMatchObject({ accessToken: "access-1" });
  expect(found?.data.tokens?.refreshToken).toBeUndefined();
  expect(await browser.call("GET", "/token")).toMatchObject({ status: 200, body: "none" });
});

/** The most calls within a minute. */
function mostInMinute(times: readonly number[]): number {
  return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + 60_000).length));
}

it("an issuer that lies at random gets no refresh token twice after it may have taken it, and few calls", async () => {
  const step = fc.record({
    lie: fc.constantFrom("", "", ...Object.keys(lies)),
    asks: fc.array(fc.nat(2), { minLength: 1, maxLength: 12 }),
    ms: fc.constantFrom(0, 10, 500, 1000, 5000, 20_000, 61_000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
      const { browsers, sent, faults, issuer } = await shopOf(3);
      const failed: number[] = [];
      for (const { lie, asks, ms } of steps) {
        issuer.lie = lie;
        const before = sent.length;
        const answers = await Promise.all(asks.map((user) => (browsers[user] as TestBrowser).call("GET", "/token")));
        if (lie !== "") failed.push(...sent.slice(before).map(({ at }) => at));
        for (const { status, body, headers } of answers) {
          if (status === 200) expect(body).toMatch(/^(access-\d+|none)$/);
          else expect([status, Number(headers.get("retry-after")) >= 1]).toEqual([503, true]);
        }
        pass(ms);
      }
      expect(faults).toEqual([]);
      // After each success a failure rests a second alone; three users may fail at once before the first rest.
      expect(mostInMinute(failed)).toBeLessThanOrEqual(60);
      for (const token of new Set(sent.map((one) => one.token))) {
        const times = sent.filter((one) => one.token === token).map(({ at }) => at);
        expect(mostInMinute(times)).toBeLessThanOrEqual(7);
      }
    }),
    played(60),
  );
});

describe("the first sign-in that fails tells how long the issuer rests", () => {
  const json = (status: number, after?: string) => () =>
    Response.json({ error: "slow_down" }, { status, headers: after === undefined ? {} : { "retry-after": after } });
  const discovery = "/.well-known/openid-configuration";
  const places = ["/token", "/jwks", "/me", discovery] as const;
  const rows = places.flatMap((place) => [
    [place, "429 for a minute", busy(429, "60"), "60"] as const,
    [place, "429 for a minute, with JSON", json(429, "60"), "60"] as const,
    [place, "503 until a date", () => busy(503, dateIn(90_000))(), "90"] as const,
    [place, "429 for a year", json(429, "31536000"), "300"] as const,
    [place, "503 without Retry-After", json(503), "1"] as const,
  ]);

  it.each(rows)("%s: %s", async (place, _what, lie, expected) => {
    const shop: Shop = new Shop(
      { userInfo: true },
      {
        http: {
          async fetch(input: string | URL, init?: RequestInit): Promise<Response> {
            return new URL(input).pathname.endsWith(place) ? lie() : shop.issuer.fetch(input, init);
          },
        },
      },
    );
    const browser = shop.browser();
    const { status, headers } = await (place === discovery ? browser.call("GET", "/sign-in") : shop.signIn(browser));
    expect([status, headers.get("retry-after")]).toEqual([503, expected]);
    expect(logged().join("")).not.toContain("evil");
  });
});
