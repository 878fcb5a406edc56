/** Streams of a Worker on the wire, and clients that leave them (facts 4.4; rows AN-21 to AN-25). */
import { readdirSync } from "node:fs";
import { setTimeout as after } from "node:timers/promises";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { WorkerExchange } from "../../../adapters/workers/exchange.ts";
import { stream } from "../../../adapters/workers/stream.ts";
import { gate } from "../../support/gate.ts";
import { serverOfTest } from "../../support/http-server.ts";
import { header } from "../../support/raw-client.ts";
import type { RawClient } from "../../support/raw-client.ts";
import { internal } from "../../support/refusals.ts";
import { bundle, start } from "./running.ts";
import type { Running } from "./running.ts";
import { OpenStream } from "../../../src/events/open-stream.ts";

let script: string;
let worker: Running;
beforeAll(async () => {
  script = await bundle({ file: "program.ts" });
  worker = await start(script, { bindings: { WORD: "hello" } });
});

const kinds = [["parts"], ["platform"]];

describe("a stream: framing", () => {
  it.each(kinds)("of %s is sent while it is generated, and its connection kept", async (as) => {
    const client = await worker.client();
    const answered = await client.ask(`GET /hello?as=${as}`).answer();
    await worker.line("hello ended", header(answered, "x-request-id"));
    expect([answered.body, header(answered, "transfer-encoding")]).toEqual(["hello", "chunked"]);
    expect((await client.ask("GET /").answer()).body).toBe("hello");
  });

  it.each(kinds)("AN-21 of %s with a length has Content-Length, and its connection is kept", async (as) => {
    const client = await worker.client();
    const answered = await client.ask(`GET /hello?as=${as}&length=5`).answer();
    expect([answered.body, header(answered, "content-length"), header(answered, "transfer-encoding")]).toEqual([
      "hello",
      "5",
      undefined,
    ]);
    expect((await client.ask("GET /").answer()).body).toBe("hello");
  });

  it.each(kinds)("AN-22 of %s that is shorter than its length ends the connection", async (as) => {
    const client = await worker.client();
    const wire = await client.ask(`GET /hello?as=${as}&length=9`).ask("GET /").rest();
    expect(wire).toMatch(/content-length: 9\r\n[^]*\r\n\r\nhello$/i);
  });

  it("AN-22 that is longer than its length is cut off there, and is logged", async () => {
    const client = await worker.client();
    expect((await client.ask("GET /hello?length=4").answer()).body).toBe("hell");
    await worker.line("stream on /hello sent more than the length it was given, so its connection is closed");
    await worker.line("hello ended");
  });

  it.each(kinds)("of %s that throws ends the connection, and its error message is not sent", async (as) => {
    const client = await worker.client();
    const wire = await client.ask(`GET /fails?as=${as}`).ask("GET /").rest();
    expect(wire).toContain("4\r\npart\r\n");
    expect(wire).not.toContain("hello");
    await worker.line("stream on /fails failed, so its connection is closed");
    expect(wire + worker.texts.join()).not.toContain("s3cret");
  });

  it("that throws at its start is a 500", async () => {
    const client = await worker.client();
    const { status, body } = await client.ask("GET /throws").answer();
    expect([status, body]).toEqual([500, internal]);
    await worker.line("GET /throws: internal: it raised");
    expect(worker.texts.join()).not.toContain("s3cret");
    expect((await client.ask("GET /").answer()).body).toBe("hello");
  });
});

describe("a stream: in time", () => {
  it("sends its head and its chunks before there are more, and continues though nothing of its own is pending", async () => {
    const client = await worker.client();
    client.ask("GET /quiet");
    await client.sees("a\r\n");
    const other = await worker.client();
    // What workerd takes for hung it cuts as soon as it has nothing else to do.
    await other.ask("GET /id?ms=200").answer();
    await other.ask("GET /opens").answer();
    expect((await client.answer()).body).toBe("ab");
    await worker.line("quiet ended");
  });

  it("is never started for a HEAD", async () => {
    const client = await worker.client();
    const before = worker.texts.length;
    await client.ask("HEAD /hello").answer({ toHead: true });
    await client.ask("GET /").answer();
    expect(worker.texts.slice(before).join()).not.toContain("hello ended");
  });

  it("is not generated far ahead of a client that does not read", async () => {
    const client = await worker.client();
    client.socket.pause();
    client.ask("GET /endless");
    const other = await worker.client();
    const made = async () => Number((await other.ask("GET /made").answer()).body);
    let last = -1;
    for (let now = await made(); now !== last || now === 0; now = await made()) {
      last = now;
      await after(100);
    }
    // 64 KiB each; the kernel's buffers take a few megabytes.
    expect(last).toBeLessThan(300);
    client.leave();
    await worker.line("endless ended");
  });
});

describe("a quiet event stream", () => {
  // The timer that all of them share is the first one's, and ends with it: src/events/event-stream.ts.
  it("sends keep-alives, also when the previous stream has ended", async () => {
    const first = await worker.client();
    first.ask("GET /events");
    await first.sees(": keep-alive");
    const second = await worker.client();
    second.ask("GET /events");
    await second.sees(": keep-alive");
    first.leave();
    await worker.line("stream on /events ended: client gone");
    await again(second);
  });
});

/** Waits until the client is sent something that it was not sent before. */
async function again({ socket }: RawClient): Promise<void> {
  const { bytesRead } = socket;
  while (socket.bytesRead <= bytesRead + 100) await after(10);
}

