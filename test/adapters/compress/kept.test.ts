/** What encoded bodies leave behind in a server: whole ones, ones cut short, ones past a limit and ones that are no gzip. */
import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { App, Path, Returns, body, bodyStream, post } from "usher-http";
import { Decompress } from "usher-http/compress";
import { eventually } from "../../support/eventually.ts";
import { memory } from "../../support/memory.ts";

const returns = Returns.text;
const routes = [
  post(Path.of("size"), { inputs: { body }, returns }, ({ body }) => `${body.byteLength}`),
  post(Path.of("first"), { inputs: { body: bodyStream({ max: 1e8 }) }, returns }, async ({ body }) => {
    const read = await body.read();
    return read.ok ? `${read.value?.byteLength}` : read.error.kind;
  }),
];
const noise = randomBytes(300_000);
const bodies = [
  gzipSync(noise.subarray(0, 5000)),
  gzipSync(noise).subarray(0, 1000),
  gzipSync(Buffer.alloc(1e6)),
  Buffer.from("no"),
];

it("keeps no memory of a thousand bodies of each kind", async () => {
  let rejected = 0;
  const count = (): void => void rejected++;
  process.on("unhandledRejection", count);
  onTestFinished(() => void process.off("unhandledRejection", count));
  const app = App.make(routes, { decompress: Decompress.make() });
  const all = async (times: number) => {
    for (let i = 0; i < times; i++) {
      for (const path of ["size", "first"]) {
        for (const bytes of bodies) {
          const init = { method: "POST", body: bytes, headers: { "content-encoding": "gzip" } };
          await (await app.fetch(new Request(`http://localhost/${path}`, init))).text();
        }
      }
    }
  };
  // The state of a decoder is outside the heap, and is freed once its last write is over.
  const held = async (): Promise<number> => (await memory(), process.memoryUsage().external);
  await all(20);
  const before = await held();
  await all(125);
  await eventually(async () => expect((await held()) - before).toBeLessThan(5_000_000));
  expect(rejected).toBe(0);
});
