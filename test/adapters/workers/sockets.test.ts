/** WebSockets of a Worker, which do not report how much their client has read (issue 5). */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { header } from "../../support/raw-client.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { bundle, start } from "./running.ts";

const handshake = ["connection: upgrade", "upgrade: websocket", "sec-websocket-version: 13"];
const opening = [...handshake, "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=="];
/** The most memory it had so far. */
const megabytes = (pid: number): number => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) / 1024;
};

it.skipIf(process.platform !== "linux")("a message is received before all messages are sent", async () => {
  const worker = await start(await bundle({ file: "program.ts" }), { bindings: { WORD: "hello" } });
  const client = await worker.client();
  expect((await client.ask("GET /").answer()).status).toBe(200);
  const before = megabytes(worker.pid);
  client.ask("GET /heavy", opening);
  client.discard();
  let bytes = 0;
  const all = new Promise<void>((resolve) => {
    client.socket.on("data", (part: Buffer) => {
      bytes += part.length;
      if (bytes > 2048 * 262_144) resolve();
    });
  });
  await all;
  // 512 MiB were sent: on a busy machine V8 is late, and lets 400 MiB of it lie.
  expect(megabytes(worker.pid) - before).toBeLessThan(480);
});

it.skipIf(process.platform !== "linux")(
  "a client that sends nothing is sent 16 MiB, and then the sender waits",
  async () => {
    const worker = await start(await bundle({ file: "program.ts" }), { bindings: { WORD: "hello" } });
    const [client, other] = [await worker.client(), await worker.client()];
    const flooded = async () => Number((await other.ask("GET /flooded").answer()).body);
    expect(await flooded()).toBe(0);
    const before = megabytes(worker.pid);
    expect((await client.ask("GET /floods", opening).answer()).status).toBe(101);
    client.socket.pause();
    // The last of it waits.
    await eventually(async () => expect(await flooded()).toBe(16_777_216 - 262_144));
    expect(megabytes(worker.pid) - before).toBeLessThan(80);
    // A text of one letter, its mask of zeros.
    client.send("\u0081\u0081\0\0\0\0x");
    await eventually(async () => expect(await flooded()).toBe(2 * 16_777_216 - 262_144));
  },
);

describe("a client that closes is answered with a close with its code", () => {
  const flags = ["nodejs_als", "enable_request_signal"];
  const code = (code: number): string => String.fromCharCode(code >> 8, code & 0xff);
  const lost = "lost: a close with a code that none can send";
  const [protocolError, invalid] = [code(1002), [0, 999, 1004, 5000].map(code)];
  it.each([
    ["by the runtime", flags, undefined],
    ["by the Worker, where the runtime leaves it to it", [...flags, "web_socket_manual_reply_to_close"], protocolError],
  ])("%s", async (_who, flags, toInvalid) => {
    const worker = await start(await bundle({ file: "program.ts" }), { flags, bindings: { WORD: "hello" } });
    for (const [sent, answered, ended] of [
      ["", "", "closed"],
      ...[1000, 1001, 1011, 4999].map((each) => [code(each), code(each), "closed"] as const),
      ...invalid.map((each) => [each, toInvalid ?? each, lost] as const),
    ] as const) {
      const client = await worker.client();
      const opened = await client.ask("GET /hears", opening).answer();
      expect(opened.status).toBe(101);
      // Its mask is of zeros.
      client.send(`\u0088${String.fromCharCode(0x80 | sent.length)}\0\0\0\0${sent}`);
      expect(await client.frame()).toEqual({ first: 0x88, payload: answered });
      await client.closed();
      await worker.line(`socket on /hears ended: ${ended}`, header(opened, "x-request-id"));
    }
  });
});

it.each<[how: string, leave: (client: RawClient) => unknown, ended: string]>([
  ["closes the socket", (client) => client.send("\u0088\u0082\0\0\0\0\u0003\u00e8"), "closed"],
  ["resets the connection", (client) => client.leave(), "lost: the connection ended without a close"],
])("clientGone aborts in a socket whose client %s", async (_how, leave, ended) => {
  // With a signal of the runtime, a reset may be known before the end of the socket.
  const flags = ["nodejs_als"];
  const worker = await start(await bundle({ file: "program.ts" }), { flags, bindings: { WORD: "hello" } });
  const client = await worker.client();
  const opened = await client.ask("GET /deaf", opening).answer();
  expect(opened.status).toBe(101);
  leave(client);
  await worker.line(`socket on /deaf ended: ${ended}`, header(opened, "x-request-id"));
});

it("a socket ends though a listener of its clientGone throws", async () => {
  const worker = await start(await bundle({ file: "program.ts" }), { flags: ["nodejs_als"] });
  const client = await worker.client();
  const opened = await client.ask("GET /startled", opening).answer();
  client.send("\u0088\u0082\0\0\0\0\u0003\u00e8");
  await worker.line("what was done on an event raised");
  const line = await worker.line("socket on /startled ended: closed", header(opened, "x-request-id"));
  expect(line).toBeDefined();
});
