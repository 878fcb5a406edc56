/** Clerks of the orders example: they sign in with a form, remove orders and sign out (contract 5; rows SE, SK, RL). */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { Dep, SecureHeaders, Sessions, Test } from "usher-http";
import { sessionStore } from "../../examples/orders/clerks.ts";
import { pageFiles } from "../../examples/orders/page-files.ts";
import { routes } from "../../examples/orders/routes.ts";
import { memoryStore, store } from "../../examples/orders/store.ts";
import { startExample } from "../package/start-example.ts";
import { browser as chromium, inTab } from "../support/browser.ts";
import { logged } from "../support/logs.ts";
import { start } from "../support/node-server.ts";

const options = () => ({
  resources: [Dep.resource(store, memoryStore()), Dep.resource(sessionStore, Sessions.memory())],
  secureHeaders: SecureHeaders.make(),
});
const login = (password = "demo", name = "clerk") => ({ body: new URLSearchParams({ name, password }) });
const signedOut = '{"error":"signed_out","message":"Please sign in."}';

describe("a clerk", () => {
  let app: Test.TestApp;
  let browser: Test.TestBrowser;
  beforeEach(async () => {
    app = Test.app(routes, options());
    browser = Test.browser(app);
    await browser.call("POST", "/orders", { body: { item: "pen", quantity: 1 } });
  });

  it("signs in, removes an order and signs out", async () => {
    expect(await browser.call("DELETE", "/orders/1")).toMatchObject({ status: 401, body: signedOut });
    const { status, headers } = await browser.call("POST", "/sign-in", login());
    expect([status, headers.get("location")]).toEqual([303, "/"]);
    expect((await browser.call("GET", "/")).body).toContain("Signed in as clerk.");
    expect((await browser.call("DELETE", "/orders/1")).status).toBe(204);
    const copy = browser.cookies().get("session");
    expect((await browser.call("POST", "/sign-out")).status).toBe(303);
    expect([...browser.cookies().keys()]).toEqual(["last_clerk"]);
    expect((await browser.call("GET", "/")).body).not.toContain("Signed in");
    const headersOfCopy = { cookie: `session=${copy}` };
    expect(await Test.call(app, "DELETE", "/orders/1", { headers: headersOfCopy })).toMatchObject({ body: signedOut });
  });

  it("is also every client that sends the token", async () => {
    const by = async (authorization: string) =>
      (await Test.call(app, "DELETE", "/orders/1", { headers: { authorization } })).status;
    expect([await by("Bearer wrong"), await by("Basic ZGVtbw=="), await by("Bearer demo")]).toEqual([401, 401, 204]);
  });

  it.each([
    ["another password", login("Demo")],
    ["no clerk", login("demo", "nobody")],
    ["no clerk, and what a page must not run", login("demo", '"><script>')],
  ])("is not signed in with %s, and the page shows it", async (_what, wrong) => {
    const { status, body } = await browser.call("POST", "/sign-in", wrong);
    expect(status).toBe(403);
    expect(body).toContain("The name or the password is wrong.");
    expect(body).not.toContain("<script>");
    expect(browser.cookies().size).toBe(0);
    expect(logged().join()).not.toMatch(/Demo|script/);
  });

  it("cannot be signed in by another site's page", async () => {
    const headers = { origin: "https://evil.example" };
    expect((await browser.call("POST", "/sign-in", { ...login(), headers })).status).toBe(403);
    await browser.call("POST", "/sign-in", login());
    expect((await browser.call("DELETE", "/orders/1", { headers })).status).toBe(403);
    expect((await browser.call("POST", "/sign-out", { headers })).status).toBe(403);
    expect((await browser.call("DELETE", "/orders/1")).status).toBe(204);
  });

  it("can guess ten times a minute and no more", async () => {
    const now = new Date();
    const guess = (peer: string) => Test.call(app, "POST", "/sign-in", { ...login("x", "nobody"), now, peer });
    // One after the other: a guess that waits 30 seconds for its turn is refused with 503.
    const statuses: number[] = [];
    for (let i = 0; i < 11; i++) statuses.push((await guess("192.0.2.77")).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 403), 429]);
    expect((await guess("192.0.2.78")).status).toBe(403);
  });

  it("is signed out after half an hour without a request", async () => {
    const begin = Date.now();
    const at = (minutes: number) => ({ now: new Date(begin + minutes * 60_000), peer: "192.0.2.79" });
    await browser.call("POST", "/sign-in", { ...login(), ...at(0) });
    expect((await browser.call("GET", "/", at(29))).body).toContain("Signed in");
    expect((await browser.call("GET", "/", at(60))).body).not.toContain("Signed in");
  });
});

