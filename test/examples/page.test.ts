/** The page of the orders example in a real browser: by the typed client, as `npm start` bundles it, and without a script. */
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { Dep, Sessions, Test } from "usher-http";
import type { BrowserContextOptions, Page, Route } from "playwright-core";
import { maxBody } from "../../examples/orders/import.ts";
import { sessionStore } from "../../examples/orders/clerks.ts";
import { pageFiles } from "../../examples/orders/page-files.ts";
import { routes } from "../../examples/orders/routes.ts";
import { memoryStore, store } from "../../examples/orders/store.ts";
import { browser as chromium, inTab, sharedBrowser } from "../support/browser.ts";
import { start } from "../support/node-server.ts";
import { Wire } from "../support/wire.ts";
import { lines, logWith } from "../support/logs.ts";
import { eventually } from "../support/eventually.ts";

const right = join(import.meta.dirname, "../../examples/orders/orders.csv");
const wrong = join(import.meta.dirname, "../../examples/orders/wrong.csv");

const script = pageFiles();

describe("the script of the page", () => {
  it("is served as a script, and revalidated at each use", async () => {
    const answered = await Test.call(Test.app(script), "GET", "/assets/page.js");
    expect([answered.status, answered.headers.get("content-type"), answered.headers.get("cache-control")]).toEqual([
      200,
      "text/javascript; charset=utf-8",
      "no-cache",
    ]);
  });

  it("contains the typed client, and nothing of the server", async () => {
    const { body } = await Test.call(Test.app(script), "GET", "/assets/page.js");
    expect(body).toContain("last-event-id");
    expect(body).not.toMatch(/valibot|async_hooks|sold_out/);
    // It places orders, shows them, and imports files.
    expect(body.length).toBeLessThan(22_000);
  });
});

