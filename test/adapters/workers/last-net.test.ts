/**
 * What workerd calls raises, which no input is known to make it do: it is answered 500 or its socket is closed, an error line says
 * of what kind it was and where, and never what.
 */
import { afterEach, describe, expect, it, vi } from "vitest";
import { Answer, Path, Returns, get } from "usher-http";
import { worker } from "usher-http/workers";
import { WorkerTransport } from "../../../adapters/workers/socket.ts";
import type { WorkerSocket } from "../../../adapters/workers/socket.ts";
import { eventually } from "../../support/eventually.ts";
import { lines } from "../../support/logs.ts";
import type { SocketListener } from "../../../src/exchange/transport.ts";

afterEach(() => vi.useRealTimers());

const raise = (): never => {
  throw new TypeError("a secret");
};

async function isTold(): Promise<void> {
  await eventually(() => expect(lines().filter(({ level }) => level === "error")).not.toEqual([]));
  const [line, ...more] = lines().filter(({ level }) => level === "error");
  expect(more).toEqual([]);
  expect(line).toMatchObject({ "error.kind": "TypeError", "error.stack": expect.stringMatching(/^at /) });
  expect(JSON.stringify(line)).not.toContain("secret");
}

describe("an exception outside of the app", () => {
  const { fetch } = worker([
    get(Path.of("now"), { returns: Returns.text }, () => "now"),
    get(Path.of("later"), { returns: Returns.text }, async () => "later"),
    get(Path.of("stream"), { returns: Returns.response }, () => Answer.stream((async function* () {})())),
  ]);
  const asked = (path: string): Request => new Request(`http://h/${path}`);
  const unreadable = new Proxy(asked("now"), {
    get: (of, name) => (name === "headers" ? raise() : Reflect.get(of, name)),
  });
  const nothing = { waitUntil: (): void => {} };

  it.each([
    ["a request that cannot be read", unreadable, nothing],
    ["a runtime that keeps nothing, for an answer that is late", asked("later"), { waitUntil: raise }],
    ["a runtime that makes no stream", asked("stream"), nothing],
  ])("is a 500: %s", async (_what, request, context) => {
    const { status, body } = await fetch(request, {}, context);
    expect([status, body]).toEqual([500, null]);
    await eventually(() => expect(lines().map(({ level }) => level)).toContain("error"));
    expect(JSON.stringify(lines())).not.toContain("secret");
  });
});

/** The runtime's socket, as far as nothing is on the other side of it. */
class Quiet implements WorkerSocket {
  binaryType = "";
  readyState = 1;
  closes = 0;
  readonly #listeners = new Map<string, (event: never) => void>();
  accept(): void {}
  send(): void {}
  close(): void {
    this.closes++;
    this.readyState = 2;
  }
  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.set(type, listener);
  }
  tell(type: string, event: unknown): void {
    this.#listeners.get(type)?.(event as never);
  }
}

describe("an exception in an event of a WebSocket closes it", () => {
  const heard: SocketListener = { message: raise, frame: raise, closed: raise, lost: raise, stopping: raise };
  const opened = (): readonly [Quiet, WorkerTransport] => {
    const socket = new Quiet();
    const link = new WorkerTransport(socket, 10);
    link.start(heard);
    return [socket, link];
  };

  it.each([
    ["message", { data: "x" }],
    ["close", { code: 1006, reason: "" }],
    ["close", { code: 1000, reason: "" }],
    ["error", {}],
  ])("%s", async (type, event) => {
    const [socket] = opened();
    socket.tell(type, event);
    expect(socket.closes).toBe(1);
    await isTold();
  });

  it("a timer", async () => {
    vi.useFakeTimers();
    const [socket, link] = opened();
    const room = link.send("x".repeat(10));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await room).toBe(false);
    expect(socket.closes).toBe(1);
    vi.useRealTimers();
    await isTold();
  });
});
