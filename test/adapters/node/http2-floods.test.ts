/** Published attacks of HTTP/2 clients, with their numbers: each is limited, and other clients are answered meanwhile. */
import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { Path, Returns, get, post } from "usher-http";
import { endsWithTest } from "../../support/ends.ts";
import { eventually } from "../../support/eventually.ts";
import { beginning, frame, headerBlock, http2Ask, http2Client, requestBlock } from "../../support/http2-client.ts";
import { messages } from "../../support/logs.ts";
import { gate, holdClock, start } from "../../support/node-server.ts";

const endStream = 1;
const endHeaders = 4;
const whole = endStream | endHeaders;

const open: Socket[] = [];
endsWithTest(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

/** A connection that has sent its preface; received bytes are read and dropped. */
async function flooder(port: number, { reads = true, settings = Buffer.alloc(0) } = {}): Promise<Socket> {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  open.push(socket);
  await once(socket, "connect");
  socket.write(beginning(settings));
  if (reads) socket.resume();
  return socket;
}

/** Resolves when a connection is closed, also by a reset: `once` would reject. */
function closing(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once("close", () => resolve(true));
  });
}

/** Writes until the server ends the connection; at most this number of times. */
async function flood(socket: Socket, times: number, make: (i: number) => Buffer): Promise<void> {
  for (let i = 0; i < times && !socket.destroyed; i += 100) {
    socket.write(Buffer.concat(Array.from({ length: 100 }, (_, j) => make(i + j))));
    // Gives the server a turn of the event loop.
    await new Promise<void>((resolve) => {
      setTimeout(resolve, 1);
    });
  }
}

let running = 0;
let most = 0;
const routes = [
  get(Path.of("ok"), { returns: Returns.text }, () => "ok"),
  get(Path.of("slow"), { returns: Returns.text }, async () => {
    most = Math.max(most, ++running);
    await new Promise<void>((resolve) => {
      setTimeout(resolve, 200);
    });
    running--;
    return "slow";
  }),
  get(Path.of("large"), { returns: Returns.text }, () => "x".repeat(3_000_000)),
  post(Path.of("unread"), { returns: Returns.text }, async () => {
    await new Promise<void>((resolve) => {
      setTimeout(resolve, 100);
    });
    return "unread";
  }),
];
const stream = (i: number): number => i * 2 + 1;
const ping = frame("ping", 0, 0, Buffer.alloc(8));

describe("http2: a flood ends its connection, and other clients are answered", () => {
  it.each<[name: string, times: number, make: (i: number) => Buffer]>([
    [
      "CVE-2023-44487 rapid reset",
      3000,
      (i) => {
        const reset = frame("reset", 0, stream(i), Buffer.from([0, 0, 0, 8]));
        return Buffer.concat([frame("headers", whole, stream(i), requestBlock("/slow")), reset]);
      },
    ],
    [
      "CVE-2025-8671 streams that the server is made to reset",
      3000,
      (i) => {
        const wrong = frame("window", 0, stream(i), Buffer.from([0, 0, 0, 0]));
        return Buffer.concat([frame("headers", whole, stream(i), requestBlock("/slow")), wrong]);
      },
    ],
    [
      "CVE-2024-27316 CONTINUATION without an end",
      3000,
      (i) => {
        const fields = headerBlock([[`x-${i}`, "y".repeat(100)]]);
        return i === 0 ? frame("headers", endStream, 1, requestBlock("/ok")) : frame("continuation", 0, 1, fields);
      },
    ],
    [
      "CVE-2024-27316 empty CONTINUATION",
      3000,
      (i) => (i === 0 ? frame("headers", endStream, 1, requestBlock("/ok")) : frame("continuation", 0, 1)),
    ],
    ["CVE-2019-9512 PING", 3000, () => ping],
    ["CVE-2019-9515 SETTINGS", 3000, () => frame("settings", 0, 0)],
    [
      "CVE-2019-9514 requests that are malformed",
      3000,
      (i) => frame("headers", whole, stream(i), headerBlock([["UPPER", "x"]])),
    ],
    [
      "CVE-2019-9518 empty DATA",
      3000,
      (i) => (i === 0 ? frame("headers", endHeaders, 1, requestBlock("/unread", "POST")) : frame("data", 0, 1)),
    ],
    [
      "CVE-2019-9516 headers without a name",
      3000,
      (i) => frame("headers", whole, stream(i), Buffer.concat([requestBlock("/slow"), headerBlock([["", ""]])])),
    ],
    ["requests past the number of streams", 3000, (i) => frame("headers", whole, stream(i), requestBlock("/slow"))],
  ])("%s", async (_name, times, make) => {
    // Handlers of the row before may still run.
    await eventually(() => expect(running).toBe(0));
    most = 0;
    // The limits depend on time: a slow client could do more.
    holdClock();
    const { port, url } = await start(routes, { http2: true });
    const honest = await http2Client(url);
    const socket = await flooder(port);
    await flood(socket, times, make);
    await eventually(() => expect(socket.closed).toBe(true));
    expect((await http2Ask(honest, { ":path": "/ok" })).body).toBe("ok");
    expect(most).toBeLessThanOrEqual(200);
  });
});

