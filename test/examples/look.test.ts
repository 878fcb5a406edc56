/** The orders example as a visitor sees it: by axe, on a telephone and a desk, in light and dark; its links lead somewhere. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { Dep, Openapi, Sessions } from "usher-http";
import type { Page } from "playwright-core";
import { about } from "../../examples/orders/about.ts";
import { sessionStore } from "../../examples/orders/clerks.ts";
import { pageFiles, sourceFiles } from "../../examples/orders/page-files.ts";
import { routes } from "../../examples/orders/routes.ts";
import { memoryStore, store } from "../../examples/orders/store.ts";
import { browser as chromium, looks, sharedBrowser } from "../support/browser.ts";
import { start } from "../support/node-server.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The example as `main.ts` serves it, with three orders, until the test ends. */
async function serveExample(): Promise<string> {
  const orders = memoryStore();
  const placed = ["pen", "ink", "a ruler of thirty centimetres"].map((item) => ({ item, quantity: 1200 }));
  await orders.placeAll(placed, new Date("2026-11-20T12:00:00Z"));
  const resources = [Dep.resource(store, orders), Dep.resource(sessionStore, Sessions.memory())];
  const all = [...routes, ...Openapi.docs(routes, about), ...pageFiles(), ...sourceFiles()];
  const { port } = await start(all, { resources });
  return `http://127.0.0.1:${port}`;
}

async function expectFaultless(page: Page): Promise<void> {
  const found = (await page.evaluate(`(async () => {
    const { violations } = await axe.run(document);
    return violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" "));
  })()`)) as string[];
  expect(found).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
}

describe.skipIf(chromium.isSkipped)(`the orders example${chromium.why}`, () => {
  it.each(looks)("has no accessibility fault that axe finds, signed in and out: %j", async ({ colorScheme, width }) => {
    const url = await serveExample();
    // The page's own policy runs no script of another.
    const context = await (
      await sharedBrowser()
    ).newContext({ colorScheme, viewport: { width, height: 900 }, bypassCSP: true });
    await context.addInitScript(axe);
    const page = await context.newPage();
    await page.goto(url);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByRole("cell", { name: "ink" }).waitFor();
    await expectFaultless(page);
    await page.getByRole("link", { name: "Sign in" }).click();
    await expectFaultless(page);
    const [name = "", password = ""] = await page.locator("code").allInnerTexts();
    await page.getByLabel("Name").fill(name);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Remove order 2" }).waitFor();
    await expectFaultless(page);
    // No word is broken into a column of letters.
    const heights = await page
      .locator("#live :is(time, td button)")
      .evaluateAll((all) => all.map((one) => (one as unknown as { readonly offsetHeight: number }).offsetHeight));
    expect(heights).toHaveLength(6);
    expect(Math.max(...heights)).toBeLessThan(30);
    await page.getByRole("link", { name: "the API documentation" }).click();
    await page.getByRole("heading", { name: "Orders", exact: true }).first().waitFor();
    await expectFaultless(page);
    await context.close();
  });

  it("shows the day of an order, and columns apart from each other", async () => {
    const context = await (
      await sharedBrowser()
    ).newContext({ viewport: { width: 375, height: 900 }, timezoneId: "Europe/Paris" });
    const page = await context.newPage();
    await page.goto(await serveExample());
    const times = page.locator("#live time");
    await times.first().waitFor();
    expect((await times.first().innerText()).replaceAll(/\s+/g, " ")).toBe("20 Nov 2026, 13:00:00");
    // The text of a cell is to the right of the cell before, or below it.
    const gaps = await page.evaluate(`[...document.querySelectorAll("#live tbody tr")].flatMap((row) =>
      [...row.cells].slice(1).map((cell, i) => {
        const [text, before] = [textOf(cell), textOf(row.cells[i])];
        return text.top < before.bottom ? text.left - before.right : 20;
      }));
      function textOf(cell) {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getBoundingClientRect();
      }`);
    expect(gaps).toHaveLength(9);
    expect(Math.min(...(gaps as number[]))).toBeGreaterThan(10);
    await context.close();
  });

  it("links to its documentation and to its source", async () => {
    const url = await serveExample();
    const pages = await Promise.all(["/", "/sign-in"].map(async (path) => (await fetch(`${url}${path}`)).text()));
    const links = new Set(pages.join("").match(/(?<=href=")\/[^"]+/g));
    expect([...links].filter((link) => link.startsWith("/source/"))).toHaveLength(5);
    for (const link of links) expect([link, (await fetch(`${url}${link}`)).status]).toEqual([link, 200]);
    expect(await (await fetch(`${url}/source/desk.ts`)).text()).toContain("export const desk = get(");
    for (const other of ["none.ts", ".data", "..%2f..%2fpackage.json"]) {
      expect((await fetch(`${url}/source/${other}`)).status).toBe(404);
    }
  });
});

describe("the API documentation of the orders example", () => {
  it("has only the API's routes, each in a tag with a short summary, and a description of each success", () => {
    const { paths } = Openapi.document(routes, about);
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item ?? {}).map(([method, operation]) => ({ path, method, ...(operation as Operation) })),
    );
    expect(operations.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "post /orders",
      "get /orders",
      "post /orders/import",
      "get /orders/feed",
      "get /orders/desk",
      "get /orders/{order_id}",
      "patch /orders/{order_id}",
      "delete /orders/{order_id}",
      "post /sign-in",
      "post /sign-out",
    ]);
    const names = about.tags.map(({ name }) => name);
    for (const { path, tags = [], summary = "", responses } of operations) {
      expect(names, path).toContain(tags[0]);
      expect(summary.length, summary).toBeGreaterThan(3);
      expect(summary.length, summary).toBeLessThan(33);
      const successes = Object.entries(responses).filter(([status]) => /^[23]/.test(status));
      for (const [, { description }] of successes) expect(description).toMatch(/^[A-Z].* .*\w\.$/);
    }
  });
});

interface Operation {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly responses: { readonly [status: string]: { readonly description: string } };
}
