/** Deployments while the server runs: files that others replace, and a root that leads to another folder. */
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import disk from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { App, Test } from "usher-http";
import { Files } from "usher-http/files";
import { eventually } from "../../support/eventually.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "usher-replaced-"));
  return () => rmSync(folder, { recursive: true });
});

/** The modification time that a build gives to all files, so that two builds of one source are the same. */
const built = new Date("1980-01-01T00:00:01Z");

function put(path: string, content: string | Uint8Array): void {
  const fresh = join(folder, "fresh");
  writeFileSync(fresh, content);
  utimesSync(fresh, built, built);
  renameSync(fresh, join(folder, path));
}

describe("a file with new content, and the length and time of the old file", () => {
  it("is sent again, also to a client that has the old one", async () => {
    put("index.html", "one");
    const app = Test.app(Files.directory(folder));
    const { body, headers } = await Test.call(app, "GET", "/index.html");
    expect(body).toBe("one");
    put("index.html", "two");
    const asked = { headers: { "if-none-match": headers.get("etag") as string } };
    await eventually(async () => {
      expect(await Test.call(app, "GET", "/index.html", asked)).toMatchObject({ status: 200, body: "two" });
    });
  });

  it("is sent by a server that has not sent the old one", async () => {
    const get = (headers: Record<string, string> = {}) =>
      Test.call(Test.app(Files.directory(folder)), "GET", "/index.html", { headers });
    put("index.html", "one");
    const tag = (await get()).headers.get("etag") as string;
    expect((await get({ "if-none-match": tag })).status).toBe(304);
    put("index.html", "two");
    expect(await get({ "if-none-match": tag })).toMatchObject({ status: 200, body: "two" });
  });
});

it.each([
  ["a small file", 10],
  ["a large file", 100_000],
])("%s that is replaced between two checks is sent whole", async (_what, length) => {
  put("index.html", "one");
  const look = disk.stat;
  const looking = vi.spyOn(disk, "stat").mockImplementationOnce(async (...given) => {
    const seen = await look(...given);
    put("index.html", new Uint8Array(length));
    return seen;
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    looking.mockRestore();
    syncBuiltinESMExports();
  });
  const { headers, body } = await Test.call(Test.app(Files.directory(folder)), "GET", "/index.html");
  expect([headers.get("content-length"), body.length]).toEqual([`${length}`, length]);
});

it.skipIf(process.getuid?.() === 0).each([10, 100_000])(
  "a file of %i bytes without permission to read it is a 404",
  async (length) => {
    put("secret.txt", new Uint8Array(length));
    chmodSync(join(folder, "secret.txt"), 0);
    const { fetch } = App.make(Files.directory(folder));
    expect((await fetch(new Request("http://localhost/secret.txt"))).status).toBe(404);
  },
);

it("a large file that was replaced since it was last sent is sent whole", async () => {
  const { fetch } = App.make(Files.directory(folder));
  const sent = async () => new Uint8Array(await (await fetch(new Request("http://localhost/app.js"))).arrayBuffer());
  for (let version = 0; version < 5; version++) {
    const content = new Uint8Array(100_000 + version).fill(version);
    put("app.js", content);
    expect(Buffer.compare(await sent(), content)).toBe(0);
  }
});

it("a root that is a link may point to another folder", async () => {
  for (const release of ["1", "2"]) {
    mkdirSync(join(folder, release));
    put(join(release, "index.html"), `release ${release}`);
    put(join(release, "app.js"), new Uint8Array(100_000).fill(Number(release)));
  }
  const root = join(folder, "current");
  symlinkSync("1", root);
  const app = Test.app(Files.directory(root, { index: "index.html" }));
  const text = async () => (await Test.call(app, "GET", "/")).body;
  expect(await text()).toBe("release 1");
  symlinkSync("2", join(folder, "next"));
  renameSync(join(folder, "next"), root);
  await eventually(async () => expect(await text()).toBe("release 2"));
  rmSync(join(folder, "1"), { recursive: true });
  expect((await Test.call(app, "GET", "/app.js")).body).toBe("\u0002".repeat(100_000));
  // The old folder is outside of the root now.
  symlinkSync(join(folder, "2", "index.html"), join(folder, "outside.html"));
  rmSync(root);
  mkdirSync(root);
  renameSync(join(folder, "outside.html"), join(root, "index.html"));
  await eventually(async () => expect((await Test.call(app, "GET", "/")).status).toBe(404));
});

it.each([
  ["a small file", 10],
  ["a large file", 100_000],
])("%s with a date of the future is sent with no date of the future", async (_what, length) => {
  put("index.html", new Uint8Array(length));
  utimesSync(join(folder, "index.html"), new Date("2100-01-01"), new Date("2100-01-01"));
  const before = Math.floor(Date.now() / 1000) * 1000;
  const { headers } = await Test.call(Test.app(Files.directory(folder)), "HEAD", "/index.html");
  const modified = Date.parse(headers.get("last-modified") ?? "");
  expect(modified).toBeGreaterThanOrEqual(before);
  expect(modified).toBeLessThanOrEqual(Date.now());
});
