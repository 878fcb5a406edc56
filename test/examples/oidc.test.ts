/** `examples/oidc.ts` at the issuer `oidc-provider`, with a browser that is a jar of cookies, and with Chromium. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startProvider } from "../adapters/oidc/provider.ts";
import type { RunningProvider } from "../adapters/oidc/provider.ts";
import { startProgram } from "../package/start-example.ts";
import type { RunningExample } from "../package/start-example.ts";
import { Agent } from "../support/agent.ts";
import { browser as chromium, sharedBrowser } from "../support/browser.ts";

// The issuer has to know the port before the example listens. No client gets one of these: they begin at 32768.
const port = 20_000 + (process.pid % 10_000);
const shop = `http://127.0.0.1:${port}`;
let provider: RunningProvider;
let example: RunningExample;

beforeAll(async () => {
  provider = await startProvider(shop);
  example = await startProgram([process.execPath, join(import.meta.dirname, "../../dist/examples/oidc.js")], {
    PORT: String(port),
    ORIGIN: shop,
    ISSUER: provider.url,
    CLIENT_SECRET: provider.secret,
  });
});
afterAll(async () => {
  await example.stop();
  await provider.close();
});

it("signs in, refreshes once for ten requests, and signs out here and at the issuer", async () => {
  const agent = new Agent();
  const consent = await agent.send(await agent.open(`${shop}/sign-in`), { login: "ada", password: "any" });
  const home = await agent.send(consent, {});
  expect(home.url.href).toBe(`${shop}/`);
  expect(home.text).toContain("<h1>Hello, ada@example.com</h1>");
  // A refresh token that is spent twice ends the whole grant at this issuer.
  const answers = await Promise.all(Array.from({ length: 10 }, () => agent.fetch(`${shop}/me`)));
  expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(
    Array.from({ length: 10 }, () => '{"sub":"ada","email":"ada@example.com"}'),
  );
  expect(provider.refreshes()).toBe(1);
  expect((await agent.fetch(`${shop}/me`)).status).toBe(200);
  const confirm = await agent.open(`${shop}/sign-out`, { method: "POST" });
  expect(confirm.url.origin).toBe(provider.url);
  const end = await agent.send(confirm, { logout: "yes" });
  expect([end.url.href, end.text.includes("<h1>Welcome</h1>")]).toEqual([`${shop}/`, true]);
  expect((await agent.fetch(`${shop}/me`)).status).toBe(401);
  // Signed out at the issuer too, so it asks for a name again.
  expect((await agent.open(`${shop}/sign-in`)).text).toContain('name="login"');
});

it("answers a user who cancels with its own message", async () => {
  const agent = new Agent();
  const { url } = await agent.open(`${shop}/sign-in`);
  const cancelled = await agent.open(new URL(`${url.pathname}/abort`, url));
  expect([cancelled.url.origin, JSON.parse(cancelled.text)]).toEqual([
    shop,
    { error: "sign_in_refused", message: "That sign-in was cancelled, or is not allowed." },
  ]);
});

describe.skipIf(chromium.isSkipped)(`in Chromium${chromium.why}`, () => {
  it("signs in, in two tabs at once, and out again", async () => {
    const context = await (await sharedBrowser()).newContext({ viewport: { width: 700, height: 420 } });
    // The issuer's pages ask for a font of another host.
    await context.route(/fonts/, (route) => route.abort());
    const [one, two] = [await context.newPage(), await context.newPage()];
    for (const page of [one, two]) {
      await page.goto(shop);
      await page.getByRole("link", { name: "Sign in" }).click();
      await page.getByPlaceholder("Enter any login").waitFor();
    }
    for (const page of [one, two]) {
      await page.getByPlaceholder("Enter any login").fill("ada");
      await page.getByPlaceholder("and password").fill("any");
      await page.getByRole("button", { name: "Sign-in" }).click();
      await page.getByRole("button", { name: "Continue" }).or(page.getByText("Hello")).waitFor();
      if (page.url().startsWith(provider.url)) await page.getByRole("button", { name: "Continue" }).click();
      await page.getByText("Hello, ada@example.com").waitFor();
    }
    expect((await context.cookies(shop)).map(({ name }) => name)).toEqual(["session"]);
    if (process.env["SCREENSHOT"] !== undefined) await one.screenshot({ path: process.env["SCREENSHOT"] });
    await one.getByRole("button", { name: "Sign out" }).click();
    await one.getByRole("button", { name: "Yes, sign me out" }).click();
    await one.getByText("Welcome").waitFor();
    expect(one.url()).toBe(`${shop}/`);
    await two.goto(shop);
    expect(await two.getByRole("heading").innerText()).toBe("Welcome");
    await context.close();
  });
});
