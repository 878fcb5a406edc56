/** The page's own reader against documents that are hostile, endless or large, and its pages as assistive technology reads them. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { Openapi } from "usher-http";
import type { Page } from "playwright-core";
import { routes } from "../../examples/orders/routes.ts";
import { browser as chromium, looks } from "../support/browser.ts";
import { add } from "./add.ts";
import { serveOrders, visit } from "./docs-browser.ts";
import "../support/logs.ts";

const markup = `"><img src=x onerror="alert(1)"><script>alert(2)</script><svg onload=alert(3)>[x](javascript:alert(4))`;

// What the reader branches on; every other text and name is hostile.
const kept = new Set(["type", "in", "$ref", "scheme", "format", "openapi", "operationId"]);
const structure =
  /^(get|put|post|delete|patch|query|info|paths|components|schemas|securitySchemes|parameters|requestBody|content|schema|itemSchema|responses|headers|properties|examples?|value|tags|servers|security|items|oneOf|anyOf|allOf|prefixItems|name|url|title|summary|description|required|enum|const|default|pattern|contentSchema|contentMediaType|x-websocket|client|server|contact|license|email|externalDocs|termsOfService|additionalProperties|patternProperties|flows|openIdConnectUrl|\d+|session|bearer|Problem|Refusal|Order|NewOrder|Change|Item)$/;

function hostile(value: unknown, member = ""): unknown {
  if (typeof value === "string") {
    if (kept.has(member)) return value;
    return /url|termsOfService/i.test(member) ? "javascript:alert(5)" : `${value}${markup}`;
  }
  if (Array.isArray(value)) return member === "required" ? value : value.map((one) => hostile(one, member));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, inner]) => {
    const known = structure.test(name) || kept.has(name);
    return [known ? name : `${name}${markup}`, hostile(inner, name)] as const;
  });
  return Object.fromEntries(members);
}

const hrefs = (links: string) =>
  `[...document.querySelectorAll(${JSON.stringify(links)})].map((one) => one.getAttribute("href"))`;

/** Opens every operation, and in each everything that opens. */
async function openAll(page: Page): Promise<void> {
  const anchors = (await page.evaluate(hrefs("nav a"))) as string[];
  for (const anchor of anchors) {
    await page.evaluate(`location.hash = ${JSON.stringify(anchor)}`);
    await page.waitForFunction(`location.hash === ${JSON.stringify(anchor)} || ${JSON.stringify(anchor)} === "#"`);
    for (let round = 0; round < 4; round++) {
      await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
      await page.evaluate("new Promise((done) => setTimeout(done, 5))");
    }
  }
}

const recursive = {
  openapi: "3.2.0",
  info: { title: "Endless" },
  paths: {
    "/trees": {
      post: {
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: "#/components/schemas/Tree" } } },
        },
        responses: { 200: { content: { "application/json": { schema: { $ref: "#/components/schemas/Round" } } } } },
      },
    },
  },
  components: {
    schemas: {
      Tree: {
        type: "object",
        properties: {
          name: { type: "string" },
          parent: { $ref: "#/components/schemas/Tree" },
          children: { type: "array", items: { $ref: "#/components/schemas/Tree" } },
          either: { anyOf: [{ $ref: "#/components/schemas/Tree" }, { type: "null" }] },
          constructor: { type: "integer" },
          ["__proto__"]: { type: "integer" },
        },
      },
      Round: { $ref: "#/components/schemas/Trip" },
      Trip: { $ref: "#/components/schemas/Round" },
    },
  },
};

const wide = {
  info: { title: "Wide" },
  tags: Array.from({ length: 20 }, (_, place) => ({ name: `tag ${place}` })),
  paths: Object.fromEntries(
    Array.from({ length: 500 }, (_, place) => [
      `/things/${place}`,
      {
        get: {
          summary: `Thing ${place}`,
          tags: [`tag ${place % 20}`],
          responses: { 200: { description: "One.", content: { "application/json": { schema: { $ref: "#/w" } } } } },
        },
      },
    ]),
  ),
  w: {
    type: "object",
    properties: Object.fromEntries(Array.from({ length: 5000 }, (_, place) => [`member${place}`, { type: "string" }])),
  },
};

const open = async (document: unknown, then: (page: Page) => Promise<void>) =>
  visit({ url: `${await serveOrders()}/docs`, document }, async (page) => {
    await page.locator("main h2").waitFor();
    await then(page);
  });

