/** The requests of a sign-in to the issuer, and its result. */
import { describe, expect, it } from "vitest";
import { Dep, Meta, Openapi, Path, Rate, Refusal, Sessions, Test, refuse } from "usher-http";
import type { RateStore } from "usher-http";
import { Oidc } from "usher-http/oidc";
import { FakeIssuer, Shop, keys, session, shape } from "./fake-issuer.ts";
import { lines } from "../../support/logs.ts";

describe("a sign-in", () => {
  it("keeps its session and the used state in the stores of the request, where inputs give them", async () => {
    const [store, seen] = [Sessions.memory(), Rate.memory()];
    const taken: string[] = [];
    const counts: RateStore = { take: (key, ...given) => (taken.push(key), seen.take(key, ...given)) };
    const everybody = Dep.return("everybody");
    const limits = { shape, idleMs: 3_600_000, absoluteMs: 36_000_000 };
    const sessions = Sessions.make({ ...limits, store: Dep.map(everybody, () => store) });
    const shop = new Shop({ sessions, seen: Dep.map(everybody, () => counts) });
    const browser = shop.browser();
    const asked = await shop.begin(browser);
    expect((await browser.call("GET", shop.callback(asked))).status).toBe(303);
    expect(await session(store).find(browser.cookies().get("session"), new Date())).toMatchObject({
      data: { user: "ada" },
    });
    expect(taken).toEqual([`oidc ${asked.get("state")}`]);
    expect(seen.take(taken[0] ?? "", { intervalMs: 3_600_000, burst: 1 }, new Date())).toBeGreaterThan(0);
  });

  it("starts a session for the user of the ID token, and removes the attempt", async () => {
    const shop = new Shop();
    const browser = shop.browser();
    const answer = await shop.signIn(browser, "/sign-in?return_to=/orders?page=2");
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/orders?page=2"]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect((await browser.call("GET", "/")).body).toBe("ada");
    expect([...browser.cookies().keys()]).toEqual(["session"]);
    expect(Object.fromEntries(shop.issuer.sent)).toMatchObject({
      grant_type: "authorization_code",
      code: "c0de",
      redirect_uri: "https://shop.example/sign-in/callback",
      client_id: "shop",
    });
  });

  it("requests a code, with PKCE, a state and a nonce of 256 bits, and keeps the issuer's own parameters", async () => {
    const shop = new Shop({
      prompt: "login",
      maxAgeMs: 90_500,
      acr: ["gold", "silver"],
      parameters: { ui_locales: "fr" },
    });
    const asked = Object.fromEntries(await shop.begin(shop.browser()));
    const random: unknown = expect.stringMatching(/^[A-Za-z0-9_-]{43}$/);
    expect(asked).toEqual({
      keep: "1",
      ui_locales: "fr",
      response_type: "code",
      client_id: "shop",
      redirect_uri: "https://shop.example/sign-in/callback",
      scope: "openid",
      state: random,
      nonce: random,
      code_challenge: random,
      code_challenge_method: "S256",
      prompt: "login",
      max_age: "90",
      acr_values: "gold silver",
    });
    expect(new Set([asked["state"], asked["nonce"], asked["code_challenge"]]).size).toBe(3);
  });

  it("sends the verifier of the challenge, and the browser cannot read anything of the attempt", async () => {
    const shop = new Shop();
    const browser = shop.browser();
    const asked = await shop.begin(browser);
    const [name, value] = [...browser.cookies()][0] ?? ["", ""];
    expect(name).toMatch(/^oidc-[A-Za-z0-9_-]{8}$/);
    await browser.call("GET", shop.callback(asked));
    const verifier = shop.issuer.sent.get("code_verifier") ?? "";
    const hash = await crypto.subtle.digest("SHA-256", Buffer.from(verifier));
    expect(Buffer.from(hash).toString("base64url")).toBe(asked.get("code_challenge"));
    expect(Buffer.from(value, "base64url").toString("latin1")).not.toContain(verifier);
  });
});

const basic = (secret: string) => `Basic ${Buffer.from(`shop:${secret}`).toString("base64")}`;

