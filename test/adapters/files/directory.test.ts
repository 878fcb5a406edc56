/** Files from disk: the rows FD and, with a site's options, SF of what a directory can do. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { App, Path, Returns, Test, get } from "usher-http";
import type { Route } from "usher-http";
import { Files } from "usher-http/files";
import { eventually } from "../../support/eventually.ts";
import { logWith } from "../../support/logs.ts";
import { start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";

const outside = mkdtempSync(join(tmpdir(), "usher-files-"));
const root = join(outside, "root");
const changedAt = new Date("2026-11-20T12:00:00Z");
const D = "Fri, 20 Nov 2026 12:00:00 GMT";

function put(path: string, text: string | Uint8Array): void {
  const file = join(root, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text);
  utimesSync(file, changedAt, changedAt);
}

beforeAll(() => {
  writeFileSync(join(outside, "secret.txt"), "SECRET");
  const site = {
    "a.txt": "ALPHABET",
    "index.html": "FRONT DOOR",
    "404.html": "NOT FOUND",
    "about/index.html": "ABOUT",
    "app/index.html": "APP SHELL",
    "docs/b.txt": "B",
    "_astro/site.3f2a.js": "1",
    "hello world.txt": "spaced",
    "module.WASM": "w",
    "data.bin": "d",
    "no-extension": "n",
    ".env": "SECRET",
    ".git/config": "SECRET",
    "app.js": "plain",
    "app.js.br": "br",
    "app.js.gz": "gz",
    "café.txt": "c",
    "empty.txt": "",
    "back\\slash.txt": "SECRET",
  };
  for (const [path, text] of Object.entries(site)) put(path, text);
  put("large.bin", new Uint8Array(10_000_000).fill(97));
  symlinkSync(join(outside, "secret.txt"), join(root, "out.txt"));
  symlinkSync(outside, join(root, "out"));
  symlinkSync(join(root, "a.txt"), join(root, "in.txt"));
  symlinkSync(join(root, "loop"), join(root, "loop"));
});
afterAll(() => rmSync(outside, { recursive: true }));

/** By a URL as it is sent: `Request` would resolve `..` and backslashes. */
async function ask(routes: readonly Route[], line: string, headers: readonly string[] = []) {
  const client = await RawClient.to((await start(routes)).port);
  const answer = await client.ask(line, headers).answer({ toHead: line.startsWith("HEAD") });
  client.leave();
  const fields = new Map(answer.head.map(([name, value]) => [name.toLowerCase(), value]));
  return { status: answer.status, body: answer.body, headers: fields };
}

describe("a directory with default options", () => {
  it("FD-01 sends a file with its type, length and version", async () => {
    const { status, body, headers } = await ask(Files.directory(root), "GET /a.txt");
    expect([status, body]).toEqual([200, "ALPHABET"]);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-length": "8",
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-cache",
      "last-modified": D,
      "accept-ranges": "bytes",
      etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
    });
    expect(headers.get("vary")).toBeUndefined();
    expect(headers.get("content-disposition")).toBeUndefined();
  });

  it.each([
    ["FD-03", "/../secret.txt"],
    ["FD-04", "/%2e%2e/secret.txt"],
    ["FD-06", "/a.txt%00"],
    ["FD-07", "/docs%5c..%5ca.txt"],
    ["FD-09", "/out.txt"],
    ["FD-09", "/out/secret.txt"],
    ["FD-10", "/docs"],
    ["FD-12", "/a.txt/below"],
    ["a hidden file", "/.env"],
    ["in a hidden folder", "/.git/config"],
    ["a loop of links", "/loop"],
    ["a slash in a segment", "/docs%2fb.txt"],
    ["a slash at the end", "/a.txt/"],
    ["two slashes", "//a.txt"],
    ["a dot", "/./a.txt"],
    ["the root", "/"],
    ["a name with a backslash", "/back%5cslash.txt"],
    ["a long name", `/${"a".repeat(5000)}`],
    ["no UTF-8", "/%ff"],
  ])("%s GET %s is 404", async (_id, path) => {
    const { status, body } = await ask(Files.directory(root), `GET ${path}`);
    expect(body).not.toContain("SECRET");
    expect(path === "/%ff" ? [400, 404] : [404]).toContain(status);
  });
});

