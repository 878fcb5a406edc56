/** Hostile header fields of a request for a file. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { Files } from "usher-http/files";
import { start } from "../../support/node-server.ts";
import { RawClient } from "../../support/raw-client.ts";

const root = mkdtempSync(join(tmpdir(), "usher-files-"));
writeFileSync(join(root, "a.txt"), "ALPHABET".repeat(20_000));
afterAll(() => rmSync(root, { recursive: true }));

const many = (text: (i: number) => string, count: number) => Array.from({ length: count }, (_, i) => text(i)).join(",");
// Node closes a connection whose head is longer than 16 KiB; a larger limit lets these through to the codecs.
const fields = [
  ["10,000 ranges that are one", `Range: bytes=${many(() => "0-", 10_000)}`, 200, 206],
  ["10,000 ranges apart", `Range: bytes=${many((i) => `${i * 9}-${i * 9}`, 10_000)}`, 200, 206],
  ["10,000 empty ranges", `Range: bytes=${many(() => "", 10_000)}`, 200, 206],
  ["10,000 ranges backwards", `Range: bytes=${many((i) => `${i + 1}-${i}`, 10_000)}`, 200, 416],
  ["numbers past every length", `Range: bytes=${"9".repeat(5000)}-`, 200, 416],
  ["16 KiB of tags", `If-None-Match: ${many((i) => `"${i}"`, 2000)}`, 200, 200],
  ["16 KiB of one tag", `If-None-Match: "${"x".repeat(16_000)}"`, 200, 200],
  ["16 KiB of an open tag", `If-None-Match: ${'"'.repeat(16_001)}`, 200, 200],
  ["16 KiB of commas", `If-None-Match: ${",".repeat(16_000)}`, 200, 200],
  ["16 KiB of tags for If-Match", `If-Match: ${many((i) => `"${i}"`, 2000)}`, 412, 412],
  ["16 KiB of codings", `Accept-Encoding: ${many((i) => `x${i};q=0.${i % 10}`, 1500)}`, 200, 200],
] as const;

it("each gets a clear answer, and the connection serves the next request", async () => {
  const { port } = await start(Files.directory(root), { maxHeaderBytes: 256 * 1024 });
  for (const [what, field, ...statuses] of fields) {
    const client = await RawClient.to(port);
    const { status } = await client.ask("GET /a.txt", [field]).answer();
    expect([what, statuses.includes(status as never)]).toEqual([what, true]);
    expect((await client.ask("GET /a.txt", ["Range: bytes=0-7"]).answer()).body).toBe("ALPHABET");
    client.leave();
  }
});
