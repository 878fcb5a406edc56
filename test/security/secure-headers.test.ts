/** Security headers that restrict what a page may do in a browser. */
import { describe, expect, it } from "vitest";
import { Answer, Path, Returns, SecureHeaders, Test, get } from "usher-http";
import type { AppOptions } from "usher-http";
import "../support/logs.ts";

const page = get(Path.root, { returns: Returns.html }, () => "<p>");
const own = get(Path.of("own"), { returns: Returns.response }, () =>
  Answer.html("<p>", { headers: [["Content-Security-Policy", "default-src 'none'"]] }),
);
const raising = get(Path.of("raises"), { returns: Returns.text }, () => {
  throw new Error();
});

const call = async (target: string, options: AppOptions = { secureHeaders: SecureHeaders.make() }, method = "GET") =>
  (await Test.call(Test.app([page, own, raising], options), method, target)).headers;

const strict = {
  "content-security-policy":
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
  "referrer-policy": "same-origin",
  "strict-transport-security": "max-age=31536000",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

describe("secure headers: every answer", () => {
  it.each([
    ["a page", "GET", "/"],
    ["a 404", "GET", "/nowhere"],
    ["a 405", "POST", "/"],
    ["a 500", "GET", "/raises"],
  ])("%s has them", async (_what, method, target) => {
    expect(Object.fromEntries(await call(target, undefined, method))).toMatchObject(strict);
  });

  it("has none of them without the option", async () => {
    const headers = await call("/", {});
    expect(Object.keys(strict).filter((name) => headers.has(name))).toEqual([]);
  });

  it("of a route that sets one of them itself has only that one", async () => {
    const headers = await call("/own");
    expect(headers.get("content-security-policy")).toBe("default-src 'none'");
    expect(headers.get("x-frame-options")).toBe("DENY");
  });
});

describe("secure headers: options", () => {
  it("replace a value, add a header, or leave one out", async () => {
    const secureHeaders = SecureHeaders.make({
      "Referrer-Policy": "no-referrer",
      "x-frame-options": false,
      "origin-agent-cluster": "?1",
    });
    const headers = await call("/", { secureHeaders });
    expect(headers.get("referrer-policy")).toBe("no-referrer");
    expect(headers.has("x-frame-options")).toBe(false);
    expect(headers.get("origin-agent-cluster")).toBe("?1");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  it.each([
    [{ "a b": "x" }, 'SecureHeaders.make: "a b" is not a header\'s name'],
    [{ "x-a": "a\r\nb" }, "SecureHeaders.make: no header can hold the value of x-a"],
    [{ "content-type": "text/html" }, "SecureHeaders.make: content-type is set by the framework itself"],
  ])("ST %j is refused", (changes, why) => {
    expect(() => SecureHeaders.make(changes)).toThrow(why);
  });
});
