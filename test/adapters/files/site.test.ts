/** A site, from a disk and from memory: the rows SF, with the same answers from both. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Path, Returns, Test, get } from "usher-http";
import type { Route } from "usher-http";
import { Files } from "usher-http/files";
import type { DirectoryOptions } from "usher-http/files";
import { Files as FilesOfWorkers } from "../../../adapters/files/workerd.ts";
import { start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";

const site = {
  "index.html": "FRONT DOOR",
  "404.html": "NOT FOUND",
  "about/index.html": "ABOUT",
  "app/index.html": "APP SHELL",
  "_astro/site.3f2a.js": "1",
  "_astro/index.html": "LIST",
  "hello world.txt": "spaced",
  "module.WASM": "w",
  "data.bin": new Uint8Array([0, 1, 10, 13]),
  "app.js": "plain",
  "app.js.br": "br",
  "app.js.gz": "gz",
  ".env": "SECRET",
  ".well-known/security.txt": "public",
  "large.bin": new Uint8Array(300_000).fill(97),
  ["__proto__"]: "a member",
  constructor: "c",
};

const folder = mkdtempSync(join(tmpdir(), "usher-site-"));
const root = join(folder, "root");
beforeAll(() => {
  for (const [path, content] of Object.entries(site)) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), content);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

const noRoute = '{"error":"not_found","message":"There is nothing here."}';
const whole: DirectoryOptions = {
  index: "index.html",
  notFound: "404.html",
  fallback: { file: "app/index.html", under: ["orders"] },
  immutable: ["/_astro/"],
};
const sources = [
  ["Files.directory", (options: DirectoryOptions) => Files.directory(root, options)],
  ["Files.bundle", (options: DirectoryOptions) => Files.bundle(site, options)],
  [
    "Files.bundle of Files.read",
    ({ dotfiles = [".well-known"], ...options }: DirectoryOptions) =>
      Files.bundle(Files.read(root, { dotfiles }), { ...options, dotfiles }),
  ],
  ["Files.bundle of base64", (options: DirectoryOptions) => Files.bundle(base64Of(site), options)],
] as const;

function base64Of(files: { readonly [path: string]: string | Uint8Array }) {
  const coded = Object.entries(files).map(([path, content]) => {
    return [path, { base64: Buffer.from(content as string).toString("base64") }] as const;
  });
  return Object.fromEntries(coded);
}

/** As it is sent: `Request` would resolve `..`. */
async function ask(routes: readonly Route[], line: string, headers: readonly string[] = []) {
  const client = await RawClient.to((await start(routes)).port);
  const answer = await client.ask(line, headers).answer({ toHead: line.startsWith("HEAD") });
  client.leave();
  const fields = new Map(answer.head.map(([name, value]) => [name.toLowerCase(), value]));
  return { status: answer.status, body: answer.body, headers: fields };
}

const paths = [
  ["SF-01", "/", 200, "FRONT DOOR"],
  ["SF-01", "/about", 200, "ABOUT"],
  ["SF-01", "/about/index.html", 200, "ABOUT"],
  ["SF-01", "/orders/7", 200, "APP SHELL"],
  ["the folder of a fallback", "/orders", 200, "APP SHELL"],
  ["a dot below it", "/orders/jane.doe", 200, "APP SHELL"],
  ["a hostile path below it", "/orders/%2e%2e", 404, "NOT FOUND"],
  ["SF-01", "/hello%20world.txt", 200, "spaced"],
  ["SF-03", "/ordersheet", 404, "NOT FOUND"],
  ["SF-03", "/about%2Findex.html", 404, "NOT FOUND"],
  ["SF-03", "/../index.html", 404, "NOT FOUND"],
  ["below a file", "/app.js/x", 404, "NOT FOUND"],
  ["NUL", "/app.js%00", 404, "NOT FOUND"],
  ["another case", "/ABOUT", 404, "NOT FOUND"],
  ["a hidden file", "/.env", 404, "NOT FOUND"],
  ["a hidden folder that is not", "/.well-known/security.txt", 200, "public"],
  ["a name of JavaScript", "/constructor", 200, "c"],
  ["another", "/toString", 404, "NOT FOUND"],
  ["a name like a prototype's", "/__proto__", 200, "a member"],
  // A slash at the end makes another path, which has no file.
  ["a slash at the end of a folder", "/about/", 404, "NOT FOUND"],
  ["a slash at the end of a file", "/about/index.html/", 404, "NOT FOUND"],
  ["a slash at the end of nothing", "/nope/", 404, "NOT FOUND"],
  ["a slash at the end below a fallback", "/orders/7/", 200, "APP SHELL"],
  ["a slash at the end of a fallback's folder", "/orders/", 200, "APP SHELL"],
  ["two slashes", "//about", 404, "NOT FOUND"],
  ["two slashes inside", "/a//b", 404, "NOT FOUND"],
  ["two slashes below a fallback", "/orders//7", 404, "NOT FOUND"],
  ["two slashes at the end below a fallback", "/orders/7//", 404, "NOT FOUND"],
] as const;