describe.skipIf(chromium.isSkipped)(`a hostile document${chromium.why}`, () => {
  it.each([
    ["of the orders example", routes],
    ["of one route with every kind of input", [add]],
  ])("shows all text of a document %s as text, in every place", (_name, described) => {
    const options = {
      title: "Orders",
      contact: { name: "Ada", url: "https://a.example", email: "a@example.com" },
      license: { name: "MIT", url: "https://a.example" },
      termsOfService: "https://a.example",
      externalDocs: { url: "https://a.example", description: "More" },
      servers: [{ url: "https://a.example", description: "There" }],
      tags: [{ name: "orders", description: "What is ordered." }],
      description: "First.\n\n- a list\n\n```\ncode\n```",
    };
    return open(hostile(Openapi.document(described, options)), async (page) => {
      await openAll(page);
      expect(await page.locator("#app :is(img, script, svg, iframe, object, embed, style)").count()).toBe(0);
      const links = (await page.evaluate(hrefs("a[href]"))) as string[];
      expect(links.filter((href) => !/^(#|https?:|mailto:|\/)/.test(href))).toEqual([]);
      expect(await page.title()).toContain("<script>alert(2)</script>");
    });
  });

  it.each([
    null,
    [],
    "text",
    { info: 1, paths: { "/a": null, "/b": { get: 3, post: { parameters: "x", responses: [1], requestBody: 7 } } } },
    { paths: { "/{a": { get: { parameters: [{ in: "path", name: "}" }, 3], security: [1, { a: 2 }], tags: [{}] } } } },
    { paths: { "/a": { get: { responses: { 200: { $ref: "#/%/~/__proto__/constructor" } } } } } },
    { components: { securitySchemes: { a: 1, b: { type: {} } } }, servers: [{ url: "http://[" }, 4, { url: "{x}" }] },
    { paths: { "/%": { get: {} }, "/\ud800": { get: {} } } },
  ])("shows as much as it can of an invalid document: %j", (document) =>
    open(document, async (page) => {
      await openAll(page);
      await page.getByRole("navigation").waitFor();
    }),
  );

  it("reports that the document cannot be read", async () => {
    const url = await serveOrders();
    await visit({ url: `${url}/livez`, expected: /503|404/ }, async (page) => {
      await page.route("**/openapi.json", (route) => route.fulfill({ status: 503, body: "" }));
      await page.goto(`${url}/docs`);
      await page.getByRole("alert").filter({ hasText: "/openapi.json could not be read: its status is 503" }).waitFor();
    });
  });
});

describe.skipIf(chromium.isSkipped)(`a large document${chromium.why}`, () => {
  it("shows a recursive schema as far as it is opened, and starts a body with the finite part", () =>
    open(recursive, async (page) => {
      await page.getByRole("navigation").getByRole("link", { name: "/trees" }).click();
      const body = page.getByRole("textbox", { name: "Body, application/json" });
      expect(JSON.parse(await body.inputValue())).toEqual(
        JSON.parse('{"name":"text","children":[],"either":null,"constructor":1,"__proto__":1}'),
      );
      for (let depth = 1; depth < 6; depth++) {
        await page
          .locator(".content summary", { hasText: /^parent/ })
          .nth(depth - 1)
          .click();
        await page
          .locator(".content summary", { hasText: /^parent/ })
          .nth(depth)
          .waitFor();
      }
    }));

  it("opens the only member of a body, and no member of it", () => {
    const chain = { $ref: "#/components/schemas/Chain" };
    const responses = { 200: { description: "", content: { "application/json": { schema: chain } } } };
    const schemas = { Chain: { type: "object", properties: { next: chain } } };
    const endless = { paths: { "/chain": { get: { summary: "A chain", responses } } }, components: { schemas } };
    return open(endless, async (page) => {
      await page.getByRole("navigation").getByRole("link", { name: "A chain" }).click();
      await page.locator(".schema summary").nth(1).waitFor();
      expect(await page.locator(".schema summary").count()).toBe(2);
    });
  });

  it("can show 500 routes, and a schema of 5000 members a hundred at a time", () =>
    open(wide, async (page) => {
      expect(await page.locator("nav li").count()).toBe(500);
      await page.getByRole("searchbox").fill("thing 499");
      await page.getByText("1 found").waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Show more of 4900" }).click();
      await page.getByText("member199", { exact: true }).waitFor();
      expect(await page.locator(".schema .name").count()).toBe(200);
    }));
});

describe.skipIf(chromium.isSkipped)(`the reader for everyone${chromium.why}`, () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  const places = ["", "#post/orders", "#get/orders/feed", "#get/orders/desk", "#delete/orders/%7Border_id%7D"];
  it.each(looks)("has no accessibility fault that axe finds, and is not wider than the window: %j", async (how) => {
    const url = await serveOrders();
    const check = async (page: Page) => {
      const found = (await page.evaluate(`(async () => {
        const { violations } = await axe.run(document);
        return violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" "));
      })()`)) as string[];
      expect(found).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    };
    await visit({ url: `${url}/docs`, ...how }, async (page) => {
      await page.evaluate(axe);
      for (const place of places) {
        await page.evaluate(`location.hash = ${JSON.stringify(place || "#")}`);
        await page.locator("main h2").waitFor();
        await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
        await check(page);
      }
      await page.locator("header").getByRole("button", { name: "Authorize" }).click();
      await check(page);
      await page.keyboard.press("Escape");
      if (how.width > 800) return;
      await page.getByRole("button", { name: "Operations" }).click();
      await check(page);
    });
  });
});
