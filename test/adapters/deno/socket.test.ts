/** What a socket on Deno waits for, and for how long: the runtime's own side is played here, and the clock is held. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { DenoExchange } from "../../../adapters/deno/exchange.ts";
import type { DenoSocket } from "../../../adapters/deno/runtime.ts";
import { upgrade } from "../../../adapters/deno/socket.ts";
import { OpenSockets } from "../../../src/server/lifecycle.ts";
import type { SocketListener, SocketTransport } from "../../../src/sockets/socket.ts";

/** Deno's side of a socket. */
class Played implements DenoSocket {
  binaryType = "";
  readyState = 1;
  bufferedAmount = 0;
  readonly closes: unknown[] = [];
  readonly #listeners = new Map<string, (event: never) => void>();
  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.set(type, listener);
  }
  tell(type: string): void {
    this.#listeners.get(type)?.({} as never);
  }
  send(data: string | Uint8Array): void {
    this.bufferedAmount += data.length;
  }
  close(...said: unknown[]): void {
    this.closes.push(said);
    this.readyState = 2;
  }
}

const sendTimeoutMs = 1000;
let played: Played;
let link: SocketTransport;
let lost: string[];

beforeEach(() => {
  vi.useFakeTimers();
  played = new Played();
  lost = [];
  const nothing = (): void => {};
  const listener: SocketListener = {
    message: nothing,
    frame: nothing,
    closed: nothing,
    lost: (detail) => lost.push(detail),
    stopping: nothing,
  };
  const open = async (transport: SocketTransport): Promise<void> => {
    link = transport;
    transport.start(listener);
  };
  const opened = { subprotocol: undefined, maxMessage: 1, keepAliveMs: 60_000, maxUnheard: 1, open };
  vi.stubGlobal("Deno", { upgradeWebSocket: () => ({ socket: played, response: new Response() }) });
  const exchange = { request: new Request("http://h/"), left: nothing } as DenoExchange;
  const head = { status: 101, head: [], body: undefined, closes: false };
  upgrade(exchange, head, opened, { open: new OpenSockets(), sendTimeoutMs });
  played.tell("open");
  return () => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  };
});

describe("a send", () => {
  it("waits until its client has read, and no longer", async () => {
    expect(link.send("x".repeat(65_535))).toBe(true);
    const waits = link.send("x");
    await vi.advanceTimersByTimeAsync(500);
    played.bufferedAmount = 65_535;
    await vi.advanceTimersByTimeAsync(10);
    expect([await waits, vi.getTimerCount(), lost]).toEqual([true, 0, []]);
  });

  it("waits anew for as long, each time that its client has read some of it", async () => {
    const waits = link.send("x".repeat(100_000));
    for (let i = 0; i < 10; i++) {
      await vi.advanceTimersByTimeAsync(750);
      played.bufferedAmount--;
    }
    expect([lost, played.closes]).toEqual([[], []]);
    await vi.advanceTimersByTimeAsync(2000);
    expect([await waits, lost, played.closes]).toEqual([false, ["nothing written was taken for 1s"], [[]]]);
  });

  it("waits for no client that has gone", async () => {
    const waits = link.send("x".repeat(100_000));
    played.readyState = 3;
    await vi.advanceTimersByTimeAsync(10);
    expect([await waits, vi.getTimerCount(), lost]).toEqual([false, 0, []]);
  });
});

it("a socket is closed with its code, and ended by a close without one, which one that closes is not", () => {
  void link.close(1000, "over");
  link.terminate();
  expect(played.closes).toEqual([[1000, "over"]]);
  played.readyState = 1;
  link.terminate();
  expect(played.closes).toEqual([[1000, "over"], []]);
});
