/**
 * How long a client of a Worker's socket may be silent. No socket of the machine is open here: a library that closes one while
 * the clock is held sets a timer of its own, and the tests count those that are left.
 */
import { afterEach, describe, expect, it, vi } from "vitest";
import { WorkerTransport } from "../../../adapters/workers/socket.ts";
import type { WorkerSocket } from "../../../adapters/workers/socket.ts";
import type { SocketListener } from "../../../src/exchange/transport.ts";

/** The runtime's socket, as far as nothing is on the other side of it. */
class Quiet implements WorkerSocket {
  binaryType = "";
  readyState = 1;
  sent = 0;
  closes: unknown[] = [];
  readonly #listeners = new Map<string, (event: never) => void>();
  accept(): void {}
  send(data: string | Uint8Array): void {
    this.sent += data.length;
  }
  close(...said: unknown[]): void {
    this.closes.push(said);
    this.readyState = 2;
  }
  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.set(type, listener);
  }
  tell(type: string, event: unknown): void {
    this.#listeners.get(type)?.(event as never);
  }
}

describe("a client that was sent its bytes, and has not answered", () => {
  afterEach(() => vi.useRealTimers());
  const opened = (maxUnheard = 10): { socket: Quiet; link: WorkerTransport; lost: string[] } => {
    vi.useFakeTimers();
    const lost: string[] = [];
    const nothing = (): void => {};
    const heard: SocketListener = {
      message: nothing,
      frame: nothing,
      closed: nothing,
      lost: (detail) => lost.push(detail),
      stopping: nothing,
    };
    const socket = new Quiet();
    const link = new WorkerTransport(socket, maxUnheard);
    link.start(heard);
    return { socket, link, lost };
  };

  it("is disconnected after 30 s", async () => {
    const { socket, link, lost } = opened();
    // Bytes, and not letters.
    expect(link.send("ééé")).toBe(true);
    const both = [link.send(new Uint8Array(3)), link.send("x")];
    await vi.advanceTimersByTimeAsync(29_999);
    expect(lost).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(await both[0]).toBe(true);
    expect(await both[1]).toBe(false);
    expect(lost).toEqual(["nothing heard for 30s, with 10 bytes sent meanwhile"]);
    expect([socket.closes, vi.getTimerCount()]).toEqual([[[]], 0]);
    expect(link.send("x")).toBe(false);
  });

  it("is sent more after it answers, and as many bytes again", async () => {
    const { socket, link, lost } = opened();
    const waits = link.send("x".repeat(10));
    socket.tell("message", { data: "more" });
    expect(await waits).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
    expect(link.send("x".repeat(9))).toBe(true);
    const again = link.send("x");
    expect(vi.getTimerCount()).toBe(1);
    socket.tell("message", { data: "more" });
    expect(await again).toBe(true);
    expect(lost).toEqual([]);
  });

  it("gets the time limit after each MiB, and not earlier", async () => {
    const { link } = opened(Number.POSITIVE_INFINITY);
    for (let i = 0; i < 2; i++) {
      expect(link.send(new Uint8Array(1_048_575))).toBe(true);
      const waits = link.send("x");
      expect(waits).toBeInstanceOf(Promise);
      await vi.advanceTimersByTimeAsync(5);
      expect(await waits).toBe(true);
    }
  });

  it.each([
    ["closes", (socket: Quiet) => socket.tell("close", { code: 1000, reason: "" })],
    ["fails", (socket: Quiet) => socket.tell("error", {})],
    [
      "is closed",
      (socket: Quiet, link: WorkerTransport) => {
        link.close(1000, "over");
        link.close(1000, "twice");
        expect(socket.closes).toEqual([[1000, "over"]]);
      },
    ],
  ])("is not awaited after it %s", async (_how, end) => {
    const { socket, link } = opened();
    const waits = link.send("x".repeat(10));
    end(socket, link);
    expect(await waits).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });
});
