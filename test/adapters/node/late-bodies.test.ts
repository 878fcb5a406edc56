/**
 * Bodies that a handler begins to read when no more bytes of them arrive: after bytes that are not a chunk, or when its
 * connection has ended. The clock is fake, so that no time limit ends a read instead.
 */
import { describe, expect, it, vi } from "vitest";
import { Dep, Path, Returns, body, bodyStream, clientGone, get, multipart, post } from "usher-http";
import type { Route } from "usher-http";
import { keepsNothing } from "../../support/memory.ts";
import { lines } from "../../support/logs.ts";
import { gate, holdClock, start } from "../../support/node-server.ts";
import type { Gate } from "../../support/node-server.ts";
import { RawClient, header, turns } from "../../support/raw-client.ts";

const text = { returns: Returns.text };
const ok = get(Path.of("ok"), text, () => "ok");
const upload = bodyStream({ max: 1 << 20 });
const path = Path.of("late");

/** Ways to read a body late; each reports that its handler runs before it waits. */
const readers: readonly (readonly [how: string, route: (asked: Gate, waited: Promise<void>) => Route])[] = [
  [
    "whole",
    (asked, waited) => {
      const late = Dep.ofRequest(() => (asked.open(), waited));
      return post(path, { inputs: { late, body }, ...text }, ({ body }) => String(body.byteLength));
    },
  ],
  [
    "as a stream",
    (asked, waited) =>
      post(path, { inputs: { upload }, ...text }, async ({ upload }) => {
        asked.open();
        await waited;
        let bytes = 0;
        for await (const part of upload) bytes += part.byteLength;
        return String(bytes);
      }),
  ],
  [
    "by its parts",
    (asked, waited) =>
      post(path, { inputs: { parts: multipart({ max: 1 << 20 }) }, ...text }, async ({ parts }) => {
        asked.open();
        await waited;
        let count = 0;
        for await (const part of parts) if (part.name !== "") count++;
        return String(count);
      }),
  ],
];

const faults = [
  ["no chunk size", "zz\r\n"],
  ["no line end behind a chunk", "3\r\nabcdef"],
  ["a trailer past the limit", `3\r\nabc\r\n0\r\nx: ${"y".repeat(20_000)}\r\n`],
  ["chunk extensions past the limit", `1;x=${"y".repeat(20_000)}\r\n`],
] as const;

describe.each(readers)("a body that is read late, %s", (_how, route) => {
  it.each(faults)("after %s: the read fails at once, and the connection ends", async (_what, wire) => {
    holdClock();
    const [asked, waited] = [gate(), gate()];
    const { port } = await start([route(asked, waited.passed), ok]);
    const client = await RawClient.to(port);
    const type = "content-type: multipart/form-data; boundary=b";
    client.send("POST /late HTTP/1.1", "host: h", type, "transfer-encoding: chunked", "", "3\r\n--b\r\n", wire);
    await asked.passed;
    await turns(port);
    waited.open();
    const answered = await client.answer();
    expect([answered.status < 500, answered.status >= 400, header(answered, "connection")]).toEqual([
      true,
      true,
      "close",
    ]);
    expect(await client.rest()).toBe("");
    expect((await (await RawClient.to(port)).ask("GET /ok").answer()).body).toBe("ok");
  });
});

describe("a body behind a request that is not answered yet", () => {
  const second = Path.of("second");
  const departures: readonly (readonly [how: string, leave: (client: RawClient) => void])[] = [
    ["resets the connection", (client) => client.leave()],
    ["ends its side", (client) => void client.halfClose()],
  ];

  it.each(departures)("is not taken for whole when the client %s", async (_how, leave) => {
    holdClock();
    const [first, waits] = [gate(), gate()];
    const read = vi.fn();
    const { port } = await start([
      // Has the first chunk of a body that arrived whole, and not its end.
      post(path, { inputs: { upload }, ...text }, async ({ upload }) => {
        await upload.read();
        first.open();
        await waits.passed;
        return "first";
      }),
      post(second, { inputs: { upload, clientGone }, ...text }, async ({ upload }) => {
        for (let part = await upload.read(); ; part = await upload.read()) {
          read(part.ok ? part.value?.byteLength : part.error.kind);
          if (!part.ok || part.value === undefined) return "second";
        }
      }),
      ok,
    ]);
    const client = await RawClient.to(port);
    client.ask("POST /late", [], "abc").send("POST /second HTTP/1.1", "host: h", "content-length: 10", "", "abc");
    await first.passed;
    leave(client);
    await turns(port);
    waits.open();
    // Another client is answered as usual.
    expect((await (await RawClient.to(port)).ask("POST /second", [], "abc").answer()).body).toBe("second");
    // The last two are those of the other client. Of the one that left, no handler gets a body for whole.
    expect(read.mock.calls.slice(0, -2)).not.toContainEqual([undefined]);
    expect(lines().filter(({ level }) => level === "error")).toEqual([]);
  });

  it("leaves nothing on a connection that stays open", async () => {
    const { port } = await start([
      post(path, { inputs: { upload }, ...text }, async ({ upload }) => {
        await upload.read();
        await new Promise(setImmediate);
        return "first";
      }),
      post(second, { inputs: { body }, ...text }, ({ body }) => String(body.byteLength)),
    ]);
    const client = await RawClient.to(port);
    await keepsNothing(async () => {
      for (let i = 0; i < 20; i++) {
        client.ask("POST /late", [], "abc").ask("POST /second", [], "x".repeat(60_000));
        expect([(await client.answer()).body, (await client.answer()).body]).toEqual(["first", "60000"]);
      }
    });
  });
});
