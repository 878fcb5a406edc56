/** Nothing of a schema is lost on the page: each keyword of each schema of a document is in what the page shows of it. */
import { describe, expect, it } from "vitest";
import { Codec, Openapi, Path, Query, Returns, get } from "usher-http";
import type { Page } from "playwright-core";
import { cutPath } from "../../reader/cut-path.ts";
import { readDocument } from "../../reader/document.ts";
import type { Fields } from "../../reader/document.ts";
import { factsOf } from "../../reader/schema-facts.ts";
import { browser as chromium } from "../support/browser.ts";
import { start } from "../support/node-server.ts";
import { realWorld } from "../support/refusal-formats.ts";
import { serveOrders, visit } from "./docs-browser.ts";
import { everyKeyword } from "./every-keyword.ts";
import { leftOut } from "./left-out.ts";
import "../support/logs.ts";

const { resolve } = readDocument(everyKeyword, "http://h/openapi.json");
const of = (schema: Fields) => {
  const { type, rules, about, parts } = factsOf(schema, resolve);
  const names = parts.map((part) =>
    part.kind === "note" ? part.text : part.kind === "member" ? part.name : part.label,
  );
  return { type, rules, about, parts: names };
};
const named = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const string = { type: "string", minLength: 2, description: "Words." };

describe("the facts of a schema", () => {
  it.each<[string, Fields, object]>([
    [
      "that may be null",
      { anyOf: [string, { type: "null" }] },
      { type: "string | null", rules: ["at least 2 characters"], about: ["Words."] },
    ],
    [
      "that may be null, with words of its own",
      { anyOf: [string, { type: "null" }], description: "Mine.", default: null },
      { rules: ["default null", "at least 2 characters"], about: ["Mine.", "Words."] },
    ],
    [
      "of a list",
      { type: "array", maxItems: 3, items: string },
      { type: "string[]", rules: ["at most 3 items", "each: at least 2 characters"], about: ["Each: Words."] },
    ],
    [
      "of a list that may be null, of items that may be null",
      { anyOf: [{ type: "array", items: { anyOf: [string, { type: "null" }] } }, { type: "null" }] },
      { type: "(string | null)[] | null", rules: ["each: at least 2 characters"] },
    ],
    [
      "of alternatives with rules",
      { anyOf: [string, { type: "integer", minimum: 3 }, { type: "null" }] },
      { type: "string | integer | null", rules: [], parts: ["either", "or"] },
    ],
    [
      "of plain alternatives",
      { anyOf: [{ type: "string" }, { type: "integer" }] },
      { type: "string | integer", parts: [] },
    ],
    [
      "of alternatives that only need members",
      { type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      { type: "object", parts: ["either", "or"] },
    ],
    ["that needs a member of nowhere", { required: ["a"] }, { rules: ["needs a"] }],
    [
      "of one whole",
      { allOf: [string], description: "Mine." },
      { rules: ["at least 2 characters"], about: ["Mine.", "Words."] },
    ],
    [
      "of OpenAPI 3.0",
      { type: "integer", nullable: true, minimum: 1, exclusiveMinimum: true },
      { type: "integer | null", rules: ["> 1"] },
    ],
    [
      "of a component that is its own alternative",
      { $ref: "#/components/schemas/Endless" },
      { type: "Endless", rules: [] },
    ],
    [
      "of a component that is a list of itself",
      { $ref: "#/components/schemas/Lists" },
      { type: "Lists", parts: ["each item"] },
    ],
    ["of a component that is a text", named("OrderId"), { type: "OrderId (string)", rules: ["at least 3 characters"] }],
    ["of one whole that has a name", { allOf: [named("OrderId")] }, { type: "OrderId (string)" }],
    ["of a list of them", { type: "array", items: named("OrderId") }, { type: "OrderId[] (string[])" }],
    [
      "of a component of words that may be null",
      { oneOf: [named("State"), named("Nothing")] },
      { type: 'State | Nothing ("open" | "paid" | null)', rules: [] },
    ],
    [
      "of alternatives that are maps",
      { type: "object", additionalProperties: string, anyOf: [named("Charge"), named("Refund")] },
      { type: "Charge | Refund", parts: ["either", "or", "any name"] },
    ],
    [
      "of a map with an empty list of members",
      { type: "object", properties: {}, additionalProperties: { type: "string" } },
      { type: "map of string" },
    ],
    ["of a component that is one whole with a name", named("Whole"), { type: "Whole (string)" }],
    ["of a component with members", named("Charge"), { type: "Charge" }],
    [
      "of a text or a component with members",
      { anyOf: [{ type: "string" }, named("Refund")] },
      { type: "string | Refund" },
    ],
    ["of a component that is a component", named("Alias"), { type: "Alias (string)" }],
  ])("%s", (_name, schema, facts) => {
    expect(of(schema)).toMatchObject(facts);
  });

  it("has every keyword of a document", () => {
    const { lines, schemas } = leftOut(everyKeyword);
    expect(lines).toEqual([]);
    expect(schemas).toBeGreaterThan(80);
  });

  it("reports a keyword that nothing shows", () => {
    const { lines } = leftOut({
      components: { schemas: { A: { properties: { a: { type: "string", $recursive: 1 } } } } },
    });
    expect(lines).toEqual(["#/components/schemas/A/properties/a $recursive, which no test knows"]);
  });
});

describe("a path of the sidebar", () => {
  it.each([
    ["/orders", ["/orders", ""]],
    ["/repos/{owner}/{repo}/actions/runs/{run_id}/logs", ["/repos/{owner}/{repo}/actions", "/runs/{run_id}/logs"]],
    ["/repos/{owner}/{repo}/actions/runs/{run_id}/jobs", ["/repos/{owner}/{repo}/actions", "/runs/{run_id}/jobs"]],
    ["/a-single-segment-that-has-no-end-in-sight", ["/a-single-segment-that", "-has-no-end-in-sight"]],
    [`/${"🌊".repeat(30)}`, [`/${"🌊".repeat(20)}`, "🌊".repeat(10)]],
  ])("%s is cut before its end", (path, parts) => {
    expect(cutPath(path)).toEqual(parts);
    expect(cutPath(path).join("")).toBe(path);
  });
});

const open = async (then: (page: Page) => Promise<void>, width = 1280) =>
  visit({ url: `${await serveOrders()}/docs`, document: everyKeyword, width }, async (page) => {
    await page.locator("main h2").waitFor();
    await page.evaluate("location.hash = document.querySelector('nav li a').getAttribute('href')");
    await page.getByRole("heading", { name: "Charge", exact: true }).waitFor();
    await then(page);
  });

describe.skipIf(chromium.isSkipped)(`a page of every keyword${chromium.why}`, () => {
  it("shows the rules, words and parts of members, of parameters, of headers and of errors", () =>
    open(async (page) => {
      const isMore =
        "[...document.querySelectorAll('.columns > div details:not([open])')].map((one) => (one.open = true)).length";
      for (let round = 0; round < 8; round++) {
        await page.evaluate(isMore);
        await page.evaluate("new Promise((done) => setTimeout(done, 5))");
      }
      const text = (await page.locator(".columns > div").first().textContent()) ?? "";
      const shown = [
        "note string | null2 to 40 charactersWhat the buyer reads.",
        'email string | nullemaildefault "a@example.com"for example "b@example.com"',
        'one of "aed", "afn"',
        "A second paragraph of it.",
        "tags string[]at most 20 itemsno two alikeeach: matches ^[a-z]+$Each: A tag.",
        "steps integer[] | nulleach: one of 3, 5, 8each: ≥ 3",
        "limit integer | nullin query≥ 1≤ 100How many.A count.",
        'expand string[] | nullin queryeach: one of "customer", "refunds", "owner"',
        "since stringdate",
        "x-left integerrequireddeprecated≥ 0≤ 60Left.",
        "blob Blob",
        "data filebase64image/png",
        "told apart by species (cat: Cat)",
      ];
      expect(shown.filter((one) => !text.includes(one))).toEqual([]);
    }));

  it("has a box for each word of a list, and sends those that are checked", () =>
    open(async (page) => {
      await page.getByRole("textbox", { name: "customer" }).fill("c");
      await page.getByRole("textbox", { name: "payment_method" }).fill("p");
      const words = page.getByRole("group", { name: "expand" });
      expect(await words.getByRole("checkbox").count()).toBe(3);
      await words.getByRole("checkbox", { name: "refunds" }).focus();
      await page.keyboard.press("Space");
      await words.getByRole("checkbox", { name: "owner" }).check();
      await page.route("**/charges?*", (route) => route.fulfill({ json: {} }));
      const [sent] = await Promise.all([
        page.waitForRequest("**/charges?*"),
        page.getByRole("button", { name: "Send" }).click(),
      ]);
      expect(new URL(sent.url()).search).toBe("?expand=refunds&expand=owner");
    }));

  it.each([375, 860, 1280])("shows the response in the window and gives it the focus at %i pixels", (width) =>
    open(async (page) => {
      await page.getByRole("textbox", { name: "customer" }).fill("c");
      await page.getByRole("textbox", { name: "payment_method" }).fill("p");
      await page.route("**/charges", (route) => route.fulfill({ json: { data: Array.from({ length: 50 }, () => 1) } }));
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByLabel("The response's body").waitFor();
      await page.waitForFunction("document.activeElement.textContent === 'Response'");
      const tops =
        "['.answer h4', '.outcome', '.answer pre'].map((one) => document.querySelector(one).getBoundingClientRect().top)";
      for (const top of (await page.evaluate(tops)) as number[]) {
        expect(top).toBeGreaterThan(0);
        expect(top).toBeLessThan(800);
      }
      expect(await page.getByRole("status").filter({ hasText: "Response 200" }).count()).toBe(1);
    }, width),
  );

  it("shows both ends of a path that has too little room", () =>
    open(async (page) => {
      const path = page.locator("nav .path");
      expect(await path.textContent()).toBe(Object.keys(everyKeyword.paths)[0]);
      const isCut = "[...document.querySelectorAll('nav .path span')].map((one) => one.scrollWidth > one.clientWidth)";
      expect(await page.evaluate(isCut)).toEqual([true, false]);
    }));

  it("shows the schema of the errors of an app with a format of its own", async () => {
    const limit = get(
      Path.of("limit"),
      { inputs: { limit: Query.required("limit", Codec.int) }, returns: Returns.text },
      () => "",
    );
    const docs = Openapi.docs([limit]);
    const { port } = await start([limit, ...docs], { refusalFormat: realWorld });
    await visit({ url: `http://127.0.0.1:${port}/docs#get/limit` }, async (page) => {
      await page.locator(".answers summary", { hasText: "422" }).click();
      await page.locator(".answers .members .members .member", { hasText: /^body string\[\]/ }).waitFor();
    });
  });
});
