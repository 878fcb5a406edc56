/** The page of the orders example in a real browser, with its script and without. */
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Dep } from "usher-http";
import type { Browser, Page } from "playwright-core";
import { maxBody } from "../../examples/orders/import.ts";
import { routes } from "../../examples/orders/routes.ts";
import { memoryStore, store } from "../../examples/orders/store.ts";
import { chromiumPath, startBrowser } from "../support/browser.ts";
import { start } from "../support/node-server.ts";

const right = join(import.meta.dirname, "../../examples/orders/orders.csv");
const wrong = join(import.meta.dirname, "../../examples/orders/wrong.csv");

describe.skipIf(chromiumPath === undefined)("the page to import orders with", { timeout: 60_000 }, () => {
  let browser: Browser;
  let url: string;
  beforeAll(async () => {
    browser = await startBrowser();
  }, 60_000);
  afterAll(() => browser.close());
  beforeEach(async () => {
    const resources = [Dep.resource(store, memoryStore())];
    url = `http://127.0.0.1:${(await start(routes, { maxBody, resources })).port}`;
  });

  /** A visit that ends with the test, and fails it where the page reports an error of its own. */
  async function visit(javaScriptEnabled: boolean, then: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ javaScriptEnabled });
    const errors: string[] = [];
    context.on("weberror", (error) => errors.push(String(error.error())));
    try {
      const page = await context.newPage();
      await page.goto(url);
      await then(page);
    } finally {
      await context.close();
    }
    expect(errors).toEqual([]);
  }

  async function send(page: Page, file: string): Promise<void> {
    await page.getByLabel("CSV file").setInputFiles(file);
    await page.getByRole("button", { name: "Place the orders" }).click();
  }

  async function orders(): Promise<unknown> {
    return (await fetch(`${url}/orders`)).json();
  }

  it("shows every wrong line, and then how many were placed", () =>
    visit(true, async (page) => {
      await send(page, wrong);
      await page.getByText("Nothing was placed: 3 things are wrong.").waitFor();
      const rows = await page.getByRole("row").allInnerTexts();
      expect(rows.map((row) => row.split("\t"))).toEqual([
        ["Line", "Column", "What is wrong"],
        ["3", "item", "This must be at least 1 character long."],
        ["3", "quantity", "This must be at least 1."],
        ["4", "quantity", "This is not a whole number."],
      ]);
      expect(await orders()).toEqual([]);

      await send(page, right);
      await page.getByText("2 orders were placed.").waitFor();
      expect(await page.getByRole("row").count()).toBe(0);
      expect(await orders()).toMatchObject([{ item: "pen" }, { item: "ruler, 30 cm" }]);
      expect(page.url()).toBe(`${url}/`);
    }));

  it("shows what is refused without a list", () =>
    visit(true, async (page) => {
      const buffer = Buffer.from("item,quantity\nunicorn,1\n");
      await page.getByLabel("CSV file").setInputFiles({ name: "orders.csv", mimeType: "text/csv", buffer });
      await page.getByRole("button", { name: "Place the orders" }).click();
      await page.getByText("Nothing was placed. There are no unicorns left.").waitFor();
    }));

  it("needs no script", () =>
    visit(false, async (page) => {
      await send(page, right);
      await page.waitForURL(`${url}/orders/import`);
      expect(await page.locator("body").innerText()).toBe('{"placed":2}');
      expect(await orders()).toHaveLength(2);
    }));
});