describe.each(sources)("%s", (name, of) => {
  it("answers the paths of a site", async () => {
    const client = await RawClient.to((await start(of(whole))).port);
    for (const [id, path, status, body] of paths) {
      const answered = await client.ask(`GET ${path}`).answer();
      expect([id, path, answered.status, answered.body]).toEqual([id, path, status, body]);
    }
  });

  it("sends a missing path with a slash at its end to the page of a whole site, and to no page that is excepted", async () => {
    const fallback = { file: "app/index.html", except: ["api"] };
    const client = await RawClient.to((await start(of({ fallback, index: "index.html" }))).port);
    for (const [path, status, body] of [
      ["/orders/7/", 200, "APP SHELL"],
      ["/team/", 200, "APP SHELL"],
      ["/missing.js/", 404, noRoute],
      ["/orders//", 404, noRoute],
      ["/api/", 404, noRoute],
      ["/api/orders/", 404, noRoute],
    ] as const) {
      const answered = await client.ask(`GET ${path}`).answer();
      expect([path, answered.status, answered.body]).toEqual([path, status, body]);
    }
  });

  it("leaves the slash to `trailingSlash`, and every other route its own paths", async () => {
    const own = get(Path.of("api", "orders"), { returns: Returns.text }, () => "orders");
    const routes = [...of(whole), own];
    const redirecting = Test.app(routes, { trailingSlash: "redirect" });
    const asked = ["/about/", "/api/orders/", "/orders/7/", "/nope/", "/about//", "/api/orders", "/about"].map(
      async (path) => {
        const { status, headers, body } = await Test.call(redirecting, "GET", path);
        return [status, headers.get("location") ?? body];
      },
    );
    expect(await Promise.all(asked)).toEqual([
      [308, "/about"],
      [308, "/api/orders"],
      [308, "/orders/7"],
      [308, "/nope"],
      [404, "NOT FOUND"],
      [200, "orders"],
      [200, "ABOUT"],
    ]);
  });

  it("SF-04 has no other method, and HEAD without a body", async () => {
    expect((await ask(of(whole), "POST /about", ["content-length: 0"])).status).toBe(405);
    const head = await ask(of(whole), "HEAD /about");
    expect([head.status, head.body, head.headers.get("content-length")]).toEqual([200, "", "5"]);
  });

  it("SF-06 may be under a path, and next to a route of the app", async () => {
    const about = get(Path.of("about"), { returns: Returns.text }, () => "the app's");
    const routes = [...of({ ...whole, at: "static" }), about];
    const bodies = ["/static/about", "/static", "/about"].map(async (path) => {
      return (await ask(routes, `GET ${path}`)).body;
    });
    expect(await Promise.all(bodies)).toEqual(["ABOUT", "FRONT DOOR", "the app's"]);
  });

  it("SF-07, SF-09, SF-10 has the types, tags and times of its files", async () => {
    const hashed = await ask(of(whole), "GET /_astro/site.3f2a.js");
    expect(Object.fromEntries(hashed.headers)).toMatchObject({
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": "text/javascript; charset=utf-8",
    });
    expect((await ask(of(whole), "GET /module.WASM")).headers.get("content-type")).toBe("application/wasm");
    const bytes = await ask(of(whole), "GET /data.bin");
    expect([bytes.headers.get("content-type"), bytes.body]).toEqual(["application/octet-stream", "\0\x01\n\r"]);
    const isMemory = name !== "Files.directory";
    expect(bytes.headers.get("etag")).toMatch(/^"[0-9a-f]{32}"$/);
    expect(bytes.headers.has("last-modified")).toBe(!isMemory);
  });

  it.each([
    ["SF-12", ["Accept-Encoding: gzip, br"], "br", "br"],
    ["SF-12", ["Accept-Encoding: br;q=0.5, gzip"], "gz", "gzip"],
    ["SF-12", ["Accept-Encoding: zstd, gzip"], "gz", "gzip"],
    ["SF-12", ["Accept-Encoding: identity"], "plain", undefined],
    ["SF-13", ["Accept-Encoding: identity", "Accept-Encoding: br"], "br", "br"],
  ])("%s %j is %s", async (_id, headers, body, encoding) => {
    const answered = await ask(of(whole), "GET /app.js", headers);
    expect([answered.body, answered.headers.get("content-encoding")]).toEqual([body, encoding]);
    expect(answered.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(answered.headers.get("vary")).toBe("Accept-Encoding");
    const again = await ask(of(whole), "GET /app.js", [...headers, `If-None-Match: ${answered.headers.get("etag")}`]);
    expect(again.status).toBe(304);
  });

  it("has ranges", async () => {
    const part = await ask(of({}), "GET /large.bin", ["Range: bytes=-3"]);
    expect([part.status, part.body, part.headers.get("content-range")]).toEqual([
      206,
      "aaa",
      "bytes 299997-299999/300000",
    ]);
    expect((await ask(of({}), "GET /large.bin", ["Range: bytes=300000-"])).status).toBe(416);
  });

  it("without an index has no folders", async () => {
    expect((await ask(of({}), "GET /about")).status).toBe(404);
    expect((await ask(of({}), "GET /")).status).toBe(404);
  });

  it("answers concurrent requests with one read", async () => {
    const app = Test.app(of(whole));
    const answers = Array.from({ length: 100 }, async () => (await Test.call(app, "GET", "/about")).body);
    expect(new Set(await Promise.all(answers))).toEqual(new Set(["ABOUT"]));
  });
});

describe.each(sources)("%s next to an API", (_name, of) => {
  it("has a fallback for every path except those of some folders, whose missing paths are the app's own 404", async () => {
    const fallback = { file: "app/index.html", except: ["api", "internal/v1"] };
    const client = await RawClient.to((await start(of({ fallback, index: "index.html", notFound: "404.html" }))).port);
    const rows = [
      ["/orders/7", 200, "APP SHELL"],
      ["/apis", 200, "APP SHELL"],
      ["/internal/v2", 200, "APP SHELL"],
      ["/about", 200, "ABOUT"],
      ["/missing.js", 404, "NOT FOUND"],
      ["/api", 404, noRoute],
      ["/api/orders/7", 404, noRoute],
      ["/api/missing.js", 404, noRoute],
      ["/internal/v1/x", 404, noRoute],
    ] as const;
    for (const [path, status, body] of rows) {
      const answered = await client.ask(`GET ${path}`).answer();
      expect([path, answered.status, answered.body]).toEqual([path, status, body]);
    }
  });
});

describe("at start", () => {
  it.each<readonly [files: unknown, options: unknown, message: string]>([
    [undefined, {}, "Files.bundle: files is undefined, and not an object"],
    [{}, null, "Files.bundle: options is null, and not an object"],
    [{ "a.txt": 7 }, {}, 'Files.bundle: the file "a.txt" is a number, and not text, bytes, or an object with `base64`'],
    [{ "a.txt": { base64: "ä" } }, {}, 'Files.bundle: the file "a.txt" is not base64'],
    [{ "a.txt": { base64: "YQ" } }, {}, 'Files.bundle: the file "a.txt" is not base64'],
    [{ "/a.txt": "" }, {}, 'Files.bundle: the file "/a.txt": a path is names with / between them'],
    [{ "../a.txt": "" }, {}, 'Files.bundle: the file "../a.txt": a path is'],
    [{ "a\\b": "" }, {}, "a path is names"],
    [{ "": "" }, {}, "a path is names"],
    [{ "a.txt": "" }, { notFound: "404.html" }, "Files.bundle: notFound: 404.html is not one of the files"],
    [{ "a.txt": "" }, { fallback: { file: "b", under: ["a"] } }, "Files.bundle: fallback: b is not one of the files"],
  ])("%j %j is refused", (files, options, message) => {
    expect(() => Files.bundle(files as never, options as never)).toThrow(message);
  });

  it("a large file in base64 is accepted", async () => {
    const bytes = new Uint8Array(6_000_000).map((_, i) => i * 31);
    const app = Test.app(Files.bundle({ "a.bin": { base64: Buffer.from(bytes).toString("base64") } }));
    expect((await Test.call(app, "GET", "/a.bin")).headers.get("content-length")).toBe("6000000");
  });

  it("Workers have files in memory, and other options are refused with a message", async () => {
    const app = Test.app(FilesOfWorkers.bundle(site, whole));
    expect((await Test.call(app, "GET", "/about")).body).toBe("ABOUT");
    for (const name of ["directory", "answer", "read"] as const) {
      expect(() => FilesOfWorkers[name]("dist")).toThrow(`Files.${name}: there is no file system here`);
    }
  });
});

it.each([200, 206, 304])("a Worker's asset of status %i has the Cache-Control of its folder", async (status) => {
  const binding = { fetch: async () => new Response(status === 304 ? null : "x", { status }) };
  const app = Test.app(Files.assets(binding, { immutable: ["_astro"] }));
  const { headers } = await Test.call(app, "GET", "/_astro/site.3f2a.js", { headers: { range: "bytes=0-0" } });
  expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
});

describe("Files.read", () => {
  const inside = join(folder, "read");
  const put = (path: string, text: string) => {
    mkdirSync(join(inside, path, ".."), { recursive: true });
    writeFileSync(join(inside, path), text);
  };
  it("has every file but hidden ones, in one order", () => {
    put("b/c.txt", "c");
    put("a.txt", "a");
    put(".env", "SECRET");
    put("b/.git/config", "SECRET");
    symlinkSync(join(inside, "a.txt"), join(inside, "link.txt"));
    const texts = (files: ReturnType<typeof Files.read>) =>
      Object.entries(files).map(([path, content]) => [path, new TextDecoder().decode(content as Uint8Array)]);
    const shown = [
      ["a.txt", "a"],
      ["b/c.txt", "c"],
      ["link.txt", "a"],
    ];
    expect(texts(Files.read(inside))).toEqual(shown);
    expect(Object.keys(Files.read(inside, { dotfiles: [".env", ".git"] }))).toEqual([
      ".env",
      "a.txt",
      "b/.git/config",
      "b/c.txt",
      "link.txt",
    ]);
    expect(() => Files.read(inside, { maxBytes: 2 })).toThrow("link.txt is past the 2 bytes of maxBytes");
    expect(Object.keys(Files.read(inside, { maxBytes: 3 }))).toHaveLength(3);
  });

  it.each([
    ["leads out of the folder", () => tmpdir()],
    ["leads out of the folder", () => join(folder, "root", "app.js")],
    ["leads nowhere", () => join(inside, "nothing")],
    ["leads in a circle", () => inside],
  ])("refuses a link that %s", (why, target) => {
    put("links/a.txt", "a");
    symlinkSync(target(), join(inside, "links", "link"));
    expect(() => Files.read(inside)).toThrow(why);
    rmSync(join(inside, "links"), { recursive: true });
  });

  it.each<readonly [root: unknown, options: unknown, message: string]>([
    [undefined, {}, "Files.read: root is undefined, and not a text"],
    ["nothing", {}, `Files.read: nothing is not a directory: it is read as ${resolve("nothing")}`],
    [".", null, "Files.read: options is null, and not an object"],
    [".", { maxBytes: "1" }, "Files.read: maxBytes is a string, and not a whole number of bytes"],
    [".", { dotfiles: 1 }, "Files.read: dotfiles is a number, and not a list of texts"],
    [".", { dotfiles: ["a"] }, 'Files.read: dotfiles: "a" is not the name of a hidden file or folder'],
  ])("refuses %j %j", (root, options, message) => {
    expect(() => Files.read(root as never, options as never)).toThrow(message);
  });
});

describe("the type of a file", () => {
  it.each([
    ["favicon.ico", "image/vnd.microsoft.icon"],
    ["list.m3u8", "application/vnd.apple.mpegurl"],
    ["song.FLAC", "audio/flac"],
    ["film.mkv", "video/matroska"],
    ["letter.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
    ["figures.xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
    ["talk.pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"],
    ["figures.xls", "application/vnd.ms-excel"],
    ["talk.ppt", "application/vnd.ms-powerpoint"],
    ["letter.odt", "application/vnd.oasis.opendocument.text"],
    ["figures.ods", "application/vnd.oasis.opendocument.spreadsheet"],
    ["talk.odp", "application/vnd.oasis.opendocument.presentation"],
    ["place.kml", "application/vnd.google-earth.kml+xml"],
    ["ticket.pkpass", "application/vnd.apple.pkpass"],
    ["chair.usdz", "model/vnd.usdz+zip"],
    ["app.apk", "application/vnd.android.package-archive"],
    ["font.eot", "application/vnd.ms-fontobject"],
    ["all.rar", "application/vnd.rar"],
    ["all.zst", "application/zstd"],
    ["image.svg", "image/svg+xml; charset=utf-8"],
    ["noicon", "application/octet-stream"],
    ["a.constructor", "application/octet-stream"],
  ])("of %s is %s", async (name, type) => {
    const { headers } = await ask(Files.bundle({ [name]: "x" }), `GET /${name}`);
    expect(headers.get("content-type")).toBe(type);
  });

  it("is the application's own before any other", async () => {
    const routes = Files.bundle({ "favicon.ico": "x" }, { types: { ico: "image/x-icon" } });
    expect((await ask(routes, "GET /favicon.ico")).headers.get("content-type")).toBe("image/x-icon");
  });
});
