/** What the document says of the API as a whole, and of a route by its metadata. */
import { describe, expect, it } from "vitest";
import { App, Health, Meta, Path, Returns, Test, get, post } from "usher-http";
import type { Openapi } from "usher-http";

import { described, onlyOperation, operation } from "./described.ts";
import { wrongWith } from "./official.ts";
import { plain } from "./small-routes.ts";

const about = {
  title: "Orders",
  version: "2",
  description: "What is **ordered**.",
  termsOfService: "https://shop.example/terms",
  contact: { name: "Kim", url: "https://shop.example", email: "kim@shop.example" },
  license: { name: "MIT", identifier: "MIT" },
} as const;
const servers = [{ url: "https://shop.example/api", description: "The shop." }, { url: "/" }];
const externalDocs = { url: "https://shop.example/docs", description: "More." };
const tags = [{ name: "orders", description: "Orders.", externalDocs }, { name: "admin" }];
const inText = { returns: Returns.text };

describe("the API as a whole", () => {
  it.each(["3.2", "3.1"] as const)("is described, and valid OpenAPI %s", async (openapi) => {
    const document = described([plain], { ...about, servers, tags, externalDocs, openapi });
    expect(document.info).toEqual(about);
    expect([document.servers, document.tags, document.externalDocs]).toEqual([servers, tags, externalDocs]);
    expect(await wrongWith(document)).toEqual([]);
  });

  it("has a title and a version, and other members only if they are given", () => {
    const document = described([plain]);
    expect(document.info).toEqual({ title: "API", version: "0" });
    expect(Object.keys(document)).toEqual(["openapi", "info", "paths", "components"]);
  });

  it.each<[what: string, options: Openapi.DocumentOptions, why: string]>([
    [
      "a license in two ways",
      { license: { name: "MIT", identifier: "MIT", url: "https://x.example" } },
      "the license has an identifier and a url: OpenAPI allows one of them",
    ],
    ["a tag twice", { tags: [{ name: "a" }, { name: "a" }] }, "the tag a is listed twice"],
    ["a tag without a name", { tags: [{ name: "" }] }, "the tag at 0 has no name"],
    ["a server twice", { servers: [{ url: "/" }, { url: "/" }] }, "the server / is listed twice"],
  ])("is refused with %s", (_what, options, why) => {
    expect(() => described([plain], options)).toThrow(`Openapi: ${why}`);
  });
});

describe("a route's metadata", () => {
  const withMeta = (meta: Meta) => get(Path.of("orders"), { ...inText, meta }, () => "");

  it("has the operation id", () => {
    expect(operation(withMeta(Meta.empty.add(Meta.operationId, "listOrders"))).operationId).toBe("listOrders");
  });

  it("is refused if two operations have one id", () => {
    const meta = Meta.empty.add(Meta.operationId, "orders");
    const other = post(Path.of("others"), { ...inText, meta }, () => "");
    expect(() => described([withMeta(meta), other])).toThrow(
      "Openapi: GET /orders and POST /others are both the operation orders",
    );
    const samePath = post(Path.of("orders"), { ...inText, meta }, () => "");
    expect(() => described([withMeta(meta), samePath])).toThrow(
      "Openapi: GET /orders and POST /orders are both the operation orders",
    );
  });

  it("has `deprecated`, and a link to more documentation", () => {
    const meta = Meta.empty.add(Meta.deprecated, true).add(Meta.externalDocs, externalDocs);
    expect(operation(withMeta(meta))).toMatchObject({ deprecated: true, externalDocs });
    expect(operation(withMeta(Meta.empty.add(Meta.deprecated, false)))).not.toHaveProperty("deprecated");
  });

  it("hides it, alone or with others, and the routes are still served", async () => {
    const hidden = Meta.onAll([withMeta(Meta.empty), ...Health.routes([])], Meta.hidden, true);
    const routes = [plain, ...hidden];
    expect(onlyOperation(described(routes)).operationId).toBe(operation(plain).operationId);
    expect((await Test.call(Test.app(routes), "GET", "/orders")).status).toBe(200);
    expect((await Test.call(Test.app(routes), "GET", "/livez")).status).toBe(200);
    expect(App.make(routes).routes[1]?.meta.find(Meta.hidden)).toBe(true);
  });

  it("keeps the other metadata", () => {
    const [route] = Meta.onAll([withMeta(Meta.empty.add(Meta.access, "debug"))], Meta.deprecated, true);
    expect([route?.meta.find(Meta.access), route?.meta.find(Meta.deprecated)]).toEqual(["debug", true]);
  });
});