describe("other functions of a sign-in", () => {
  it.each([
    ["basic", { clientSecret: "s3 cret:é, which is long" }, undefined, basic("s3+cret%3A%C3%A9%2C+which+is+long")],
    ["post", { clientSecret: "s3cret-of-the-shop", sendSecret: "post" as const }, "s3cret-of-the-shop", undefined],
  ])("sends the secret: %s", async (_how, options, inBody, inHeader) => {
    const shop = new Shop({}, options);
    let authorization: string | undefined;
    const fetch = shop.issuer.fetch.bind(shop.issuer);
    shop.issuer.fetch = (url, init) => {
      authorization = new Headers(init?.headers).get("authorization") ?? authorization;
      return fetch(url, init);
    };
    expect((await shop.signIn(shop.browser())).status).toBe(303);
    expect([shop.issuer.sent.get("client_secret") ?? undefined, authorization]).toEqual([inBody, inHeader]);
  });

  it.each(["body", "challenge"])("sends the next secret if the issuer refuses one in its %s", async (by) => {
    const [newest, old] = ["the newest secret 1", "the older secret 2"] as const;
    const sent: string[] = [];
    let accepted: string = old;
    const shop = new Shop({}, { clientSecret: [newest, old], sendSecret: "post" });
    const fetch = shop.issuer.fetch.bind(shop.issuer);
    shop.issuer.fetch = async (url, init) => {
      const secret = new URLSearchParams(init?.body as URLSearchParams).get("client_secret");
      if (secret !== null) sent.push(secret);
      if (secret === null || secret === accepted) return fetch(url, init);
      const headers: [string, string][] = by === "body" ? [] : [["www-authenticate", 'Basic realm="a"']];
      return Response.json({ error: "invalid_client" }, { status: 401, headers });
    };
    expect((await shop.signIn(shop.browser())).status).toBe(303);
    expect((await shop.signIn(shop.browser())).status).toBe(303);
    accepted = newest;
    expect((await shop.signIn(shop.browser())).status).toBe(303);
    expect(sent).toEqual([newest, old, old, old, newest]);
    accepted = "another one";
    expect((await shop.signIn(shop.browser())).status).toBe(503);
    expect(sent.slice(5)).toEqual([newest, old]);
  });

  it("reads the UserInfo endpoint on demand, only for the same user", async () => {
    const seen: unknown[] = [];
    const shop = new Shop({
      userInfo: true,
      onSignIn: ({ claims, userInfo }) => (seen.push(userInfo?.["email"]), { user: claims.sub }),
    });
    expect((await shop.signIn(shop.browser())).status).toBe(303);
    shop.issuer.answers = { claims: (all) => ({ ...all, sub: "eve" }) };
    expect((await shop.signIn(shop.browser())).status).toBe(400);
    expect(seen).toEqual(["ada@example.com"]);
  });

  it("is answered with a refusal of onSignIn, and starts no session", async () => {
    const stranger = Refusal.code("stranger", { status: 403, doc: "Not a customer." });
    const shop = new Shop({ onSignIn: () => refuse(stranger, "Who are you?"), refuses: [stranger] });
    const browser = shop.browser();
    const answer = await shop.signIn(browser);
    expect([answer.status, JSON.parse(answer.body)]).toEqual([403, { error: "stranger", message: "Who are you?" }]);
    expect(browser.cookies().has("session")).toBe(false);
  });

  it("ends the session that the browser had, and creates a new id", async () => {
    const shop = new Shop();
    const browser = shop.browser();
    await shop.signIn(browser);
    const before = browser.cookies().get("session");
    await shop.signIn(browser);
    expect(browser.cookies().get("session")).not.toBe(before);
    const copied = await Test.call(shop.app, "GET", "/", { headers: [["cookie", `session=${before}`]] });
    expect(copied.body).toBe("nobody");
  });
});

describe("the address to return to", () => {
  it.each(["/", "/orders", "/orders?page=2&q=a%20b#top", "/a//b", "/%2F%2Fevil.example", `/${"a".repeat(511)}`])(
    "may be %j",
    async (path) => {
      const shop = new Shop();
      const answer = await shop.signIn(
        shop.browser(),
        `/sign-in?${new URLSearchParams({ return_to: path }).toString()}`,
      );
      expect(answer.headers.get("location")).toBe(path);
      expect(new URL(path, "https://shop.example").origin).toBe("https://shop.example");
    },
  );

  it.each([
    "",
    "orders",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\/evil.example",
    "/orders\\..\\..",
    "/\t/evil.example",
    "/\n/evil.example",
    "\t//evil.example",
    " /orders",
    "/orders\r\nset-cookie: a=b",
    "/\u0000",
    "/é",
    "https://evil.example/",
    "https:/evil.example",
    "javascript:alert(1)",
    "/<script>",
    `/${"a".repeat(512)}`,
  ])("may not be %j", async (path) => {
    const shop = new Shop();
    const target = `/sign-in?${new URLSearchParams({ return_to: path }).toString()}`;
    const answer = await Test.call(shop.app, "GET", target);
    const message = "This must be a path of this site, like /orders.";
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([
      400,
      { error: "invalid", problems: [{ at: "query.return_to", code: "malformed", message }] },
    ]);
  });
});

