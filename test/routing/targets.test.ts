/** The forms of a request target (RFC 9112 §3.2), in any spelling that a client can send. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { App, Path, Returns, Test, get, request } from "usher-http";
import { codePoint } from "../support/code-point.ts";
import "../support/logs.ts";

const file = Path.rest("file");
const told = { inputs: { request }, returns: Returns.text } as const;
const host = get(Path.of("host"), told, ({ request }) => `${request.host} ${request.path} ${request.query("x")}`);
const root = get(Path.root, told, ({ request }) => `root ${request.host} ${request.query("x")}`);
const every = get(Path.of("e", file), told, ({ request }) => `${request.target} ${request.rawPath}`);
const app = Test.app([host, root, every]);

async function told200(target: string, headers: Record<string, string> = { host: "t" }): Promise<string> {
  const { status, body } = await Test.call(app, "GET", target, { headers });
  return status === 200 ? body : String(status);
}

describe("absolute-form", () => {
  it.each([
    ["RT-49", "http://abs.example/host", "abs.example /host undefined"],
    ["RT-49", "https://abs.example/host?x=1", "abs.example /host 1"],
    ["RT-49", "HTTP://ABS.example:80/host", "abs.example:80 /host undefined"],
    ["RT-49", "http://abs.example", "root abs.example undefined"],
    ["RT-49", "http://abs.example/", "root abs.example undefined"],
    ["RT-49", "http://abs.example?x=2", "root abs.example 2"],
    ["RT-49", "http://abs.example/%68ost", "abs.example /host undefined"],
    ["RT-49", "http://abs.example//host", "404"],
  ])("%s %s → %s", async (_id, target, expected) => {
    expect(await told200(target)).toBe(expected);
  });
});

describe("origin-form", () => {
  it.each([
    ["/host?x=1?y=2", "t /host 1?y=2"],
    ["/host?", "t /host undefined"],
    ["/host#x", "t /host undefined"],
    ["/host?x=1#y", "t /host 1"],
    ["/?x=/host", "root t /host"],
    ["/e/../host", "/e/../host /e/../host"],
    ["/e/%2e%2e/host?q", "/e/%2e%2e/host?q /e/%2e%2e/host"],
  ])("%s → %s", async (target, expected) => {
    expect(await told200(target)).toBe(expected);
  });

  it("Host is read in lower case, and is never part of the path", async () => {
    expect(await told200("/host", { host: "Example.COM:8080" })).toBe("example.com:8080 /host undefined");
    expect(await told200("/host", { host: "x.test/evil?" })).toBe("x.test/evil? /host undefined");
  });
});

describe("any other target is not a path", () => {
  it.each([
    "*",
    "*host",
    "xhost",
    "x/host",
    "",
    "?",
    "?x=1",
    "ftp://h/host",
    "ws://h/host",
    "http:/host",
    "http:host",
    "h:80",
    "//host",
    "/\\host",
  ])("GET %j is a 404", async (target) => {
    expect(await told200(target)).toBe("404");
  });

  it("no target makes the app throw", async () => {
    const target = fc.oneof(
      fc.string(),
      fc.string({
        unit: fc.constantFrom("/", "%", "2", "F", "?", "&", "=", "#", "*", ":", "\\", ".", "a", "\u0000", "\ud800"),
      }),
    );
    await fc.assert(
      fc.asyncProperty(target, fc.constantFrom("GET", "HEAD", "OPTIONS", "POST"), async (target, method) => {
        const redirecting = Test.app([host, root, every], { trailingSlash: "redirect" });
        for (const called of [app, redirecting])
          expect((await Test.call(called, method, target)).status).toBeLessThan(500);
      }),
      { numRuns: 1000 },
    );
  });

  it("no URL of a standard Request makes the app throw", async () => {
    const { fetch } = App.make([host, root, every], { trailingSlash: "redirect" });
    // `fc.webUrl` keeps each of the million characters that it may escape: a process takes a second to make them.
    const part = fc
      .array(fc.oneof(fc.constantFrom(..."aZ9-._~!$&'()*+,;=:@"), codePoint.map(encodeURIComponent)))
      .map((characters) => characters.join(""));
    const url = fc
      .record({
        scheme: fc.constantFrom("http", "https"),
        authority: fc.webAuthority(),
        path: fc.array(part).map((segments) => segments.map((segment) => `/${segment}`).join("")),
        query: fc.oneof(
          fc.constant(""),
          part.map((text) => `?${text}`),
        ),
        fragment: fc.oneof(
          fc.constant(""),
          part.map((text) => `#${text}`),
        ),
      })
      .map(({ scheme, authority, path, query, fragment }) => `${scheme}://${authority}${path}${query}${fragment}`);
    await fc.assert(
      fc.asyncProperty(url, async (url) => {
        expect((await fetch(new Request(url))).status).toBeLessThan(500);
      }),
    );
  });
});