describe("a directory", () => {
  it.each([
    ["FD-13 a link inside", "/in.txt", "ALPHABET", "text/plain; charset=utf-8"],
    ["a folder below", "/docs/b.txt", "B", "text/plain; charset=utf-8"],
    ["SF-01 a blank", "/hello%20world.txt", "spaced", "text/plain; charset=utf-8"],
    ["SF-07 a script", "/_astro/site.3f2a.js", "1", "text/javascript; charset=utf-8"],
    ["SF-09 an extension in upper case", "/module.WASM", "w", "application/wasm"],
    ["SF-09 an unknown extension", "/data.bin", "d", "application/octet-stream"],
    ["no extension", "/no-extension", "n", "application/octet-stream"],
    ["not ASCII", "/caf%C3%A9.txt", "c", "text/plain; charset=utf-8"],
    ["empty", "/empty.txt", "", "text/plain; charset=utf-8"],
  ])("%s: GET %s", async (_id, path, text, type) => {
    const { status, body, headers } = await ask(Files.directory(root), `GET ${path}`);
    expect([status, body, headers.get("content-type")]).toEqual([200, text, type]);
  });

  it("SF-04 has no other method, and HEAD without a body", async () => {
    expect((await ask(Files.directory(root), "POST /a.txt", ["content-length: 0"])).status).toBe(405);
    const { status, body, headers } = await ask(Files.directory(root), "HEAD /a.txt");
    expect([status, body, headers.get("content-length")]).toEqual([200, "", "8"]);
  });

  it.each<readonly [id: string, headers: readonly string[], status: number, body: string]>([
    ["CR-18", [`If-Modified-Since: ${D}`], 304, ""],
    ["CR-24", ["Range: bytes=-3"], 206, "BET"],
    ["several", ["Range: bytes=0-0,-1"], 206, "ALPHABET"],
    ["CR-28", ["Range: bytes=8-"], 416, ""],
  ])("%s %j is %i", async (_id, headers, status, body) => {
    const answered = await ask(Files.directory(root), "GET /a.txt", headers);
    expect([answered.status, status === 416 ? "" : answered.body]).toEqual([status, body]);
  });

  it("sends a large file whole, in parts, and by its tag", async () => {
    const routes = Files.directory(root);
    const { body, headers } = await ask(routes, "GET /large.bin");
    expect([body.length, headers.get("content-length")]).toEqual([10_000_000, "10000000"]);
    expect((await ask(routes, "GET /large.bin", ["Range: bytes=9999990-"])).body).toBe("a".repeat(10));
    // Its tag is weak, and another one each time, until a tick of the clock has passed since it was written.
    await eventually(async () => {
      const tag = (await ask(routes, "HEAD /large.bin")).headers.get("etag");
      expect((await ask(routes, "GET /large.bin", [`If-None-Match: ${tag}`])).status).toBe(304);
    });
  });
});