describe("several sign-in attempts of one browser", () => {
  it("end in any order, each at its own address", async () => {
    const shop = new Shop();
    const browser = shop.browser();
    const asked: [URLSearchParams, string][] = [];
    for (const tab of [1, 2, 3]) {
      asked.push([await shop.begin(browser, `/sign-in?return_to=/tab/${tab}`), shop.issuer.nonce]);
    }
    const ends: (string | null)[] = [];
    for (const [parameters, nonce] of asked.toReversed()) {
      shop.issuer.nonce = nonce;
      ends.push((await browser.call("GET", shop.callback(parameters))).headers.get("location"));
    }
    expect(ends).toEqual(["/tab/3", "/tab/2", "/tab/1"]);
  });

  it("are limited to eight, and the newest stay", async () => {
    const shop = new Shop();
    const browser = shop.browser();
    let asked = new URLSearchParams();
    for (let i = 0; i < 100; i++) asked = await shop.begin(browser, `/sign-in?return_to=/${"a".repeat(500)}`);
    expect(browser.cookies().size).toBe(8);
    const length = [...browser.cookies()].map(([name, value]) => name.length + value.length + 3);
    expect(length.reduce((one, other) => one + other)).toBeLessThan(8192);
    expect((await browser.call("GET", shop.callback(asked))).status).toBe(303);
  });

  it("are removed after a burst, and no other cookie is", async () => {
    const shop = new Shop();
    const many = Array.from({ length: 100 }, (_, i) => `__Host-oidc-${String(i).padStart(8, "0")}=x`);
    const cookie = ["theme=dark", ...many, "__Host-oidc-other=x", "__Host-oidc-", "oidc-12345678=x"].join("; ");
    const answer = await Test.call(shop.app, "GET", "/sign-in", {
      headers: [
        ["cookie", cookie],
        ["host", "shop.example"],
      ],
    });
    const removed = answer.headers.getSetCookie().filter((line) => line.includes("Max-Age=0"));
    expect(removed.length).toBe(50);
    expect(removed[0]).toMatch(/^__Host-oidc-00000000=; Path=\/; HttpOnly; Secure/);
  });
});

describe("the sign-out", () => {
  it("ends the session here and sends the browser to the issuer, with the ID token as a hint", async () => {
    const shop = new Shop({ signedOut: "/bye" });
    const browser = shop.browser();
    await shop.signIn(browser);
    const id = browser.cookies().get("session") ?? "";
    const kept = await shop.sessions.find(id, new Date());
    const answer = await browser.call("POST", "/sign-out");
    const url = new URL(answer.headers.get("location") ?? "");
    expect([answer.status, url.origin + url.pathname]).toEqual([303, "https://issuer.example/end"]);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      id_token_hint: kept?.data.tokens?.idToken,
      client_id: "shop",
      post_logout_redirect_uri: "https://shop.example/bye",
    });
    expect(await shop.sessions.find(id, new Date())).toBeUndefined();
    expect((await browser.call("GET", "/")).body).toBe("nobody");
  });

  it("sends no hint that is not in the session, or is too long for a URL", async () => {
    const shop = new Shop({ onSignIn: ({ claims }) => ({ user: claims.sub }) });
    const browser = shop.browser();
    await shop.signIn(browser);
    expect((await browser.call("POST", "/sign-out")).headers.get("location")).not.toContain("hint");
    const other = new Shop();
    other.issuer.answers = { claims: (all) => ({ ...all, long: "a".repeat(6000) }) };
    const second = other.browser();
    await other.signIn(second);
    const location = (await second.call("POST", "/sign-out")).headers.get("location");
    expect(location).toMatch(/^https:\/\/issuer\.example\/end\?client_id=shop/);
  });

  it.each([
    ["nobody is signed in", false, {}],
    ["the issuer has no sign-out", true, { end_session_endpoint: undefined }],
    ["the issuer's sign-out is not https", true, { end_session_endpoint: "http://issuer.example/end" }],
    ["the issuer's sign-out is a script", true, { end_session_endpoint: "javascript:alert(1)" }],
  ])("does not redirect if %s", async (_why, isSignedIn, description) => {
    const shop = new Shop({ signedOut: "/bye" });
    shop.issuer.answers = { description };
    const browser = shop.browser();
    if (isSignedIn) await shop.signIn(browser);
    expect((await browser.call("POST", "/sign-out")).headers.get("location")).toBe("/bye");
    expect((await browser.call("GET", "/")).body).toBe("nobody");
  });

  it("ends the session here although the issuer is unreachable", async () => {
    const shop = new Shop({}, { freshMs: 1 });
    const browser = shop.browser();
    await shop.signIn(browser);
    const cookie = browser.cookies().get("session") ?? "";
    // Another process, which has not read the discovery document.
    const other = new Shop({ sessions: shop.sessions });
    other.issuer.answers = { instead: { "/.well-known/openid-configuration": () => Promise.reject(new TypeError()) } };
    const answer = await Test.call(other.app, "POST", "/sign-out", { headers: [["cookie", `session=${cookie}`]] });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/"]);
    expect((await browser.call("GET", "/")).body).toBe("nobody");
    const warning = lines().find(({ level }) => level === "warn");
    expect(warning?.["message"]).toBe("the user is signed out here, and not at the issuer, which is away");
  });
});

