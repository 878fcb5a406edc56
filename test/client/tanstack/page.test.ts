/** A page of React and TanStack Query, which Vite builds, in a real browser. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Files } from "usher-http/files";
import { browser as chromium, inTab } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { start } from "../../support/node-server.ts";
import { ordersOf } from "./routes.ts";

const root = join(import.meta.dirname, "../../..");

describe.skipIf(chromium.isSkipped)(`the page of orders${chromium.why}`, () => {
  let dist: string;
  beforeAll(async () => {
    dist = mkdtempSync(join(tmpdir(), "usher-tanstack-"));
    await build({
      root: join(import.meta.dirname, "page"),
      configFile: false,
      logLevel: "silent",
      resolve: {
        alias: {
          "usher-http/client": join(root, "src/client/index.ts"),
          "usher-http/tanstack-query": join(root, "adapters/tanstack-query/index.ts"),
        },
      },
      build: { outDir: dist, emptyOutDir: true, minify: false },
    });
  });
  afterAll(() => rmSync(dist, { recursive: true, force: true }));

  it("lists, pages, shows one, creates one, and shows refusals by their codes", async () => {
    const { routes, orders, asked } = ordersOf();
    for (const item of ["pen", "ink", "cap"]) orders.push({ id: orders.length + 1, item });
    const { port } = await start([...routes, ...Files.directory(dist, { index: "index.html" })]);
    await inTab(async (page) => {
      const errors: string[] = [];
      page.on("pageerror", (error) => errors.push(String(error)));
      const items = () => page.locator("li").allInnerTexts();
      await page.goto(`http://127.0.0.1:${port}/`);
      await page.getByText("No order is chosen.").waitFor();
      await eventually(async () => expect(await items()).toEqual(["pen", "ink"]));

      await page.getByRole("button", { name: "More" }).click();
      await eventually(async () => expect(await items()).toEqual(["pen", "ink", "cap"]));
      expect(await page.getByRole("button", { name: "More" }).count()).toBe(0);

      await page.getByRole("button", { name: "ink" }).click();
      await page.getByText("Order 2: ink").waitFor();
      await page.getByRole("button", { name: "An order that is not there" }).click();
      await page.getByText("None: There is no such order.").waitFor();
      // A refusal that stays is asked for once.
      expect(asked.filter((one) => one === "one 99")).toEqual(["one 99"]);

      const place = async (item: string): Promise<void> => {
        await page.getByLabel("Item").fill(item);
        await page.getByRole("button", { name: "Place" }).click();
      };
      await place("unicorn");
      await page.getByText("Sold out. There are no unicorns left.").waitFor();
      await place("");
      await page.getByText("body.item").waitFor();
      await place("nib");
      await eventually(async () => expect(await items()).toEqual(["pen", "ink", "cap", "nib"]));
      expect(await page.getByRole("alert").count()).toBe(0);
      expect(errors).toEqual([]);
    });
  });
});
