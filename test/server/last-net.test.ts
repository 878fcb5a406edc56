/** The wrapper around every listener's own code: an exception in it becomes one error line, and does not reach the runtime. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { abortingWith } from "../../src/app/exchange.ts";
import { OpenSockets } from "../../src/server/lifecycle.ts";
import { PulledStream } from "../../src/events/readable.ts";
import type { StreamEvents } from "../../src/events/readable.ts";
import type { Deadline, Deadlines } from "../../src/server/deadlines.ts";
import { timedBodyOf } from "../../src/server/timed-body.ts";
import { attempt, guarded } from "../../src/logging/raised.ts";
import { keepAlive } from "../../src/events/event-stream.ts";
import { eventually } from "../support/eventually.ts";
import { lines } from "../support/logs.ts";
import { OpenStream } from "../../src/events/open-stream.ts";
import type { ListenableTransport, SocketListener } from "../../src/exchange/transport.ts";

afterEach(() => vi.restoreAllMocks());

const raise = (): never => {
  throw new TypeError("a secret");
};
const nothing = (): void => {};

const errors = () => lines().filter(({ level }) => level === "error");
async function isTold(count = 1): Promise<void> {
  await eventually(() => expect(errors()).toHaveLength(count));
  for (const line of errors()) {
    expect(line).toMatchObject({ "error.kind": "TypeError", "error.stack": expect.stringMatching(/^at /) });
  }
  expect(JSON.stringify(errors())).not.toContain("secret");
}

describe("an exception in an event listener", () => {
  it("ends the connection of the event", async () => {
    const ended: string[] = [];
    guarded({ destroy: () => ended.push("destroyed") }, raise)();
    guarded({ terminate: () => ended.push("terminated") }, raise)();
    expect(ended).toEqual(["destroyed", "terminated"]);
    await isTold(2);
  });

  it("does not throw again when the connection cannot be ended", async () => {
    attempt({ destroy: raise }, raise);
    await isTold(2);
  });

  it("does not change the arguments of the listener", () => {
    const heard: unknown[] = [];
    guarded(undefined, (...given: readonly number[]) => heard.push(...given))(1, 2);
    attempt(undefined, (text: string) => heard.push(text), "three");
    expect([heard, lines()]).toEqual([[1, 2, "three"], []]);
  });
});

describe("an exception reaches no further", () => {
  it("than the wait for a body", async () => {
    const going = { arrived: nothing, pause: nothing, resume: nothing, restart: nothing, goOn: () => true };
    const deadline: Deadline = { ...going, clear: raise };
    const sweep = { body: () => deadline } as unknown as Deadlines;
    const init = {
      method: "POST",
      body: new ReadableStream(),
      duplex: "half" as const,
      headers: { "content-length": "4" },
    };
    const body = timedBodyOf(new Request("http://h/", init), "POST", { deadlines: sweep, pieceBytes: 0, unread: 0 });
    void body?.read();
    body?.expire();
    await isTold();
  });

  it("than a runtime's signal", async () => {
    const runtime = new AbortController();
    const { signal } = abortingWith(runtime.signal);
    vi.spyOn(AbortController.prototype, "abort").mockImplementationOnce(raise);
    runtime.signal.dispatchEvent(new Event("abort"));
    expect(signal.aborted).toBe(false);
    await isTold();
  });

  it("than a timer that keeps a connection alive", async () => {
    const kept = keepAlive(1, () => {
      kept.end();
      raise();
    });
    await isTold();
  });

  it("than one socket of those that are closed by a stop", async () => {
    const told: string[] = [];
    const link = (stopping: () => void): ListenableTransport => {
      const listener: SocketListener = { message: nothing, frame: nothing, closed: nothing, lost: nothing, stopping };
      return { listener, start: nothing, send: () => true, close: nothing, terminate: () => told.push("terminated") };
    };
    const open = new OpenSockets();
    const never = { open: () => new Promise<void>(() => {}) };
    for (const stopping of [raise, () => told.push("stopping")]) void open.track(never as never, link(stopping));
    open.stop();
    expect(told).toEqual(["terminated", "stopping"]);
    await isTold();
  });

  it("than the WebSocket that opens, which is no longer in flight", async () => {
    const open = new OpenSockets();
    const link = { terminate: nothing } as ListenableTransport;
    await expect(open.track({ open: raise } as never, link)).rejects.toThrow(TypeError);
    expect(open.size).toBe(0);
  });
});

describe("an exception during the sending of a stream cuts it off, and is logged", () => {
  const sendings: { readonly [method: string]: (stream: ReadableStream<Uint8Array>) => Promise<unknown> } = {
    making: (stream) => stream.getReader().read(),
    made: (stream) => stream.getReader().read(),
    cancelled: (stream) => stream.cancel(),
    ended: (stream) => stream.cancel(),
  };
  it.each(Object.keys(sendings))("%s", async (method) => {
    const sending: StreamEvents = {
      stopsAtLength: false,
      making: nothing,
      made: nothing,
      cancelled: () => "client gone",
      ended: nothing,
      [method]: raise,
    };
    let failed: unknown;
    const request = {
      run: <A>(work: () => A): A => work(),
      undeclared: nothing,
      producing: nothing,
      ended: (_how: string, thrown?: unknown) => (failed = thrown),
    };
    const parts = (async function* () {
      yield new Uint8Array(1);
    })();
    const { readable } = new PulledStream(new OpenStream({ kind: "stream", parts }, request), sending);
    await sendings[method]?.(readable).catch(nothing);
    if (method === "making" || method === "made") expect(failed).toBeInstanceOf(TypeError);
    else await isTold();
  });
});