describe("a change of keys, and a restart of the process", () => {
  const [old, fresh] = ["an-old-secret-of-thirty-two-bytes-or-more", "a-fresh-secret-of-thirty-two-bytes-or-more"];
  const data = mkdtempSync(join(tmpdir(), "usher-clerks-"));
  afterAll(() => rmSync(data, { recursive: true, force: true }));

  /** What the example asks for and gives, when it runs with those keys over the same database. */
  async function running<A>(keys: string, ask: (url: string) => Promise<A>): Promise<A> {
    const example = await startExample("orders", { ORDERS_KEYS: keys, DATA_DIR: data });
    try {
      return await ask(example.url);
    } finally {
      await example.stop();
    }
  }

  it("signs no user out, and the name is kept as long as its key", async () => {
    const cookie = await running(old, async (url) => {
      const answer = await fetch(`${url}/sign-in`, { method: "POST", redirect: "manual", ...login() });
      return answer.headers
        .getSetCookie()
        .map((line) => line.split(";")[0])
        .join("; ");
    });
    expect(cookie).toMatch(/^session=[\w-]{22}; last_clerk=\d+\.[\w-]+\.[\w-]+$/);
    const asked = async (url: string): Promise<readonly [page: string, signIn: string]> => {
      const pages = ["/", "/sign-in"].map(async (path) => (await fetch(url + path, { headers: { cookie } })).text());
      const [page = "", signIn = ""] = await Promise.all(pages);
      return [page, signIn];
    };
    const [page, signIn] = await running(`${fresh} ${old}`, asked);
    expect(page).toContain("Signed in as clerk.");
    expect(signIn).toContain('value="clerk"');
    const [pageAfter, signInAfter] = await running(fresh, async (url) => {
      const pages = await asked(url);
      await fetch(`${url}/sign-out`, { method: "POST", headers: { cookie } });
      expect((await asked(url))[0]).not.toContain("Signed in");
      return pages;
    });
    expect(pageAfter).toContain("Signed in as clerk.");
    expect(signInAfter).toContain('value=""');
  });
});

describe.skipIf(chromium.isSkipped)(`in a browser${chromium.why}`, () => {
  it("a clerk signs in, removes an order in the list and signs out, under the strict policy", () =>
    inTab(async (page) => {
      const url = `http://127.0.0.1:${(await start([...routes, ...pageFiles()], options())).port}`;
      const errors: string[] = [];
      page.on("pageerror", (error) => errors.push(String(error)));
      page.on("console", (message) => {
        if (message.type() === "error") errors.push(message.text());
      });
      for (const item of ["pen", "ruler"]) {
        await fetch(`${url}/orders`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ item, quantity: 1 }),
        });
      }
      await page.goto(url);
      await page.getByRole("link", { name: "Sign in" }).click();
      await page.getByLabel("Name").fill("clerk");
      await page.getByLabel("Password").fill("demo");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText("Signed in as clerk.").waitFor();
      await page.getByRole("button", { name: "Remove order 1" }).click();
      await page.getByRole("cell", { name: "pen" }).waitFor({ state: "detached" });
      expect(await (await fetch(`${url}/orders`)).json()).toMatchObject([{ item: "ruler" }]);
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("link", { name: "Sign in" }).waitFor();
      expect(await page.getByRole("button", { name: "Remove order 2" }).count()).toBe(0);
      await page.getByRole("link", { name: "Sign in" }).click();
      expect(await page.getByLabel("Name").inputValue()).toBe("clerk");
      expect(errors).toEqual([]);
    }));
});