describe("several issuers", () => {
  const made = () => {
    const [google, corp] = [new FakeIssuer("https://google.example"), new FakeIssuer("https://corp.example/realm")];
    const sessions = session();
    const issuers = {
      google: Oidc.issuer(google.url, { clientId: "shop", http: google }),
      corp: Oidc.issuer("https://corp.example", { clientId: "shop", http: corp }),
    };
    const at = Path.of("account", "in");
    const routes = Oidc.routes(issuers, {
      origin: "https://shop.example",
      keys,
      sessions,
      at,
      signOutAt: Path.of("account", "out"),
      onSignIn: ({ issuer, claims, tokens }) => ({ user: `${claims.sub} of ${issuer}`, tokens }),
    });
    return { google, corp, routes, browser: Test.browser(Test.app(routes)), sessions };
  };

  it("have paths of their own, and the sign-out is at the issuer of the session", async () => {
    const { google, browser, routes, sessions } = made();
    expect(routes.map(({ method, pattern }) => `${method} ${pattern}`)).toEqual([
      "GET /account/in/google",
      "GET /account/in/google/callback",
      "GET /account/in/corp",
      "GET /account/in/corp/callback",
      "POST /account/out",
    ]);
    const asked = new URL((await browser.call("GET", "/account/in/google")).headers.get("location") ?? "").searchParams;
    google.nonce = asked.get("nonce") ?? "";
    const parameters = { state: asked.get("state") ?? "", code: "c", iss: google.url };
    const target = `/account/in/google/callback?${new URLSearchParams(parameters).toString()}`;
    expect((await browser.call("GET", target)).status).toBe(303);
    const found = await sessions.find(browser.cookies().get("session"), new Date());
    expect(found?.data.user).toBe("ada of google");
    expect((await browser.call("POST", "/account/out")).headers.get("location")).toMatch(/^https:\/\/google\.example/);
  });

  it.each([
    ["holds no tokens", undefined],
    ["is of one that the app no longer has", "https://old.example"],
  ])("have no sign-out for a session that %s", async (_what, issuer) => {
    const { routes, sessions } = made();
    const shop = new Shop(
      { sessions, ...(issuer === undefined ? { onSignIn: () => ({ user: "ada" }) } : {}) },
      {},
      issuer,
    );
    const browser = shop.browser();
    await shop.signIn(browser);
    const cookie = `session=${browser.cookies().get("session")}`;
    const answer = await Test.call(Test.app(routes), "POST", "/account/out", { headers: { cookie } });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/"]);
    expect(await sessions.find(browser.cookies().get("session"), new Date())).toBeUndefined();
  });

  it("do not accept each other's answers", async () => {
    const { google, corp, browser } = made();
    corp.answers = { description: { issuer: "https://corp.example" } };
    const asked = new URL((await browser.call("GET", "/account/in/google")).headers.get("location") ?? "").searchParams;
    for (const iss of [google.url, corp.url]) {
      const parameters = { state: asked.get("state") ?? "", code: "c", iss };
      const target = `/account/in/corp/callback?${new URLSearchParams(parameters).toString()}`;
      expect((await browser.call("GET", target)).status).toBe(400);
    }
    expect([...google.calls, ...corp.calls].filter((path) => path === "/token")).toEqual([]);
  });
});

it("is described in the API document, or hidden", () => {
  const { routes } = new Shop();
  const all = JSON.parse(JSON.stringify(Openapi.document(routes, { title: "Shop", version: "1" }))) as {
    paths: { [path: string]: { get?: { responses: object } } };
  };
  expect(Object.keys(all.paths["/sign-in/callback"]?.get?.responses ?? {})).toEqual([
    "303",
    "400",
    "403",
    "500",
    "503",
  ]);
  const hidden = Openapi.document(Meta.onAll(routes, Meta.hidden, true), { title: "Shop", version: "1" });
  expect(JSON.stringify(hidden)).not.toContain("sign-in");
});