describe("http2: a flood", () => {
  it("of priorities in a circle does not slow down other clients (CVE-2019-9513)", async () => {
    const { port, url } = await start(routes, { http2: true });
    const honest = await http2Client(url);
    const socket = await flooder(port);
    const priority = (i: number) => {
      const on = Buffer.from([0, 0, 0, stream((i + 1) % 50), 16]);
      return frame("priority", 0, stream(i % 50), on);
    };
    await flood(socket, 5000, priority);
    expect((await http2Ask(honest, { ":path": "/ok" })).body).toBe("ok");
  });

  it("is logged with the number of connections that it closed", async () => {
    holdClock();
    const { port } = await start(routes, { http2: true });
    await flood(await flooder(port), 3000, () => ping);
    await eventually(() => {
      expect(messages("warn")).toContain("HTTP/2 connections closed whose clients sent too much: 1");
    });
  });
});

describe("http2: heads above their limit", () => {
  it.each<[name: string, status: number, head: { readonly [name: string]: string }]>([
    ["a field", 431, { ":path": "/ok", x: "y".repeat(20_000) }],
    [
      "many fields",
      431,
      { ":path": "/ok", ...Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`x-${i}`, "y"])) },
    ],
    ["a target", 414, { ":path": `/${"y".repeat(20_000)}` }],
  ])("of %s are %i, and the connection stays open", async (_name, status, head) => {
    const { url } = await start(routes, { http2: true });
    const session = await http2Client(url, { maxSendHeaderBlockLength: 65_536 });
    // The client has not acknowledged the server's settings at its first request, and has at the next one.
    for (let i = 0; i < 2; i++) expect((await http2Ask(session, head)).status).toBe(status);
    expect((await http2Ask(session, { ":path": "/ok" })).body).toBe("ok");
  });

  it.each([16_384, 2 ** 31 - 1])("within a limit of %i are answered, with any number of fields", async (limit) => {
    const session = await http2Client((await start(routes, { http2: true, maxHeaderBytes: limit })).url);
    const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`x-${i}`, "12345"]));
    for (let i = 0; i < 2; i++) expect((await http2Ask(session, { ":path": "/ok", ...fields })).body).toBe("ok");
  });
});

describe("http2: clients that do not read", () => {
  const noWindow = Buffer.from([0, 4, 0, 0, 0, 0]);

  it("CVE-2019-9511 of a window of zero: the stream is reset after sendTimeoutMs", async () => {
    const { port, url } = await start(routes, { http2: true, sendTimeoutMs: 100 });
    const socket = await flooder(port, { settings: noWindow });
    socket.write(frame("headers", whole, 1, requestBlock("/large")));
    await eventually(() => {
      expect(messages("info")).toContain("reset a stream whose client stopped reading for 0.1s");
    });
    expect((await http2Ask(await http2Client(url), { ":path": "/ok" })).body).toBe("ok");
  });

  it("CVE-2019-9517 of an open window, on a connection that the client does not read: closed", async () => {
    holdClock();
    const asked = gate();
    // As many as fit the share of a connection, 16 MiB; the others wait for them.
    let left = 6;
    const length = 3_000_000;
    const large = get(Path.of("large"), { returns: Returns.text }, () => {
      if (--left === 0) asked.open();
      return "x".repeat(length);
    });
    const { port } = await start([large], { http2: true, sendTimeoutMs: 100, idleTimeoutMs: 60_000 });
    const wide = Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff]);
    const socket = await flooder(port, { settings: wide, reads: false });
    socket.write(frame("window", 0, 0, Buffer.from([0x3f, 0xff, 0xff, 0xff])));
    for (let i = 0; i < 20; i++) socket.write(frame("headers", whole, stream(i), requestBlock("/large")));
    await asked.passed;
    await eventually(() => {
      expect(messages("info").join()).toMatch(/reset a stream whose client stopped reading/);
    });
    let bytes = 0;
    socket.on("data", (part: Buffer) => (bytes += part.byteLength));
    await eventually(() => {
      vi.advanceTimersByTime(60_000);
      expect(socket.closed).toBe(true);
    });
    // The rest of the responses was dropped.
    expect(bytes).toBeLessThan(20 * length);
  });

  it("of a connection without a request: closed after idleTimeoutMs, even if it sends PING frames", async () => {
    const { port } = await start(routes, { http2: true, idleTimeoutMs: 100 });
    const socket = await flooder(port);
    const timer = setInterval(() => socket.write(ping), 20);
    await closing(socket);
    clearInterval(timer);
    expect(messages("error")).toEqual([]);
  });

  it("of a head that never ends: closed after idleTimeoutMs", async () => {
    const { port } = await start(routes, { http2: true, idleTimeoutMs: 100 });
    const socket = await flooder(port);
    socket.write(frame("headers", endStream, 1, requestBlock("/ok")));
    await closing(socket);
    expect(messages("error")).toEqual([]);
  });
});
