/** The files of a directory that are in memory, and those that are open. Time stands still, so that a kept file stays valid. */
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { App, Test } from "usher-http";
import { Files } from "usher-http/files";
import { logWith } from "../../support/logs.ts";

let root: string;
let app: Test.TestApp;
/** The length of a file, from Content-Length. */
let length: (name: string | number) => Promise<number>;
let text: (name: string) => Promise<string>;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "usher-kept-"));
  mkdirSync(join(root, "many"));
  // A minute later than the files change: until a tick has passed, a file is read again.
  vi.useFakeTimers({ toFake: ["performance", "Date"], now: Date.now() + 60_000 });
  app = Test.app(Files.directory(root));
  text = async (name) => (await Test.call(app, "GET", `/many/${name}`)).body;
  length = async (name) => {
    const { headers } = await Test.call(app, "HEAD", `/many/${name}`);
    return Number(headers.get("content-length"));
  };
  return () => {
    vi.useRealTimers();
    rmSync(root, { recursive: true });
  };
});

const pathOf = (name: string | number): string => join(root, "many", String(name));
const write = (name: string | number, bytes: number): void => writeFileSync(pathOf(name), new Uint8Array(bytes));

/** Creates this number of files of a length, and requests each: the first one first, and the last one last. */
async function areAskedFor(count: number, bytes: number): Promise<void> {
  write("one", bytes);
  const between = Array.from({ length: count - 2 }, (_, i) => i + 1);
  for (const name of [0, ...between, count - 1]) linkSync(pathOf("one"), pathOf(name));
  await length(0);
  await Promise.all(between.map(length));
  await length(count - 1);
}

/** The length of a file that has another one since it was asked for. */
async function lengthNow(name: number): Promise<number> {
  unlinkSync(pathOf(name));
  write(name, 1);
  return length(name);
}

describe("of the files of a directory, the memory holds", () => {
  const most = 64 * 1024;

  it("16 MiB, without the one that was requested least recently", async () => {
    await areAskedFor(257, most);
    expect([await lengthNow(256), await lengthNow(0)]).toEqual([most, 1]);
  });

  it("4096, whatever their size", async () => {
    await areAskedFor(4097, 10);
    expect([await lengthNow(4096), await lengthNow(0)]).toEqual([10, 1]);
  });

  it("no larger file, which is checked at each request", async () => {
    write(0, most + 1);
    expect([await length(0), await lengthNow(0)]).toEqual([most + 1, 1]);
  });

  it("as many after one of them has changed repeatedly", async () => {
    for (let i = 0; i <= 257; i++) {
      vi.advanceTimersByTime(1000);
      write("0", most - i);
      expect(await length(0)).toBe(most - i);
    }
    expect(await lengthNow(0)).toBe(most - 257);
  });
});

/** The open files of this process. */
function opened(): readonly string[] {
  return readdirSync("/proc/self/fd").map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      // The folder itself, which was open to be read.
      return "";
    }
  });
}

it.skipIf(process.platform !== "linux").each([
  ["a small file", 10],
  ["a large file", 100_000],
])("%s is open only while it is read", async (_what, bytes) => {
  write("file", bytes);
  expect((await text("file")).length).toBe(bytes);
  expect(opened()).not.toContain(pathOf("file"));
});

describe("a compressed file next to one that is kept", () => {
  /** The coding of a file after some time. */
  const codingAfter = async (ms: number): Promise<string | null> => {
    vi.advanceTimersByTime(ms);
    const { headers } = await Test.call(app, "GET", "/many/app.js", { headers: { "accept-encoding": "br" } });
    return headers.get("content-encoding");
  };

  it("is looked for each second if it did not exist, and its removal is noticed at once", async () => {
    write("app.js", 10);
    expect(await codingAfter(0)).toBe(null);
    write("app.js.br", 5);
    expect([await codingAfter(900), await codingAfter(100), await codingAfter(100)]).toEqual([null, "br", "br"]);
    unlinkSync(pathOf("app.js.br"));
    expect(await codingAfter(100)).toBe(null);
  });

  it("is looked for when the file itself has changed", async () => {
    write("app.js", 10);
    expect(await codingAfter(0)).toBe(null);
    write("app.js", 11);
    write("app.js.br", 5);
    expect(await codingAfter(100)).toBe("br");
  });
});

describe("a large file", () => {
  it("that is written to while it is sent ends the connection, before a byte of the other version", async () => {
    logWith({ level: undefined });
    const filled = (byte: number) => writeFileSync(join(root, "torn.bin"), new Uint8Array(4_000_000).fill(byte));
    filled(97);
    const { fetch } = App.make(Files.directory(root));
    const { body } = await fetch(new Request("http://localhost/torn.bin"));
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    // The time of a file has ticks of some milliseconds.
    await new Promise((resolve) => setTimeout(resolve, 20));
    filled(98);
    const rest = async () => {
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        expect(part.value.every((byte) => byte === 97)).toBe(true);
      }
    };
    await expect(rest()).rejects.toThrow("the stream failed");
  });
});
