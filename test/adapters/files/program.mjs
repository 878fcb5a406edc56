/** Serves its own folder on the runtime that it runs on, and prints what a client got: see `runtimes.test.ts`. */
import { connect } from "node:net";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Log } from "usher-http";
import { Files } from "usher-http/files";
import { serve } from "usher-http/node";

Log.setup({ level: undefined });
const outside = mkdtempSync(join(tmpdir(), "usher-files-"));
const root = join(outside, "root");
mkdirSync(root);
writeFileSync(join(outside, "secret.txt"), "SECRET");
writeFileSync(join(root, "a.txt"), "ALPHABET");
writeFileSync(join(root, "large.bin"), new Uint8Array(1_000_000).fill(97));
symlinkSync(join(outside, "secret.txt"), join(root, "out.txt"));

const native = globalThis.Bun !== undefined ? "bun" : globalThis.Deno !== undefined ? "deno" : "node";
const listen = process.argv[2] === "own" && native !== "node" ? (await import(`usher-http/${native}`)).serve : serve;
const server = await listen(Files.directory(root), { port: 0 });

/** @param {string} path @param {readonly string[]} headers */
async function ask(path, headers = []) {
  const socket = connect(server.port, "127.0.0.1");
  socket.setEncoding("latin1");
  socket.write([`GET ${path} HTTP/1.1`, "Host: localhost", "Connection: close", ...headers, "\r\n"].join("\r\n"));
  let text = "";
  for await (const part of socket) text += part;
  const end = text.indexOf("\r\n\r\n");
  const status = Number(text.slice(9, 12));
  const etag = /^etag: (.*)\r$/im.exec(text.slice(0, end + 2))?.[1];
  return { status, etag, body: text.slice(end + 4) };
}

const whole = await ask("/a.txt");
// Bun sends a stream in chunks, whatever its length.
const large = await fetch(`http://127.0.0.1:${server.port}/large.bin`);
/** Renames one file over another of its length, at once, and continues the download of the first one. */
async function replaced(/** @type {number} */ length) {
  const path = join(root, `${length}.txt`);
  writeFileSync(path, "a".repeat(length));
  const { etag } = await ask(`/${length}.txt`);
  writeFileSync(join(root, "next"), "b".repeat(length));
  renameSync(join(root, "next"), path);
  // A small file is looked at again after 100 ms.
  if (length < 65_536) await new Promise((resolve) => setTimeout(resolve, 150));
  // The lengths of chunks are hexadecimal.
  const { status, body } = await ask(`/${length}.txt`, [`If-Range: ${etag}`, "Range: bytes=5-"]);
  return [status, body.includes("aaaa"), (await ask(`/${length}.txt`, [`If-None-Match: ${etag}`])).status];
}

const results = {
  replaced: [await replaced(10), await replaced(100_000), await replaced(5_000_000)],
  whole: [whole.status, whole.body],
  again: (await ask("/a.txt", [`If-None-Match: ${whole.etag}`])).status,
  part: await ask("/a.txt", ["Range: bytes=-3"]).then(({ status, body }) => [status, body]),
  unsatisfiable: (await ask("/a.txt", ["Range: bytes=8-"])).status,
  large: [large.status, (await large.arrayBuffer()).byteLength],
  parts: (await ask("/large.bin", ["Range: bytes=0-0,999999-"])).body.split("Content-Range: bytes").length - 1,
  hostile: await Promise.all(
    ["/out.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/a.txt%00", "/%5c..%5csecret.txt"].map(async (path) => {
      const { status, body } = await ask(path);
      return body.includes("SECRET") ? "SECRET" : status;
    }),
  ),
};
const many = (/** @type {(i: number) => unknown} */ text, count = 2000) =>
  Array.from({ length: count }, (_, i) => text(i)).join(",");
/** @type {readonly [field: string, ...statuses: number[]][]} */
const hostile = [
  [`Range: bytes=${many(() => "0-", 5000)}`, 200, 206],
  [`Range: bytes=${many((i) => `${i * 9}-${i * 9}`)}`, 200, 206],
  [`Range: bytes=${many((i) => `${i + 1}-${i}`)}`, 200, 416],
  [`Range: bytes=${many(() => "0-", 50_000)}`, 200, 206],
  [`Range: bytes=${"9".repeat(5000)}-`, 200, 416],
  [`If-None-Match: ${many((i) => `"${i}"`)}`, 200],
  [`If-None-Match: "${"x".repeat(16_000)}"`, 200],
  [`If-None-Match: ${'"'.repeat(16_001)}`, 200],
  [`If-Match: ${many((i) => `"${i}"`)}`, 412],
  [`Accept-Encoding: ${many((i) => `x${i};q=0.${i % 10}`, 1400)}`, 200],
];
/** What the head's own limit lets through is answered; the rest is refused, or its connection is closed. */
const refused = new Set([0, 400, 431]);
/** @type {number[]} */
const odd = [];
for (const [nth, [field, ...statuses]] of hostile.entries()) {
  const { status } = await ask("/a.txt", [field]).catch(() => ({ status: 0 }));
  if (!statuses.includes(status) && !(field.length > 8000 && refused.has(status))) odd.push(nth, status);
}
console.log(JSON.stringify({ ...results, odd, after: (await ask("/a.txt")).status }));
rmSync(outside, { recursive: true });
await server.stop();