describe("a site", () => {
  const site = () =>
    Files.directory(root, { index: "index.html", notFound: "404.html", immutable: ["_astro"], types: { bin: "x/y" } });

  it.each([
    ["SF-01", "/", 200, "FRONT DOOR"],
    ["SF-01", "/about", 200, "ABOUT"],
    ["SF-01", "/about/index.html", 200, "ABOUT"],
    ["FD-15", "/docs", 404, "NOT FOUND"],
    ["SF-03", "/ordersheet", 404, "NOT FOUND"],
    ["SF-03", "/about%2Findex.html", 404, "NOT FOUND"],
    ["SF-03", "/../index.html", 404, "NOT FOUND"],
    ["CR-31", "/nowhere", 404, "NOT FOUND"],
  ])("%s GET %s is %i %s", async (_id, path, status, body) => {
    const answered = await ask(site(), `GET ${path}`, ["If-None-Match: *"].slice(status === 404 ? 0 : 1));
    expect([answered.status, answered.body]).toEqual([status, body]);
    expect(answered.headers.get("etag") === undefined).toBe(status === 404);
  });

  it("SF-07 keeps what never changes for a year", async () => {
    const { headers } = await ask(site(), "GET /_astro/site.3f2a.js");
    expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect((await ask(site(), "GET /data.bin")).headers.get("content-type")).toBe("x/y");
  });

  it("SF-06 may be under a path, next to the application's own routes", async () => {
    const about = get(Path.of("about"), { returns: Returns.text }, () => "the app's");
    const own = get(Path.of("static", "a.txt"), { returns: Returns.text }, () => "first");
    const routes = [...Files.directory(root, { at: "/static/", index: "index.html" }), about, own];
    for (const [path, body] of [
      ["/static/about", "ABOUT"],
      ["/static", "FRONT DOOR"],
      ["/about", "the app's"],
      ["/static/a.txt", "first"],
    ]) {
      expect((await ask(routes, `GET ${path}`)).body).toBe(body);
    }
  });

  it("answers with one page for every path of a single-page app, and with 404 for a file that is missing", async () => {
    const routes = Files.directory(root, { fallback: "app/index.html" });
    expect((await ask(routes, "GET /orders/7")).body).toBe("APP SHELL");
    expect((await ask(routes, "GET /a.txt")).body).toBe("ALPHABET");
    expect((await ask(routes, "GET /missing.js")).status).toBe(404);
    expect((await ask(routes, "GET /../secret")).status).toBe(404);
    expect((await ask(routes, "GET /.hidden")).status).toBe(404);
  });
});