describe("a client that disconnects from a stream: its producer", () => {
  it.each(kinds)("of %s ends, after a close and after a reset", async (as) => {
    for (const leave of ["closes", "resets"]) {
      const client = await worker.client();
      client.ask(`GET /ticks?as=${as}`);
      await client.sees("1;");
      if (leave === "closes") client.socket.destroy();
      else client.leave();
      await worker.line("ticks ended");
    }
  });

  it.each(["events", "quiet", "parts", "platform"])("can finish its work: %s", async (name) => {
    for (const leave of ["closes", "resets"]) {
      const client = await worker.client();
      client.ask(`GET /tidies/${name}`);
      await client.sees("1;");
      if (leave === "closes") client.close();
      else client.leave();
      await worker.line(`${name} tidied`);
    }
  });

  it.each(kinds)("is notified of a reset while nothing of %s is sent", async (as) => {
    const client = await worker.client();
    client.ask(`GET /still?as=${as}`);
    // With the end of its chunk: what is written to a connection that was reset already takes the reset with it.
    await client.sees("a\r\n");
    client.leave();
    await worker.line("stream on /still ended: client gone");
  });

  it("ends the request of a stream of the runtime's own", async () => {
    const left = gate();
    const { url } = await serverOfTest((_request, response) => {
      const ticking = setInterval(() => response.write("1;"), 10);
      response.once("close", () => {
        clearInterval(ticking);
        left.open();
      });
    });
    const client = await worker.client();
    client.ask(`GET /relays?from=${encodeURIComponent(`${url}/`)}`);
    await client.sees("1;");
    client.close();
    await left.passed;
    await worker.line("stream on /relays ended: client gone");
  });
});

it("a stream that fails is cut off after the sent chunks, and leaves no timer", async () => {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(1);
    throw new Error("s3cret");
  }
  const exchange = new WorkerExchange(new Request("http://h/"), "", { waitUntil: () => {} });
  vi.useFakeTimers();
  try {
    const sent = stream(exchange, new OpenStream({ kind: "stream", parts: failing() }), writable);
    const reader = readable.getReader();
    await reader.read();
    await expect(reader.read()).rejects.toThrow("the stream was cut");
    await sent;
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

describe("a client that disconnected before there was a stream", () => {
  it.each([
    ["parts", { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) }],
    ["platform", new ReadableStream<Uint8Array>()],
  ])("is notified at once, of %s that never arrive", async (_kind, parts) => {
    const { writable } = new TransformStream<Uint8Array, Uint8Array>();
    const left = new Request("http://h/", { signal: AbortSignal.abort() });
    const exchange = new WorkerExchange(left, "", { waitUntil: () => {} });
    const ended = vi.fn();
    const request = { run: <A>(work: () => A): A => work(), undeclared: () => {}, producing: () => {}, ended };
    vi.useFakeTimers();
    try {
      const sent = stream(exchange, new OpenStream({ kind: "stream", parts }, request), writable);
      await vi.advanceTimersByTimeAsync(0);
      expect(ended.mock.calls).toEqual([["client gone", undefined]]);
      await vi.advanceTimersByTimeAsync(30_000);
      await sent;
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("a client that disconnects from a stream: the rest", () => {
  it("waits at most half a minute for the producer", async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    async function* never(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(1);
      await new Promise(() => {});
    }
    const exchange = new WorkerExchange(new Request("http://h/"), "", { waitUntil: () => {} });
    vi.useFakeTimers();
    try {
      let isOver = false;
      void stream(exchange, new OpenStream({ kind: "stream", parts: never() }), writable).then(() => (isOver = true));
      const reader = readable.getReader();
      await reader.read();
      // The producer is asked for the next part.
      await vi.advanceTimersByTimeAsync(0);
      await reader.cancel();
      await vi.advanceTimersByTimeAsync(29_999);
      expect(isOver).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect([isOver, vi.getTimerCount()]).toEqual([true, 0]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("leaves no timer after the stream has ended in any way", async () => {
    vi.useFakeTimers();
    try {
      const kept: Promise<unknown>[] = [];
      const exchange = new WorkerExchange(new Request("http://h/"), "", { waitUntil: (work) => kept.push(work) });
      exchange.keepAlive(Promise.resolve());
      exchange.keepAlive(Promise.reject(new Error("a bug")));
      expect(vi.getTimerCount()).toBe(2);
      await Promise.all(kept);
      expect([kept.length, vi.getTimerCount()]).toEqual([2, 0]);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([
    ["with enable_request_signal", ["nodejs_als", "enable_request_signal"]],
    ["without it", ["nodejs_als"]],
  ])("aborts clientGone of a route that uses it, %s", async (_, flags) => {
    const asked = await start(script, { flags, bindings: { WORD: "hello" } });
    const client = await asked.client();
    client.ask("GET /gone");
    await client.sees("1;");
    client.socket.destroy();
    await asked.line("gone");
    await asked.line("gone's ticks ended");
  });

  it.skipIf(process.platform !== "linux")("leaves no connection open", async () => {
    const open = (): number => readdirSync(`/proc/${worker.pid}/fd`).length;
    const before = open();
    for (let i = 0; i < 20; i++) {
      const client = await worker.client();
      client.ask("GET /ticks");
      await client.sees("1;");
      client.leave();
      await worker.line("ticks ended");
    }
    await expect.poll(open).toBeLessThanOrEqual(before);
  });
});
