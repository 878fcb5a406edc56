/** The docs page in Chromium, and what it must never do: an error, a breach of its policy, a request to another host. */
import { expect } from "vitest";
import { Dep, Openapi, SecureHeaders, Sessions } from "usher-http";
import type { Route } from "usher-http";
import type { Page } from "playwright-core";
import { sessionStore } from "../../examples/orders/clerks.ts";
import { routes } from "../../examples/orders/routes.ts";
import { memoryStore, store } from "../../examples/orders/store.ts";
import { inTab } from "../support/browser.ts";
import type { Look } from "../support/browser.ts";
import { start } from "../support/node-server.ts";

/** Serves the orders example with its docs until the test ends, and answers the URL. */
export async function serveOrders(options: Openapi.DocsOptions = {}, more: readonly Route[] = []): Promise<string> {
  const resources = [Dep.resource(store, memoryStore()), Dep.resource(sessionStore, Sessions.memory())];
  const docs = Openapi.docs(routes, { title: "Orders", version: "1", ...options });
  const server = await start([...routes, ...docs, ...more], { resources, secureHeaders: SecureHeaders.make() });
  return `http://127.0.0.1:${server.port}`;
}

interface Visit extends Look {
  /** Of the page, with the operation behind `#`. */
  readonly url: string;
  /** The document that the page gets in place of its own. */
  readonly document?: unknown;
  /** Messages of the console that are expected. */
  readonly expected?: RegExp;
}

/** Opens the page, and leaves it behind the test. */
export async function visit({ url, ...how }: Visit, then: (page: Page) => Promise<void>): Promise<void> {
  const { document, expected = /^(?!)/, ...look } = how;
  const hosts = new Set<string>();
  const wrong: string[] = [];
  await inTab(async (page) => {
    const context = page.context();
    context.on("request", (request) => hosts.add(new URL(request.url()).origin));
    context.on("weberror", (error) => wrong.push(String(error.error())));
    context.on("dialog", (dialog) => {
      wrong.push(`dialog ${dialog.message()}`);
      dialog.dismiss().catch(() => {});
    });
    context.on("console", (message) => {
      if (message.type() === "error" && !expected.test(message.text())) wrong.push(message.text());
    });
    if (document !== undefined) await page.route("**/openapi.json", (route) => route.fulfill({ json: document }));
    await page.goto(url);
    await then(page);
  }, look);
  expect(wrong).toEqual([]);
  const own = new URL(url).origin;
  expect([...hosts].filter((host) => host !== own && host !== "null")).toEqual([]);
}
