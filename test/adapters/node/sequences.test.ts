/** Random pipelined requests on one connection, with the bytes cut at random places (row AT-22). */
import fc from "fast-check";
import { expect, it } from "vitest";
import { Codec, Dep, Path, Query, Returns, body, bodyStream, post } from "usher-http";
import { RawClient, header } from "../../support/raw-client.ts";
import { start } from "../../support/node-server.ts";
import { rounds } from "../../support/wide.ts";

const upload = bodyStream({ max: 1 << 20 });
const n = Query.required("n", Codec.int);
const turn = () => new Promise((resolve) => setImmediate(resolve));
/** Read before a body, which may have arrived by then. */
const waited = Dep.join({ n }, async ({ n }) => (await turn(), n));
const routes = [
  post(Path.of("whole"), { inputs: { n, body }, returns: Returns.text }, ({ n, body }) => `${n} ${body.byteLength}`),
  post(
    Path.of("waited"),
    { inputs: { n: waited, body }, returns: Returns.text },
    ({ n, body }) => `${n} ${body.byteLength}`,
  ),
  post(Path.of("parts"), { inputs: { n, upload }, returns: Returns.text }, async ({ n, upload }) => {
    let bytes = 0;
    for await (const part of upload) bytes += part.byteLength;
    return `${n} ${bytes}`;
  }),
  post(Path.of("part"), { inputs: { n, upload }, returns: Returns.text }, async ({ n, upload }) => {
    await upload.read();
    return `${n} part`;
  }),
  post(Path.of("none"), { inputs: { n }, returns: Returns.text }, ({ n }) => `${n} none`),
  post(Path.of("late"), { inputs: { n }, returns: Returns.text }, async ({ n }) => (await turn(), `${n} none`)),
];

interface Asked {
  readonly path: "whole" | "waited" | "parts" | "part" | "none" | "late";
  readonly bytes: number;
  readonly inChunks: boolean;
  readonly lastOne: boolean;
}

// The end of the bodies that a body is dropped by is asked for on its own: past it, Node's own reading ahead has a say.
const asked: fc.Arbitrary<Asked> = fc.record({
  path: fc.constantFrom("whole", "waited", "parts", "part", "none", "late"),
  bytes: fc.oneof(fc.nat(20), fc.nat(60_000)),
  inChunks: fc.boolean(),
  lastOne: fc.integer({ min: 0, max: 9 }).map((one) => one === 0),
});

function wire({ path, bytes, inChunks, lastOne }: Asked, n: number): string {
  // A body that contains requests: none of them is ever answered.
  const body = "POST /none?n=-1 HTTP/1.1\r\nhost: h\r\n\r\n".repeat(bytes / 37 + 1).slice(0, bytes);
  const head = [`POST /${path}?n=${n} HTTP/1.1`, "host: h", ...(lastOne ? ["connection: close"] : [])];
  if (!inChunks) return [...head, `content-length: ${bytes}`, "", body].join("\r\n");
  const chunks = bytes === 0 ? "" : `${bytes.toString(16)}\r\n${body}\r\n`;
  return [...head, "transfer-encoding: chunked", "", `${chunks}0\r\n\r\n`].join("\r\n");
}

function answerTo({ path, bytes }: Asked, n: number): string {
  if (path === "whole" || path === "waited" || path === "parts") return `${n} ${bytes}`;
  return path === "part" ? `${n} part` : `${n} none`;
}

it("AT-22 each request has one answer, in order, and none after the answer that closes", async () => {
  const { port } = await start(routes);
  const property = fc.asyncProperty(
    fc.array(asked, { minLength: 1, maxLength: 8 }),
    fc.array(fc.integer({ min: 1, max: 30_000 }), { maxLength: 6 }),
    async (sequence, cuts) => {
      const client = await RawClient.to(port);
      const bytes = sequence.map(wire).join("");
      const sending = (async () => {
        let at = 0;
        for (const cut of cuts) {
          await new Promise((resolve) => client.socket.write(bytes.slice(at, at + cut), resolve));
          at += cut;
        }
        client.send(bytes.slice(at));
      })();
      for (const [n, asked] of sequence.entries()) {
        const answered = await client.answer();
        expect([answered.status, answered.body]).toEqual([200, answerTo(asked, n)]);
        expect(header(answered, "connection")).toBe(asked.lastOne ? "close" : undefined);
        if (!asked.lastOne) continue;
        expect(await client.rest()).toBe("");
        break;
      }
      await sending;
      client.leave();
    },
  );
  await fc.assert(property, { numRuns: rounds(1000) });
});
