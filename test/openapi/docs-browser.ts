/** The docs page in Chromium, and what it must never do: an error, a breach of its policy, a request to another host. */
import { expect } from "vitest";
import { Dep, Openapi, SecureHeaders, Sessions } from "usher-http";
import type { Route } from "usher-http";
import type { Browser, Page } from "playwright-core";
import { sessionStore } from "../../examples/orders/clerks.ts";
import { routes } from "../../examples/orders/routes.ts";
import { memoryStore, store } from "../../examples/orders/store.ts";
import { start } from "../support/node-server.ts";

/** Serves the orders example with its docs until the test ends, and answers the URL. */
export async function serveOrders(options: Openapi.DocsOptions = {}, more: readonly Route[] = []): Promise<string> {
  const resources = [Dep.resource(store, memoryStore()), Dep.resource(sessionStore, Sessions.memory())];
  const docs = Openapi.docs(routes, { title: "Orders", version: "1", ...options });
  const server = await start([...routes, ...docs, ...more], { resources, secureHeaders: SecureHeaders.make() });
  return `http://127.0.0.1:${server.port}`;
}

interface Visit {
  readonly browser: Browser;
  /** Of the page, with the operation behind `#`. */
  readonly url: string;
  readonly width?: number;
  readonly scheme?: "light" | "dark";
  /** The document that the page gets in place of its own. */
  readonly document?: unknown;
  /** Messages of the console that are expected. */
  readonly expected?: RegExp;
}

/** Opens the page, and closes it behind the test. */
export async function visit({ browser, url, ...how }: Visit, then: (page: Page) => Promise<void>): Promise<void> {
  const { width = 1280, scheme = "light", document, expected = /^(?!)/ } = how;
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
  const hosts = new Set<string>();
  const wrong: string[] = [];
  context.on("request", (request) => hosts.add(new URL(request.url()).origin));
  context.on("weberror", (error) => wrong.push(String(error.error())));
  context.on("dialog", (dialog) => {
    wrong.push(`dialog ${dialog.message()}`);
    dialog.dismiss().catch(() => {});
  });
  context.on("console", (message) => {
    if (message.type() === "error" && !expected.test(message.text())) wrong.push(message.text());
  });
  try {
    const page = await context.newPage();
    if (document !== undefined) await page.route("**/openapi.json", (route) => route.fulfill({ json: document }));
    await page.goto(url);
    await then(page);
  } finally {
    await context.close();
  }
  expect(wrong).toEqual([]);
  const own = new URL(url).origin;
  expect([...hosts].filter((host) => host !== own && host !== "null")).toEqual([]);
}
