/** The page's own reader in a real browser: the orders example read, searched, tried and authorised. */
import { describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { browser as chromium } from "../support/browser.ts";
import { serveOrders, visit } from "./docs-browser.ts";
import "../support/logs.ts";

const open = async (anchor: string, then: (page: Page) => Promise<void>, expected?: RegExp) => {
  const url = `${await serveOrders({ description: "What the shop `sells`." })}/docs${anchor}`;
  await visit({ url, ...(expected === undefined ? {} : { expected }) }, then);
};

const send = async (page: Page) => {
  await page.getByRole("button", { name: "Send" }).click();
  return page.locator(".outcome strong").textContent();
};

describe.skipIf(chromium.isSkipped)(`the page's own reader: reading${chromium.why}`, () => {
  it("shows the description of the API, and links to each operation", () =>
    open("", async (page) => {
      await page.getByRole("heading", { name: "Orders" }).first().waitFor();
      expect(await page.locator("main code").first().textContent()).toBe("sells");
      await page.getByRole("main").getByRole("link", { name: "/orders Place an order" }).click();
      await page.getByRole("heading", { name: "Place an order" }).waitFor();
      expect(await page.title()).toBe("Place an order – Orders");
      // The heading has the focus, so a screen reader reads it.
      expect(await page.evaluate("document.activeElement.textContent")).toBe("Place an order");
      await page.goBack();
      await page.getByRole("heading", { name: "Orders" }).first().waitFor();
    }));

  it("finds operations by a text search, with the keyboard only", () =>
    open("", async (page) => {
      await page.getByRole("searchbox").waitFor();
      await page.keyboard.press("/");
      await page.keyboard.type("ORDER csv");
      await page.getByText("1 found").waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Import a CSV file" }).waitFor();
      await page.keyboard.press("/");
      await page.keyboard.press("Escape");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Place an order" }).waitFor();
      await page.getByRole("searchbox").fill("nothing has this");
      await page.getByText("0 found").waitFor();
    }));

  it("closes the list that covers a narrow page, also by the link to what is shown", async () => {
    const url = `${await serveOrders()}/docs#post/orders`;
    await visit({ url, width: 375 }, async (page) => {
      const list = page.getByRole("navigation");
      const focused = () => page.evaluate("document.activeElement.textContent");
      await page.getByRole("button", { name: "Operations" }).click();
      await list.getByRole("link", { name: "Place an order" }).click();
      await list.waitFor({ state: "hidden" });
      expect(await focused()).toBe("Place an order");
      await page.keyboard.press("/");
      await list.waitFor();
      await page.keyboard.press("Escape");
      await list.waitFor({ state: "hidden" });
      expect(await focused()).toBe("Operations");
    });
  });

  it("shows parameters, bodies, schemas and the refusals of each status", () =>
    open("#post/orders", async (page) => {
      const text = async (selector: string) => (await page.locator(selector).first().textContent()) ?? "";
      await page.getByRole("heading", { name: "Place an order" }).waitFor();
      expect(await text(".columns > div > .members")).toMatch(/idempotency-key string.*in header.*idempotency key/);
      expect(await text(".columns .content")).toMatch(/NewOrder.*item string.*required.*1 to 100 characters.*quantity/);
      expect(await text(".answers > li:nth-child(1)")).toMatch(/201.*placed_at string.*date-time/);
      expect(await text(".answers > li:nth-child(4)")).toMatch(/409.*sold_out There is none.*idempotency_key_in_use/);
    }));

  it("keeps the chosen color scheme", () =>
    open("", async (page) => {
      const background = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
      await page.getByRole("button", { name: "Colors: auto" }).click();
      const light = await background();
      await page.getByRole("button", { name: "Colors: light" }).click();
      expect(await background()).not.toBe(light);
      await page.reload();
      await page.getByRole("button", { name: "Colors: dark" }).waitFor();
    }));
});

describe.skipIf(chromium.isSkipped)(`the page's own reader: a request${chromium.why}`, () => {
  it("sends a GET with a query, and shows a refusal", () =>
    open(
      "#get/orders",
      async (page) => {
        expect(await send(page)).toBe("200 OK");
        expect(await page.locator(".answer pre").textContent()).toMatch(/^\[/);
        await page.getByRole("textbox", { name: "per_page" }).fill("many");
        expect(await send(page)).toBe("400 Bad Request");
        await page.getByText('"query.per_page"').waitFor();
      },
      /400/,
    ));

  it("sends a POST with a body and a header, from its example and from its schema", () =>
    open(
      "#post/orders",
      async (page) => {
        const body = page.getByRole("textbox", { name: "Body, application/json" });
        expect(JSON.parse(await body.inputValue())).toEqual({ item: "pen", quantity: 2 });
        await page.getByRole("textbox", { name: "idempotency-key" }).fill("123e4567-e89b-42d3-a456-426614174000");
        expect(await send(page)).toBe("201 Created");
        expect(await send(page)).toBe("201 Created");
        await body.fill('{ "item": "ink", "quantity": 2 }');
        expect(await send(page)).toMatch(/^422 /);
        await page.getByText('"idempotency_key_reused"').waitFor();
        await page.getByRole("button", { name: "From the schema" }).click();
        expect(JSON.parse(await body.inputValue())).toEqual({ item: "text", quantity: 1 });
        await body.fill('{ "item": ');
        await page.getByText("Not JSON:").waitFor();
      },
      /422/,
    ));

  it("requires the parameters of a path, and sends them", () =>
    open(
      "#get/orders/%7Border_id%7D",
      async (page) => {
        // Its example is there at first.
        await page.getByRole("textbox", { name: "order_id" }).fill("");
        await page.getByRole("button", { name: "Send" }).click();
        await page.getByText("Fill in order_id.").waitFor();
        await page.getByRole("textbox", { name: "order_id" }).fill("999");
        expect(await send(page)).toBe("404 Not Found");
      },
      /404/,
    ));

  it("uploads a file", () =>
    open("#post/orders/import", async (page) => {
      const file = { name: "orders.csv", mimeType: "text/csv", buffer: Buffer.from("item,quantity\ncup,3\n") };
      await page.locator("input[type=file]").setInputFiles(file);
      expect(await send(page)).toBe("200 OK");
      await page.getByText('"placed"').waitFor();
    }));
});

describe.skipIf(chromium.isSkipped)(`the page's own reader: a credential${chromium.why}`, () => {
  it("signs in with a form, and shows where the answer is described", () =>
    open("#post/sign-in", async (page) => {
      await page.getByRole("textbox", { name: "name" }).fill("clerk");
      await page.getByLabel("password").fill("demo");
      await send(page);
      await page.getByText("Redirected to").waitFor();
    }));

  it("sends a token, and shows which credential is used", () =>
    open(
      "#delete/orders/%7Border_id%7D",
      async (page) => {
        await page.getByRole("textbox", { name: "order_id" }).fill("7");
        await page.getByText("Needs session, or bearer").waitFor();
        expect(await send(page)).toBe("401 Unauthorized");
        await page.getByRole("button", { name: "Authorize" }).last().click();
        await page.getByLabel("Token").fill("a-token");
        await page.keyboard.press("Enter");
        await page.getByText("Sends bearer").waitFor();
        const [request] = await Promise.all([page.waitForRequest("**/orders/7"), send(page)]);
        expect((await request.allHeaders())["authorization"]).toBe("Bearer a-token");
        await page.getByRole("button", { name: "Authorized (1)" }).click();
        await page.getByRole("button", { name: "Forget all" }).click();
        await page.getByText("Needs session, or bearer").waitFor();
      },
      /401/,
    ));

  it("uses the cookie of the signed-in user", () =>
    open("#post/sign-in", async (page) => {
      await page.getByRole("textbox", { name: "name" }).fill("clerk");
      await page.getByLabel("password").fill("demo");
      await send(page);
      await page.evaluate('location.hash = "#post/orders"');
      expect(await send(page)).toBe("201 Created");
      await page.evaluate('location.hash = "#delete/orders/%7Border_id%7D"');
      await page.getByRole("textbox", { name: "order_id" }).fill("1");
      expect(await send(page)).toBe("204 No Content");
      await page.getByText("No body.").last().waitFor();
    }));
});

describe.skipIf(chromium.isSkipped)(`the page's own reader: a connection that stays${chromium.why}`, () => {
  it("reads an event stream until it is stopped", () =>
    open("#get/orders/feed", async (page) => {
      await page.getByText("A stream of:").waitFor();
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText(/^Open:/).waitFor();
      await page.evaluate(`fetch("/orders", { method: "POST", body: '{"item":"pen","quantity":3}',
        headers: { "content-type": "application/json" } })`);
      await page.getByText('"quantity"').waitFor();
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByText("Closed after 1 event.").waitFor();
      await page.getByText("Stopped.").waitFor();
    }));

  it("sends and receives WebSocket messages", () =>
    open("#get/orders/desk", async (page) => {
      await page.getByText("What the server sends:").waitFor();
      await page.getByRole("button", { name: "Connect" }).click();
      await page.getByText("Open.").waitFor();
      await page.getByRole("textbox", { name: "Message" }).fill("pen");
      await page.getByRole("button", { name: "Send message" }).click();
      await page.getByText('"pen"').waitFor();
      await page.getByRole("button", { name: "Close" }).click();
      await page.getByText("Closed: 1000.").waitFor();
    }));
});
