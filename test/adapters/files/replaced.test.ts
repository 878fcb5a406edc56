/** Deployments while the server runs: files that others replace, and a root that leads to another folder. */
import type { BigIntStats } from "node:fs";
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import disk from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { App, Test } from "usher-http";
import { Files } from "usher-http/files";
import { logWith } from "../../support/logs.ts";
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

/** Has every file report these times, in nanoseconds, as one tick of a coarse clock does. */
async function timesAre(ns: () => bigint): Promise<void> {
  const coarse = (stats: unknown): BigIntStats => {
    const time = ns();
    const times = { mtimeNs: time, ctimeNs: time, mtimeMs: time / 1_000_000n, ctimeMs: time / 1_000_000n };
    return Object.assign(Object.create(Object.getPrototypeOf(stats)), stats, times) as BigIntStats;
  };
  const handle = await disk.open(folder);
  const { stat: statOf } = handle;
  await handle.close();
  const { stat } = disk;
  const spies = [
    vi.spyOn(disk, "stat").mockImplementation(async (...given) => coarse(await stat(...given))),
    vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, "stat").mockImplementation(async function (
      this: FileHandle,
      ...given: unknown[]
    ) {
      return coarse(await statOf.apply(this, given as never));
    }),
  ];
  syncBuiltinESMExports();
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
    syncBuiltinESMExports();
  });
}

const nsOf = (ms: number): bigint => BigInt(ms) * 1_000_000n;
const longAgo = nsOf(Date.UTC(2020, 0)) + 7_000_001n;
/** A tick that has not ended: what is written now still has it. */
const lasting = nsOf(Date.UTC(2100, 0));
const sizes = [
  ["a small file", 10],
  ["a large file", 100_000],
  ["a very large file", 5_000_000],
] as const;

describe.each(sizes)("%s with the length and the times of the one before it", (_what, length) => {
  const old = "a".repeat(length);
  const fresh = "b".repeat(length);
  const replace = {
    "is renamed over it": () => put("file.bin", fresh),
    "is linked in its place": () => {
      put("other.bin", fresh);
      rmSync(join(folder, "file.bin"));
      symlinkSync("other.bin", join(folder, "file.bin"));
    },
    "is written into it": () => writeFileSync(join(folder, "file.bin"), fresh),
  };
  const ask = (app: Test.TestApp, headers: Record<string, string> = {}) =>
    Test.call(app, "GET", "/file.bin", { headers });

  it.each([
    ["is renamed over it", longAgo],
    ["is linked in its place", longAgo],
    ["is renamed over it", lasting],
    ["is written into it", lasting],
  ] as const)("%s, in one tick (%s): no client keeps the old one, or gets a part of both", async (how, tick) => {
    await timesAre(() => tick);
    put("file.bin", old);
    const app = Test.app(Files.directory(folder));
    const first = await ask(app);
    expect(first.body).toBe(old);
    const tag = first.headers.get("etag") as string;
    replace[how]();
    await eventually(async () => expect((await ask(app)).body).toBe(fresh));
    const part = await ask(app, { "if-range": tag, range: "bytes=5-" });
    expect([part.status, part.body]).toEqual([200, fresh]);
    expect(await ask(app, { "if-none-match": tag })).toMatchObject({ status: 200, body: fresh });
    expect(await ask(Test.app(Files.directory(folder)), { "if-none-match": tag })).toMatchObject({ status: 200 });
  });
});

describe("the tag of a large file is strong once a change would give it another time", () => {
  const second = 1_000_000_000n;
  const wholeSecond = (ms: number): bigint => (nsOf(ms) / second) * second;
  it.each([
    ["changed now", () => nsOf(Date.now()) + 1n, "weak"],
    ["changed a second ago", () => nsOf(Date.now() - 1000) + 1n, "strong"],
    ["changed a second ago, in whole seconds", () => wholeSecond(Date.now() - 1000), "weak"],
    ["changed four seconds ago, in whole seconds", () => wholeSecond(Date.now() - 4000), "strong"],
    ["changed by a clock that is ahead", () => nsOf(Date.now() + 60_000) + 1n, "weak"],
  ] as const)("%s", async (_what, time, kind) => {
    const at = time();
    await timesAre(() => (kind === "weak" ? time() : at));
    for (const length of [100_000, 5_000_000]) {
      put(`${length}.bin`, new Uint8Array(length));
      const ask = async () =>
        (await Test.call(Test.app(Files.directory(folder)), "HEAD", `/${length}.bin`)).headers.get("etag");
      const [one, other] = [await ask(), await ask()];
      expect([one?.startsWith("W/") === true ? "weak" : "strong", one === other]).toEqual([kind, kind === "strong"]);
    }
  });

  it("and is a hash up to 4 MiB, the same for each copy of the file", async () => {
    await timesAre(() => longAgo);
    const tags = new Map<number, Set<string | null>>();
    for (const length of [64 * 1024, 100_000, 4 * 1024 * 1024, 4 * 1024 * 1024 + 1]) {
      const own = new Set<string | null>();
      for (const name of ["one.bin", "two.bin"]) {
        put(name, new Uint8Array(length));
        own.add((await Test.call(Test.app(Files.directory(folder)), "HEAD", `/${name}`)).headers.get("etag"));
      }
      tags.set(length, own);
    }
    expect([...tags.values()].map((own) => own.size)).toEqual([1, 1, 1, 2]);
  });
});

it.each(sizes.slice(1))(
  "%s that is renamed over after its head was made ends the connection",
  async (_what, length) => {
    await timesAre(() => longAgo);
    logWith({ level: undefined });
    put("file.bin", new Uint8Array(length));
    const response = await App.make(Files.directory(folder)).fetch(new Request("http://localhost/file.bin"));
    put("file.bin", new Uint8Array(length).fill(1));
    await expect(response.arrayBuffer()).rejects.toThrow("the stream failed");
  },
);

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