describe("compressed files next to a file", () => {
  it.each([
    ["SF-12", ["Accept-Encoding: gzip, br"], "br", "br"],
    ["SF-12", ["Accept-Encoding: br;q=0.5, gzip"], "gz", "gzip"],
    ["SF-12", ["Accept-Encoding: zstd, gzip"], "gz", "gzip"],
    ["SF-12", ["Accept-Encoding: identity"], "plain", undefined],
    ["SF-13", ["Accept-Encoding: identity", "Accept-Encoding: br"], "br", "br"],
    ["none", [], "plain", undefined],
    ["excluded", ["Accept-Encoding: br;q=0, gzip;q=0"], "plain", undefined],
    ["any", ["Accept-Encoding: *"], "br", "br"],
    ["any but one", ["Accept-Encoding: br;q=0, *"], "gz", "gzip"],
    ["gzip by its old name", ["Accept-Encoding: x-gzip"], "gz", "gzip"],
    ["unreadable", ["Accept-Encoding: br;q=2"], "plain", undefined],
    ["rather plain", ["Accept-Encoding: identity, gzip;q=0.5"], "plain", undefined],
  ])("%s %j is %s", async (_id, headers, body, encoding) => {
    const answered = await ask(Files.directory(root), "GET /app.js", headers);
    expect([answered.body, answered.headers.get("content-encoding")]).toEqual([body, encoding]);
    expect(answered.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(answered.headers.get("vary")).toBe("Accept-Encoding");
  });

  it("each have an ETag of their own", async () => {
    const routes = Files.directory(root);
    const tags = new Set<string | undefined>();
    for (const encoding of ["identity", "br", "gzip"]) {
      tags.add((await ask(routes, "GET /app.js", [`Accept-Encoding: ${encoding}`])).headers.get("etag"));
    }
    expect(tags.size).toBe(3);
  });
});

describe("a download", () => {
  it.each([
    ["FD-16", "a.txt", 'attachment; filename="a.txt"'],
    ["FD-16", "café.txt", `attachment; filename="caf__.txt"; filename*=UTF-8''caf%C3%A9.txt`],
  ])("%s of %s", async (_id, name, disposition) => {
    const { headers } = await ask(Files.directory(root, { download: true }), `GET /${encodeURIComponent(name)}`);
    expect(headers.get("content-disposition")).toBe(disposition);
  });

  it.each([
    ['a"b\\c%.txt', `attachment; filename="a_b_c_.txt"; filename*=UTF-8''a%22b%5Cc%25.txt`],
    ["../../x.pdf", 'attachment; filename="x.pdf"'],
    ["a\r\nb: c", 'attachment; filename="a__b: c"'],
    ["(1)*'.txt", `attachment; filename="(1)*'.txt"`],
    ["€(1).txt", `attachment; filename="___(1).txt"; filename*=UTF-8''%E2%82%AC%281%29.txt`],
  ])("is stored under the name %j", async (download, disposition) => {
    const answer = await Files.answer(join(root, "a.txt"), { download });
    expect(answer?.headers).toContainEqual(["content-disposition", disposition]);
  });
});

describe("Files.answer", () => {
  const route = (path: string) =>
    get(
      Path.root,
      { returns: Returns.response },
      async () => (await Files.answer(path)) ?? new Response(null, { status: 410 }),
    );
  it("sends a file at any path of the application", async () => {
    const { status, body, headers } = await Test.call(Test.app([route(join(root, "out.txt"))]), "GET", "/");
    expect([status, body, headers.get("etag")]).toEqual([200, "SECRET", expect.stringMatching(/^"[0-9a-f]{32}"$/)]);
  });
  it("sends an upload that is stored under an id with its own type", async () => {
    put("4f9c", "%PDF-1.7");
    const route = get(
      Path.root,
      { returns: Returns.response },
      async () =>
        (await Files.answer(join(root, "4f9c"), { contentType: "application/pdf", download: "Spektrum é.pdf" })) ??
        new Response(null, { status: 410 }),
    );
    const whole = await Test.call(Test.app([route]), "GET", "/");
    expect([whole.status, whole.headers.get("content-type")]).toEqual([200, "application/pdf"]);
    expect(whole.headers.get("content-disposition")).toMatch(/^attachment; filename="Spektrum __\.pdf"/);
    const part = await Test.call(Test.app([route]), "GET", "/", { headers: { range: "bytes=1-3" } });
    expect([part.status, part.headers.get("content-type"), part.body]).toEqual([206, "application/pdf", "PDF"]);
  });
  it.each([[root], [join(root, "nothing")], [join(root, "a.txt", "below")], ["\0"]])(
    "is undefined for %j",
    async (path) => {
      expect(await Files.answer(path)).toBeUndefined();
    },
  );
});

describe("a file that changes", () => {
  it("is sent in its new version after a short time", async () => {
    put("changes.txt", "one");
    const app = Test.app(Files.directory(root));
    const text = async () => (await Test.call(app, "GET", "/changes.txt")).body;
    expect(await text()).toBe("one");
    writeFileSync(join(root, "changes.txt"), "two!");
    await eventually(async () => expect(await text()).toBe("two!"));
    rmSync(join(root, "changes.txt"));
    await eventually(async () => expect((await Test.call(app, "GET", "/changes.txt")).status).toBe(404));
  });

  it.each([
    ["is written to", () => put("moving.bin", new Uint8Array(5_000_000))],
    ["is cut", () => put("moving.bin", new Uint8Array(100))],
    [
      "is replaced by a link out",
      () => (rmSync(join(root, "moving.bin")), symlinkSync(join(outside, "secret.txt"), join(root, "moving.bin"))),
    ],
    ["is removed", () => rmSync(join(root, "moving.bin"))],
  ])("and %s between its head and its content ends the connection", async (_what, change) => {
    logWith({ level: undefined });
    rmSync(join(root, "moving.bin"), { force: true });
    put("moving.bin", new Uint8Array(4_000_000));
    const app = App.make(Files.directory(root));
    const response = await app.fetch(new Request("http://localhost/moving.bin"));
    expect(response.headers.get("content-length")).toBe("4000000");
    change();
    await expect(response.arrayBuffer()).rejects.toThrow("the stream failed");
    rmSync(join(root, "moving.bin"), { force: true });
  });

  it("is replaced while it is sent, and the client gets the old version", async () => {
    put("replaced.bin", new Uint8Array(4_000_000).fill(97));
    const app = App.make(Files.directory(root));
    const response = await app.fetch(new Request("http://localhost/replaced.bin"));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let length = (await reader.read()).value!.byteLength;
    put("new.bin", new Uint8Array(4_000_000).fill(98));
    renameSync(join(root, "new.bin"), join(root, "replaced.bin"));
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      expect(value.every((byte) => byte === 97)).toBe(true);
      length += value.byteLength;
    }
    expect(length).toBe(4_000_000);
  });
});

