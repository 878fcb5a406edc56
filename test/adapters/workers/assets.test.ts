/** The static assets of a Worker, and a site in its memory, under Miniflare. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Miniflare } from "../../support/miniflare.ts";
import { bundle } from "./running.ts";

const program = `
import { Dep, Log, Path, Returns, get } from "usher-http";
import { Files } from "usher-http/files";
import { worker } from "../../../adapters/workers/index.ts";

Log.setup({ level: "warn" });
const assets = Dep.ofResource("assets");
const own = get(Path.of("own.txt"), { returns: Returns.text }, () => "the app's");
const site = { "index.html": "IN MEMORY", "data.bin": { base64: "AAEC" } };
let refused = "";
try {
  Files.directory("/");
} catch (thrown) {
  refused = thrown.message;
}
const why = get(Path.of("why"), { returns: Returns.text }, () => refused);

export default worker(
  [own, why, ...Files.bundle(site, { at: "memory", index: "index.html" }), ...Files.assets(assets, { at: "site", immutable: ["_astro"] }),
    ...Files.assets(assets, { cacheControl: "no-store" })],
  ({ ASSETS }) => ({ resources: [Dep.resource(assets, ASSETS)] }));`;

const directory = mkdtempSync(join(tmpdir(), "usher-assets-"));
const files = {
  "index.html": "FRONT DOOR",
  "about/index.html": "ABOUT",
  "_astro/site.3f2a.js": "1",
  "hello world.txt": "spaced",
  "own.txt": "the platform's",
  ".hidden/key.txt": "SECRET",
};

let miniflare: Miniflare;
beforeAll(async () => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(directory, path, ".."), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  miniflare = new Miniflare({
    modules: true,
    script: await bundle({ contents: program }),
    compatibilityDate: "2026-07-01",
    compatibilityFlags: ["nodejs_als"],
    assets: {
      directory,
      binding: "ASSETS",
      // As run_worker_first does: otherwise the Worker sees only paths without an asset.
      routerConfig: { invoke_user_worker_ahead_of_assets: true, has_user_worker: true },
    },
  });
  await miniflare.ready;
});
afterAll(async () => {
  await miniflare.dispose();
  rmSync(directory, { recursive: true });
});

const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
  miniflare.dispatchFetch(`http://h${path}`, { redirect: "manual", ...init });

describe("the assets of a Worker", () => {
  it.each([
    ["the page of a folder", "/", 200, "FRONT DOOR"],
    ["a folder", "/about", 200, "ABOUT"],
    ["a slash at the end of a folder", "/about/", 200, "ABOUT"],
    ["the same below a path", "/site/about/", 200, "ABOUT"],
    ["a blank", "/hello%20world.txt", 200, "spaced"],
    ["the app's own route", "/own.txt", 200, "the app's"],
    ["below a path", "/site/own.txt", 200, "the platform's"],
    ["a folder below a path", "/site/about", 200, "ABOUT"],
    ["the path itself", "/site", 200, "FRONT DOOR"],
    ["the site in memory", "/memory", 200, "IN MEMORY"],
  ])("%s: GET %s", async (_what, path, status, body) => {
    const answered = await ask(path);
    expect([answered.status, await answered.text()]).toEqual([status, body]);
  });

  it.each([
    ["nothing there", "/nothing.txt"],
    ["nothing with a slash at its end", "/nothing/"],
    ["two slashes at the end", "/about//"],
    ["a hidden folder", "/.hidden/key.txt"],
    ["a hidden folder with a slash at its end", "/.hidden/"],
    ["an encoded separator", "/about%2findex.html"],
    ["a backslash", "/about%5cindex.html"],
    ["NUL", "/index.html%00"],
    ["an encoded dot segment", "/about/%2e%2e%2findex.html"],
  ])("%s is the app's 404: GET %s", async (_what, path) => {
    const answered = await ask(path);
    expect([answered.status, await answered.json()]).toEqual([
      404,
      { error: "not_found", message: expect.any(String) },
    ]);
  });

  it("have the platform's types and tags, and the app's Cache-Control", async () => {
    const first = await ask("/site/_astro/site.3f2a.js");
    expect(await first.text()).toBe("1");
    expect(Object.fromEntries(first.headers)).toMatchObject({
      "content-type": expect.stringContaining("text/javascript"),
      "cache-control": "public, max-age=31536000, immutable",
      etag: expect.stringMatching(/^"/),
    });
    const again = await ask("/site/_astro/site.3f2a.js", {
      headers: { "if-none-match": first.headers.get("etag") as string },
    });
    expect([again.status, again.headers.get("cache-control"), await again.text()]).toEqual([
      304,
      "public, max-age=31536000, immutable",
      "",
    ]);
    expect((await ask("/hello%20world.txt")).headers.get("cache-control")).toBe("no-store");
  });

  it("answer HEAD, and no other method", async () => {
    const head = await ask("/about", { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect((await ask("/hello%20world.txt", { method: "POST" })).status).toBe(405);
  });

  it("redirect below their path, and never to a path with a trailing slash", async () => {
    const index = await ask("/site/about/index.html");
    expect([index.status, index.headers.get("location")]).toEqual([307, "/site/about"]);
    const root = await ask("/index.html");
    expect([root.status, root.headers.get("location")]).toEqual([307, "/"]);
    const below = await ask("/site/index.html");
    expect([below.status, below.headers.get("location")]).toEqual([307, "/site"]);
  });

  it("replace a file system on Workers", async () => {
    expect(await (await ask("/why")).text()).toMatch(
      /^Files\.directory: there is no file system here: use Files\.assets/,
    );
    const bytes = await ask("/memory/data.bin", { headers: { range: "bytes=1-" } });
    expect([bytes.status, [...new Uint8Array(await bytes.arrayBuffer())]]).toEqual([206, [1, 2]]);
  });
});

describe("the query of an asset's URL", () => {
  it.each([
    ["/site/about/index.html?from=a%20b&next=/x/", "/site/about?from=a%20b&next=/x/"],
    ["/index.html?q='1'", "/?q=%271%27"],
    ["/site/index.html?q=1", "/site?q=1"],
    ["/site/about.html?", "/site/about"],
  ])("redirect %s with its query to %s", async (path, location) => {
    const answered = await ask(path);
    expect([answered.status, answered.headers.get("location")]).toEqual([307, location]);
  });

  it.each(["/about?from=mail", "/?from='mail'", "/site/about?next=/x/"])("answer %s", async (path) => {
    expect((await ask(path)).status).toBe(200);
  });
});
