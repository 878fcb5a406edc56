/** The page with Scalar's reader, in a real browser: opened, an operation read, a request tried, and no other host asked. */
import { describe, expect, it } from "vitest";
import { Openapi, Path } from "usher-http";
import { browser as chromium } from "../support/browser.ts";
import { serveOrders, visit } from "./docs-browser.ts";
import { add } from "./add.ts";
import "../support/logs.ts";

describe.skipIf(chromium.isSkipped)(`the page with Scalar's reader${chromium.why}`, () => {
  it("can be read, and sends a request", async () => {
    const url = await serveOrders({ script: "scalar" });
    await visit({ url: `${url}/docs` }, async (page) => {
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
    });
  });

  it("reports what to install when its script is missing", async () => {
    const script = () => Promise.reject(new Error("no such file"));
    const paths = { document: Path.of("broken.json"), at: Path.of("broken") };
    const url = await serveOrders({}, Openapi.docs([add], { ...paths, script }));
    await visit({ url: `${url}/broken`, expected: /500|MIME/ }, async (page) => {
      await page.getByText("install @scalar/api-reference, or give Openapi.docs its script as a function").waitFor();
    });
  });
});