describe.skipIf(chromium.isSkipped)(`the page${chromium.why}`, () => {
  let port: number;
  let url: string;
  beforeEach(async () => {
    const resources = [Dep.resource(store, memoryStore()), Dep.resource(sessionStore, Sessions.memory())];
    ({ port } = await start([...routes, ...script], { maxBody, resources }));
    url = `http://127.0.0.1:${port}`;
  });

  /** A visit that ends with the test, and fails it where the page reports an error of its own. */
  async function visit(then: (page: Page) => Promise<void>, at: string = url): Promise<void> {
    await inTab((page) => visitIn(page, then, at));
  }

  /** The same in a context of its own. */
  async function visitApart(
    options: BrowserContextOptions,
    then: (page: Page) => Promise<void>,
    at: string = url,
  ): Promise<void> {
    const context = await (await sharedBrowser()).newContext(options);
    try {
      await visitIn(await context.newPage(), then, at);
    } finally {
      await context.close();
    }
  }

  async function visitIn(page: Page, then: (page: Page) => Promise<void>, at: string): Promise<void> {
    const errors: string[] = [];
    page.context().on("weberror", (error) => errors.push(String(error.error())));
    await page.goto(at);
    await then(page);
    // What the page does as it is left may be wrong, too.
    await page.goto("about:blank");
    expect(errors).toEqual([]);
  }

  async function send(page: Page, file: string): Promise<void> {
    await page.getByLabel("CSV file").setInputFiles(file);
    await page.getByRole("button", { name: "Place the orders" }).click();
  }

  async function place(item: string): Promise<void> {
    const body = JSON.stringify({ item, quantity: 2 });
    await fetch(`${url}/orders`, { method: "POST", headers: { "content-type": "application/json" }, body });
  }

  /** The newest orders as the page shows them, without their times. */
  async function shown(page: Page): Promise<string[]> {
    const rows = await page.locator("#live tbody tr").allInnerTexts();
    return rows.map((row) => row.split("\t").slice(0, 3).join(" "));
  }

  async function orders(): Promise<unknown> {
    return (await fetch(`${url}/orders`)).json();
  }

  it("shows every wrong line, and then the number of created orders", () =>
    visit(async (page) => {
      await send(page, wrong);
      await page.getByText("Nothing was placed: 3 things are wrong.").waitFor();
      const rows = await page.locator("#problems tr").allInnerTexts();
      expect(rows.map((row) => row.split("\t"))).toEqual([
        ["Line", "Column", "What is wrong"],
        ["3", "item", "This must be at least 1 character long."],
        ["3", "quantity", "This must be at least 1."],
        ["4", "quantity", "This is not a whole number."],
      ]);
      expect(await orders()).toEqual([]);

      await send(page, right);
      await page.getByText("2 orders were placed.").waitFor();
      expect(await page.locator("#problems").isVisible()).toBe(false);
      expect(await orders()).toMatchObject([{ item: "pen" }, { item: "ruler, 30 cm" }]);
      expect(page.url()).toBe(`${url}/`);
    }));

  it("imports a file once that was sent again after its answer was lost", () =>
    visit(async (page) => {
      const lose = async (route: Route): Promise<void> => {
        await route.fetch();
        await route.abort();
      };
      await page.route("**/orders/import", lose, { times: 1 });
      await send(page, right);
      await page.getByText("There was no answer. Send it again: its orders are placed once.").waitFor();
      await page.getByRole("button", { name: "Place the orders" }).click();
      await page.getByText("2 orders were placed.").waitFor();
      expect(await orders()).toMatchObject([{ item: "pen" }, { item: "ruler, 30 cm" }]);
      // The next file is another request.
      await send(page, right);
      await page.getByText("2 orders were placed.").waitFor();
      expect(await orders()).toHaveLength(4);
    }));

  it("shows a refusal without a list", () =>
    visit(async (page) => {
      const buffer = Buffer.from("item,quantity\nunicorn,1\n");
      await page.getByLabel("CSV file").setInputFiles({ name: "orders.csv", mimeType: "text/csv", buffer });
      await page.getByRole("button", { name: "Place the orders" }).click();
      await page.getByText("Nothing was placed. There are no unicorns left.").waitFor();
    }));

  it("is loaded again with 304 for every file", async () => {
    logWith({ level: "info" });
    const statuses = () =>
      lines()
        .flatMap((line) => {
          const [path, status] = [line["url.path"], line["http.response.status_code"]];
          return typeof path === "string" && /^\/$|^\/assets\//.test(path) ? [`${path} ${String(status)}`] : [];
        })
        .toSorted();
    await visit(async (page) => {
      await page.getByText("Live", { exact: true }).waitFor();
      expect(statuses()).toEqual(["/ 200", "/assets/page.css 200", "/assets/page.js 200"]);
      logWith({ level: "info" });
      await page.goto(url);
      await page.getByText("Live", { exact: true }).waitFor();
      await eventually(() => expect(statuses()).toEqual(["/ 304", "/assets/page.css 304", "/assets/page.js 304"]));
      // The API by its own tags, as the browser's cache asks.
      await place("pen");
      const twice = await page.evaluate(`(async () => {
        const texts = [];
        for (const path of ["/orders/1", "/orders/1", "/orders", "/orders"]) texts.push(await (await fetch(path, { cache: "no-cache" })).text());
        return texts;
      })()`);
      expect(twice).toEqual([
        (twice as string[])[1],
        (twice as string[])[1],
        (twice as string[])[3],
        (twice as string[])[3],
      ]);
      const ofApi = lines().flatMap((line) => {
        const [path, status] = [line["url.path"], line["http.response.status_code"]];
        return line["http.request.method"] === "GET" && /^\/orders(\/1)?$/.test(String(path))
          ? [`${String(path)} ${String(status)}`]
          : [];
      });
      expect(ofApi).toEqual(["/orders/1 200", "/orders/1 304", "/orders 200", "/orders 304"]);
    });
  });

  it("works without a script", () =>
    visitApart({ javaScriptEnabled: false }, async (page) => {
      await send(page, right);
      await page.waitForURL(`${url}/orders/import`);
      expect(await page.locator("body").innerText()).toBe('{"placed":2}');
      expect(await orders()).toHaveLength(2);
    }));

  it("shows orders that are created, changed and removed elsewhere", () =>
    visit(async (page) => {
      await page.getByText("Live", { exact: true }).waitFor();
      expect(await shown(page)).toEqual([]);
      await place("pen");
      await place("<b>ink</b>");
      await eventually(async () => expect(await shown(page)).toEqual(["2 <b>ink</b> 2", "1 pen 2"]));
      const headers = { "content-type": "application/json", authorization: "Bearer demo" };
      await fetch(`${url}/orders/1`, { method: "PATCH", headers, body: '{"quantity":5}' });
      await fetch(`${url}/orders/2`, { method: "DELETE", headers });
      await eventually(async () => expect(await shown(page)).toEqual(["1 pen 5"]));
    }));

  it("reconnects by itself when it is cut off, without gaps and duplicates", async () => {
    const wire = await Wire.to(port);
    await place("first");
    await visit(async (page) => {
      const state = page.locator("#live .state");
      await place("second");
      await eventually(async () => expect(await shown(page)).toEqual(["2 second 2", "1 first 2"]));
      for (const [i, item] of ["third", "fourth"].entries()) {
        wire.cut();
        await page.getByText("The connection was cut. Connecting again").waitFor();
        await place(item);
        wire.mend();
        await page.getByText("Live", { exact: true }).waitFor();
        await eventually(async () => expect((await shown(page))[0]).toBe(`${i + 3} ${item} 2`));
      }
      await place("fifth");
      await eventually(async () => expect(await shown(page)).toHaveLength(5));
      expect(await shown(page)).toEqual(["5 fifth 2", "4 fourth 2", "3 third 2", "2 second 2", "1 first 2"]);
      expect(await state.innerText()).toBe("Live");
    }, `http://127.0.0.1:${wire.port}`);
  });

  it("shows at once that it was cut off", async () => {
    const wire = await Wire.to(port);
    await visitApart(
      {},
      async (page) => {
        await page.getByText("Live", { exact: true }).waitFor();
        await page.clock.install();
        await page.clock.pauseAt(Date.now() + 3_600_000);
        wire.cut();
        wire.mend();
        await page.getByText("The connection was cut. Connecting again").waitFor();
        await page.clock.fastForward(1000);
        await page.getByText("Live", { exact: true }).waitFor();
      },
      `http://127.0.0.1:${wire.port}`,
    );
  });

  it("starts again after the server restarted, and after a time without a feed", async () => {
    const wire = await Wire.to(port);
    await place("before");
    await visit(async (page) => {
      await eventually(async () => expect(await shown(page)).toEqual(["1 before 2"]));
      wire.cut();
      await page.getByText("Connecting again").waitFor();
      // EventSource gives up after a 404. The page connects again.
      const failing = await start([]);
      wire.leadTo(failing.port);
      wire.mend();
      await page.waitForResponse((response) => response.url().endsWith("/feed") && response.status() === 404);
      const next = await start([...routes, ...script], {
        resources: [Dep.resource(store, memoryStore()), Dep.resource(sessionStore, Sessions.memory())],
      });
      url = `http://127.0.0.1:${next.port}`;
      await place("after");
      wire.leadTo(next.port);
      wire.cut();
      wire.mend();
      await eventually(async () => expect(await shown(page)).toEqual(["1 after 2"]));
    }, `http://127.0.0.1:${wire.port}`);
  });

  it.each([
    { width: 1280, height: 800 },
    { width: 375, height: 700 },
  ])("places an order and shows it in the first window: %j", (viewport) =>
    visit(async (page) => {
      await page.setViewportSize(viewport);
      await place("ink");
      await eventually(async () => expect(await shown(page)).toHaveLength(1));
      await page.getByLabel("Item", { exact: true }).fill("cup");
      await page.getByLabel("Quantity").fill("3");
      await page.keyboard.press("Enter");
      await page.getByText("Order 2 is placed.").waitFor();
      await eventually(async () => expect(await page.locator("#live tbody tr").count()).toBe(2));
      const bottom = "document.querySelector('#live tbody tr').getBoundingClientRect().bottom";
      expect(await page.evaluate(`[scrollY, ${bottom} < innerHeight]`)).toEqual([0, true]);
      expect(await orders()).toMatchObject([{ item: "ink" }, { item: "cup", quantity: 3 }]);
    }),
  );

  it("places an order once that was sent again after its answer was lost, and shows a refusal", () =>
    visit(async (page) => {
      const lose = async (route: Route): Promise<void> => {
        await route.fetch();
        await route.abort();
      };
      const send = () => page.getByRole("button", { name: "Place it" }).click();
      await page.route("**/orders", lose, { times: 1 });
      await send();
      await page.getByText("There was no answer. Place it again: it is placed once.").waitFor();
      await send();
      await page.getByText("Order 1 is placed.").waitFor();
      await page.getByLabel("Item", { exact: true }).fill("unicorn");
      await send();
      await page.getByText("Nothing was placed. There are no unicorns left.").waitFor();
      expect(await orders()).toMatchObject([{ item: "pen", quantity: 2 }]);
    }));

  it("creates the orders that are typed at the desk, and shows refusals", async () => {
    const wire = await Wire.to(port);
    await visit(async (page) => {
      const type = async (item: string): Promise<void> => {
        await page.getByLabel("Item for the desk").fill(item);
        await page.getByRole("button", { name: "Place one" }).click();
      };
      await type("pen");
      await page.getByText("Order 1: 1 pen").waitFor();
      expect(await page.getByLabel("Item for the desk").inputValue()).toBe("");
      await type("unicorn");
      await page.getByText("Nothing was placed. There are no unicorns left.").waitFor();
      wire.cut();
      await type("ink");
      await page.getByText("Nothing was placed: there is no connection. Try again.").waitFor();
      wire.mend();
      await page.getByRole("button", { name: "Place one" }).click();
      await page.getByText("Order 2: 1 ink").waitFor();
      await eventually(async () => expect(await shown(page)).toEqual(["2 ink 1", "1 pen 1"]));
    }, `http://127.0.0.1:${wire.port}`);
  });

  it("runs only its own scripts, and no inline script", async () => {
    const policy = (await fetch(url)).headers.get("content-security-policy");
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).not.toContain("unsafe");
    await visit(async (page) => {
      const ran = await page.evaluate(`
        const script = document.createElement("script");
        script.textContent = "globalThis.ran = true";
        document.body.append(script);
        globalThis.ran ?? false;
      `);
      expect(ran).toBe(false);
    });
  });
});
