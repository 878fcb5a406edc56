/** The page of the orders example by the typed client: its script as a bundler makes it, in a real browser. */
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Answer, Client, Dep, Path, Returns, Sessions, get } from "usher-http";
import type { Browser, Page } from "playwright-core";
import { sessionStore } from "../../examples/orders/clerks.ts";
import { maxBody } from "../../examples/orders/import.ts";
import { routes } from "../../examples/orders/routes.ts";
import { memoryStore, store } from "../../examples/orders/store.ts";
import { chromiumPath, startBrowser } from "../support/browser.ts";
import { start } from "../support/node-server.ts";
import { Wire } from "../support/wire.ts";
import { eventually } from "../support/eventually.ts";

const examples = join(import.meta.dirname, "../../examples/orders");

describe.skipIf(chromiumPath === undefined)("the page by the typed client", { timeout: 60_000 }, () => {
  let browser: Browser;
  let script: string;
  beforeAll(async () => {
    browser = await startBrowser();
    script = await bundled();
  }, 60_000);
  afterAll(() => browser.close());

  /** The script a build would have made; the paths of tsconfig.json lead to the source. */
  async function bundled(): Promise<string> {
    const { outputFiles } = await build({
      entryPoints: [join(examples, "browser/main.ts")],
      bundle: true,
      minify: true,
      format: "esm",
      write: false,
    });
    return outputFiles[0]?.text ?? "";
  }

  /** The example, whose page has this script in place of its own two. */
  async function started(): Promise<number> {
    const own = ["/page-live.js", "/page-import.js"];
    const scripts = [script, ""].map((text, i) =>
      get(Path.of(own[i]!.slice(1)), { returns: Returns.response }, () =>
        Answer.make(text, { contentType: "text/javascript" }),
      ),
    );
    const others = routes.filter(({ pattern }) => !own.includes(pattern));
    return (
      await start([...others, ...scripts], {
        maxBody,
        resources: [Dep.resource(store, memoryStore()), Dep.resource(sessionStore, Sessions.memory())],
      })
    ).port;
  }

  async function visit(port: number, then: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext();
    const errors: string[] = [];
    context.on("weberror", (error) => errors.push(String(error.error())));
    try {
      const page = await context.newPage();
      await page.goto(`http://127.0.0.1:${port}`);
      await then(page);
    } finally {
      await context.close();
    }
    expect(errors).toEqual([]);
  }

  const shown = async (page: Page): Promise<string[]> => {
    const rows = await page.locator("#live tbody tr").allInnerTexts();
    return rows.map((row) => row.split("\t").slice(0, 3).join(" "));
  };

  it("has nothing of the server in it", () => {
    expect(script.length).toBeLessThan(10_000);
    expect(script).not.toMatch(/valibot|async_hooks|sold_out/);
  });

  it("shows orders as they come, over connections that are cut, and misses and doubles nothing", async () => {
    const port = await started();
    const wire = await Wire.to(port);
    const api = Client.of<typeof routes>({ baseUrl: `http://127.0.0.1:${port}` });
    const place = async (item: string): Promise<void> => {
      expect(await api["POST /orders"]({ json: { item, quantity: 2 } })).toMatchObject({ ok: true });
    };
    await place("first");
    await visit(wire.port, async (page) => {
      await page.getByText("Live", { exact: true }).waitFor();
      await eventually(async () => expect(await shown(page)).toEqual(["1 first 2"]));
      wire.cut();
      await place("<b>second</b>");
      wire.mend();
      await eventually(async () => expect(await shown(page)).toEqual(["2 <b>second</b> 2", "1 first 2"]));
      await api["PATCH /orders/{order_id}"]({ path: { order_id: 1 }, json: { quantity: 5 } });
      await eventually(async () => expect(await shown(page)).toEqual(["2 <b>second</b> 2", "1 first 5"]));
    });
  });

  it("imports a file, or shows every wrong line", async () => {
    await visit(await started(), async (page) => {
      await page.getByText("Live", { exact: true }).waitFor();
      const send = async (file: string): Promise<void> => {
        await page.getByLabel("CSV file").setInputFiles(join(examples, file));
        await page.getByRole("button", { name: "Place the orders" }).click();
      };
      await send("wrong.csv");
      await page.getByText("Nothing was placed: 3 things are wrong.").waitFor();
      const rows = await page.locator("#problems tbody tr").allInnerTexts();
      expect(rows.map((row) => row.split("\t").slice(0, 2).join(" "))).toEqual(["3 item", "3 quantity", "4 quantity"]);
      await send("orders.csv");
      await page.getByText("2 orders were placed.").waitFor();
      await eventually(async () => expect(await shown(page)).toEqual(["2 ruler, 30 cm 1", "1 pen 2"]));
    });
  });
});
