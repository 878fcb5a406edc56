/** Clients of large files that read nothing: each held a descriptor. */
import { mkdtempSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { App } from "usher-http";
import { Files } from "usher-http/files";
import { eventually } from "../../support/eventually.ts";
import { messages } from "../../support/logs.ts";

const clients = 320;
const size = 3 * 512 * 1024;
const built = new Date("1980-01-01T00:00:01Z");

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "usher-waiting-"));
  return () => rmSync(folder, { recursive: true });
});

function put(letter: string): void {
  writeFileSync(join(folder, "fresh"), letter.repeat(size));
  utimesSync(join(folder, "fresh"), built, built);
  renameSync(join(folder, "fresh"), join(folder, "large.bin"));
}

const descriptors = (): number => readdirSync("/proc/self/fd").length;

/** Clients that have got the first part, and wait. */
async function waitingClients() {
  const app = App.make(Files.directory(folder));
  const readers = [];
  for (let i = 0; i < clients; i++) {
    const { body } = await app.fetch(new Request("http://h/large.bin"));
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    readers.push(reader);
  }
  return readers;
}

async function rest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<number | "failed"> {
  let bytes = 0;
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) bytes += read.value.byteLength;
  } catch {
    return "failed";
  }
  return bytes;
}

describe("a large file whose clients wait", () => {
  it("takes 256 descriptors at most, and each client gets it whole", async () => {
    put("a");
    const before = descriptors();
    const readers = await waitingClients();
    expect(descriptors() - before).toBeLessThanOrEqual(257);
    for (const reader of readers) expect(await rest(reader)).toBe(size - 512 * 1024);
    expect(descriptors()).toBe(before);
  });

  it("holds no descriptor for a client that has gone", async () => {
    put("a");
    const before = descriptors();
    for (const reader of await waitingClients()) await reader.cancel();
    await eventually(() => expect(descriptors()).toBe(before));
  });

  it("is never sent in parts of two versions, though its time and length are the same", async () => {
    put("a");
    const readers = await waitingClients();
    put("b");
    const ends = [];
    for (const reader of readers) ends.push(await rest(reader));
    // Those whose file stayed open get the old one.
    expect(new Set(ends)).toEqual(new Set([size - 512 * 1024, "failed"]));
    expect(ends.filter((end) => end === "failed")).toHaveLength(clients - 256);
    expect(messages("error").length).toBe(clients - 256);
  });

  it("holds no descriptor while the last part is taken", async () => {
    writeFileSync(join(folder, "short.bin"), "a".repeat(100_000));
    const app = App.make(Files.directory(folder));
    const before = descriptors();
    const { body } = await app.fetch(new Request("http://h/short.bin"));
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).value?.byteLength).toBe(100_000);
    expect(descriptors()).toBe(before);
    expect((await reader.read()).done).toBe(true);
  });
});