describe("clients that disconnect", () => {
  it("leave no file open", async () => {
    const { port } = await start(Files.directory(root));
    const open = () => readdirSync("/proc/self/fd").length;
    const before = open();
    for (let i = 0; i < 20; i++) {
      const client = await RawClient.to(port);
      client.ask("GET /large.bin", i % 2 === 0 ? [] : ["Range: bytes=0-4000000,9000000-"]);
      await once(client.socket, "data");
      client.leave();
    }
    await eventually(() => expect(open()).toBeLessThanOrEqual(before));
  });

  it("and concurrent clients share one read of the file", async () => {
    const app = Test.app(Files.directory(root));
    const answers = await Promise.all(
      Array.from({ length: 200 }, async () => (await Test.call(app, "GET", "/a.txt")).body),
    );
    expect(new Set(answers)).toEqual(new Set(["ALPHABET"]));
  });
});

describe("at start", () => {
  it.each<readonly [root: unknown, options: unknown, message: string]>([
    [join(root, "nothing"), {}, "is not a directory"],
    ["nothing", {}, `Files.directory: nothing is not a directory: it is read as ${resolve("nothing")}`],
    [join(root, "a.txt"), {}, "is not a directory"],
    [root, { notFound: "nothing.html" }, "Files.directory: notFound: nothing.html is not a file of"],
    [root, { fallback: "docs" }, "Files.directory: fallback: docs is not a file of"],
    [root, { fallback: { file: "docs", under: [] } }, "Files.directory: fallback: docs is not a file of"],
    [root, { fallback: { file: "index.html" } }, "Files.directory: fallback.under is undefined, and not a list of"],
    [
      root,
      { fallback: { file: "a.txt", except: "api" } },
      "Files.directory: fallback.except is a string, and not a list of",
    ],
    [root, { fallback: { under: ["a"] } }, "Files.directory: fallback.file is undefined, and not a text"],
    [root, { fallback: 7 }, "Files.directory: fallback is a number, and not a text"],
    [root, { dotfiles: true }, "Files.directory: dotfiles is a boolean, and not a list of texts"],
    [root, { dotfiles: "yes" }, "Files.directory: dotfiles is a string, and not a list of texts"],
    [root, { dotfiles: ["env"] }, 'Files.directory: dotfiles: "env" is not the name of a hidden file or folder'],
    [root, { dotfiles: [".."] }, 'Files.directory: dotfiles: ".." is not the name'],
    [root, { dotfiles: [".a/.b"] }, 'Files.directory: dotfiles: ".a/.b" is not the name'],
    [root, { download: 7 }, "Files.directory: download is a number, and not a text"],
    [undefined, {}, "Files.directory: root is undefined, and not a text"],
    [root, null, "Files.directory: options is null, and not an object"],
    [root, { index: true }, "Files.directory: index is a boolean, and not a text"],
    [root, { immutable: "_astro" }, "Files.directory: immutable is a string, and not a list of texts"],
    [root, { types: "x" }, "Files.directory: types is a string, and not an object"],
  ])("%s %j is refused", (root, options, message) => {
    expect(() => Files.directory(root as never, options as never)).toThrow(message);
  });
});

it("holds only a limited number of bytes of files in memory", async () => {
  for (let i = 0; i < 400; i++) put(`many/${i}.bin`, new Uint8Array(60_000));
  put("many/last.bin.gz", gzipSync("x"));
  const app = Test.app(Files.directory(root));
  for (let i = 0; i < 400; i++) expect((await Test.call(app, "GET", `/many/${i}.bin`)).status).toBe(200);
  // Sixteen of the 24 MB: the first files were evicted, and are read again.
  expect((await Test.call(app, "GET", "/many/0.bin")).body.length).toBe(60_000);
});
