/** The page of the API document in a real browser: opened, an operation read, a request tried, and no other host asked. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Dep, Openapi, SecureHeaders, Sessions } from "usher-http";
import type { Browser, Page } from "playwright-core";
import { sessionStore } from "../../examples/orders/clerks.ts";
import { routes } from "../../examples/orders/routes.ts";
import { memoryStore, store } from "../../examples/orders/store.ts";
import { browser as chromium, startBrowser } from "../support/browser.ts";
import { start } from "../support/node-server.ts";
import "../support/logs.ts";

describe.skipIf(chromium.isSkipped)(`the page of the API document${chromium.why}`, { timeout: 300_000 }, () => {
  let browser: Browser;
  let url: string;
  beforeAll(async () => {
    browser = await startBrowser();
    const resources = [Dep.resource(store, memoryStore()), Dep.resource(sessionStore, Sessions.memory())];
    const docs = Openapi.docs(routes, { title: "Orders", version: "1" });
    url = `http://127.0.0.1:${(await start([...routes, ...docs], { resources, secureHeaders: SecureHeaders.make() })).port}`;
  }, 60_000);
  afterAll(() => browser.close());

  async function visit(then: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    context.setDefaultTimeout(30_000);
    const hosts = new Set<string>();
    const wrong: string[] = [];
    context.on("request", (request) => hosts.add(new URL(request.url()).origin));
    context.on("weberror", (error) => wrong.push(String(error.error())));
    context.on("console", (message) => {
      if (message.type() === "error") wrong.push(message.text());
    });
    try {
      const page = await context.newPage();
      await page.goto(`${url}/docs`);
      await then(page);
    } finally {
      await context.close();
    }
    expect(wrong).toEqual([]);
    expect([...hosts].filter((host) => host !== url && host !== "null")).toEqual([]);
  }

  it("is read, and a request is tried from it", () =>
    visit(async (page) => {
      await page.getByRole("heading", { name: "Orders" }).first().waitFor();

      await page.getByText("Remove an order").first().click();
      const remove = page.getByRole("region", { name: "Remove an order" });
      await remove.getByText("signed_out: Nobody is signed in.").waitFor();

      await page.getByText("Place an order").first().click();
      await page.getByRole("button", { name: "Test Request (post /orders)", exact: true }).click();
      await page
        .getByRole("button", { name: /^Send\b/ })
        .first()
        .click();
      await page.getByRole("link", { name: "201 Created" }).waitFor();
      const orders: unknown = await (await fetch(`${url}/orders`)).json();
      expect(orders).toMatchObject([{ id: 1, item: "pen", quantity: 2 }]);
    }));
});
