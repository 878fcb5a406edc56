/** A slash at the end of a path (contract 4.2, rule 7; rows RT). */
import { describe, expect, it } from "vitest";
import { Answer, App, Path, Proxies, Returns, Test, get, param, post } from "usher-http";
import { notAllowed } from "../support/refusals.ts";
import "../support/logs.ts";

const name = Path.str("name");
const deep = Path.str("deep");
const hello = get(Path.of("hello", name), { inputs: { name: param(name) }, returns: Returns.text }, ({ name }) => name);
const two = get(Path.of(name, deep), { returns: Returns.text }, () => "two");
const file = Path.rest("file");
const site = get(Path.of("site", file), { returns: Returns.text }, () => "site");
const routes = [hello, get(Path.root, { returns: Returns.text }, () => "home"), site];
const redirect = { trailingSlash: "redirect" } as const;

it.each(["/hello/kim/", "/site/", "/site/a/"])("RT-12 is strict by default: %s is another path", async (target) => {
  for (const options of [{}, { trailingSlash: "strict" } as const]) {
    expect((await Test.call(Test.app(routes, options), "GET", target)).status).toBe(404);
  }
});

describe("redirect", () => {
  const app = Test.app(routes, redirect);

  it.each([
    ["GET", "/hello/kim/?x=1", "/hello/kim?x=1"],
    ["HEAD", "/hello/kim/?x=1", "/hello/kim?x=1"],
    ["GET", "/hello/kim/", "/hello/kim"],
    ["GET", "/hello/kim/?", "/hello/kim"],
    ["GET", "/hello/kim/?a=b/&c=%2F", "/hello/kim?a=b/&c=%2F"],
    ["GET", "/hello/k%20m%2F/", "/hello/k%20m%2F"],
    ["GET", "/site/a/", "/site/a"],
    // As workerd passes on bytes above ASCII.
    ["GET", "/hello/k\u00e9/?\u00e9", "/hello/k%C3%A9?%C3%A9"],
    ["GET", "http://elsewhere.example/hello/kim/?x", "/hello/kim?x"],
  ])("RT-13 %s %s → 308 to %s", async (method, target, location) => {
    const { status, body, headers } = await Test.call(app, method, target);
    expect([status, body, headers.get("location")]).toEqual([308, "", location]);
    expect([headers.get("content-length"), headers.get("content-type")]).toEqual(["0", null]);
  });

  it.each(["/hello/kim//", "/nowhere/", "/hello/", "//", "/site//"])(
    "drops one slash, of a path there is: %s is a 404",
    async (target) => {
      expect((await Test.call(app, "GET", target)).status).toBe(404);
    },
  );

  it.each([
    ["10.0.0.1", ["/api"], "/api/hello/kim?x=1"],
    ["10.0.0.1", ["/api/"], "/api/hello/kim?x=1"],
    ["10.0.0.1", ["/api/v%201"], "/api/v%201/hello/kim?x=1"],
    ["10.0.0.1", ["/forged", "/api"], "/api/hello/kim?x=1"],
    ["10.0.0.1", ["/forged, /api"], "/api/hello/kim?x=1"],
    ["10.0.0.1", [""], "/hello/kim?x=1"],
    ["10.0.0.1", ["/"], "/hello/kim?x=1"],
    ["10.0.0.1", ["//elsewhere.example"], "/hello/kim?x=1"],
    ["10.0.0.1", ["/\\elsewhere.example"], "/hello/kim?x=1"],
    ["10.0.0.1", ["https://elsewhere.example"], "/hello/kim?x=1"],
    ["10.0.0.1", ["/a b"], "/hello/kim?x=1"],
    ["192.0.2.1", ["/api"], "/hello/kim?x=1"],
  ])("with the prefix that a trusted proxy removed: %s, %j → %s", async (peer, prefixes, location) => {
    const lines = prefixes.map((prefix) => ["x-forwarded-prefix", prefix] as const);
    const behind = Test.app(routes, { ...redirect, trustedProxies: Proxies.make(["10.0.0.1"]) });
    const { headers } = await Test.call(behind, "GET", "/hello/kim/?x=1", { peer, headers: lines });
    expect(headers.get("location")).toBe(location);
    const unnamed = await Test.call(app, "GET", "/hello/kim/?x=1", { peer, headers: lines });
    expect(unnamed.headers.get("location")).toBe("/hello/kim?x=1");
  });

  it("the root path has no trailing slash to remove", async () => {
    expect((await Test.call(app, "GET", "/")).body).toBe("home");
  });

  it("a route that ends with a slash itself is not redirected", async () => {
    const all = get(Path.of("hello", file), { returns: Returns.text }, () => "all");
    expect((await Test.call(Test.app([all, hello], redirect), "GET", "/hello/kim")).body).toBe("kim");
  });

  it.each(["POST", "DELETE"])("RT-16 applies the check of the method: %s is a 405", async (method) => {
    const { status, body, headers } = await Test.call(app, method, "/hello/kim/");
    expect([status, body, headers.get("allow")]).toEqual([405, notAllowed, "GET, HEAD"]);
  });

  it("keeps the method: a POST is redirected if the path has a POST", async () => {
    const orders = post(Path.of("orders"), { returns: Returns.text }, () => "ordered");
    const { status, headers } = await Test.call(Test.app([orders], redirect), "POST", "/orders/", { body: "x" });
    expect([status, headers.get("location")]).toEqual([308, "/orders"]);
  });

  it("has priority over the application's not-found answer", async () => {
    const own = Test.app(routes, { ...redirect, notFound: () => Answer.make("mine", { status: 404 }) });
    expect((await Test.call(own, "GET", "/hello/kim/")).status).toBe(308);
    expect((await Test.call(own, "GET", "/nowhere/")).body).toBe("mine");
  });
});

describe("the redirect never leads to another site", () => {
  const file = Path.rest("file");
  const every = get(Path.of(file), { returns: Returns.text }, () => "all");
  const hosts = ["elsewhere.example", "elsewhere.example/hello/kim", "elsewhere.example:80", "kim@elsewhere.example"];
  const starts = [
    "//",
    "///",
    "/\\",
    "\\\\",
    "\\/",
    "/\\/",
    "//\\",
    "/%2F",
    "/%2f",
    "/%5C",
    "/%5c%5c",
    "/.//",
    "/../",
    "/%2e%2e//",
  ];
  const targets = starts.flatMap((start) => hosts.map((host) => `${start}${host}/`));

  it.each(targets)("RT-15 %s", async (target) => {
    for (const routes of [[hello], [two], [every]]) {
      const { status, headers } = await Test.call(Test.app(routes, redirect), "GET", target);
      if (status !== 308) {
        expect([400, 404]).toContain(status);
        continue;
      }
      const there = new URL(headers.get("location") as string, "http://here.example/x");
      expect(there.host, `${target} → ${headers.get("location")}`).toBe("here.example");
    }
  });

  it.each([
    "//elsewhere.example/",
    "/\\elsewhere.example/",
    "//elsewhere.example/hello/kim/",
    "/\\elsewhere.example/hello/kim/",
  ])("RT-15 %s is a 404", async (target) => {
    for (const routes of [[hello], [two], [every]]) {
      expect((await Test.call(Test.app(routes, redirect), "GET", target)).status).toBe(404);
    }
  });

  it("through a standard Request", async () => {
    const app = App.make([every, two], redirect);
    for (const url of ["http://here.example//elsewhere.example/", "http://here.example/\\elsewhere.example/"]) {
      const response = await app.fetch(new Request(url));
      expect([response.status, response.headers.get("location")]).toEqual([404, null]);
    }
  });
});
