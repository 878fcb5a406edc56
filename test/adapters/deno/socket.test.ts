/** The time limits of a socket on Deno: the test takes the place of the runtime, and the clock is fake. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { DenoExchange } from "../../../adapters/deno/exchange.ts";
import type { DenoSocket } from "../../../adapters/deno/runtime.ts";
import { upgrade } from "../../../adapters/deno/socket.ts";
import type { App } from "../../../src/app/app.ts";
import { Deadlines } from "../../../src/server/deadlines.ts";
import { SendBudget } from "../../../src/server/send-budget.ts";
import { OpenSockets } from "../../../src/server/lifecycle.ts";
import type { SocketListener, SocketTransport } from "../../../src/exchange/transport.ts";

/** The timers but that of the deadlines. */
const timers = (): number => vi.getTimerCount() - 1;

/** Deno's side of a socket. */
class Played implements DenoSocket {
  binaryType = "";
  readyState = 1;
  bufferedAmount = 0;
  readonly closes: unknown[] = [];
  readonly #listeners: (readonly [type: string, listener: (event: never) => void])[] = [];
  addEventListener(type: string, listener: (event: never) => void): void {
    this.#listeners.push([type, listener]);
  }
  tell(type: string): void {
    for (const [of, listener] of this.#listeners) if (of === type) listener({} as never);
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
let opens: number;
let unsent: number;
let isGone: boolean;
let deadlines: Deadlines;
let budget: SendBudget;
let cuts: unknown[];

beforeEach(() => {
  vi.useFakeTimers();
  played = new Played();
  lost = [];
  [opens, unsent, isGone] = [0, 0, false];
  const nothing = (): void => {};
  const listener: SocketListener = {
    message: nothing,
    frame: nothing,
    closed: nothing,
    lost: (detail) => lost.push(detail),
    stopping: nothing,
  };
  const open = async (transport: SocketTransport): Promise<void> => {
    opens++;
    link = transport;
    transport.start(listener);
  };
  const opened = { subprotocol: undefined, maxMessage: 1, keepAliveMs: 60_000, maxUnheard: 1, open };
  vi.stubGlobal("Deno", { upgradeWebSocket: () => ({ socket: played, response: new Response() }) });
  const left = (): void => void (isGone = true);
  const exchange = { request: new Request("http://h/"), left } as DenoExchange;
  const head = { status: 101, head: [], body: undefined, closes: false, unsent: () => void unsent++ };
  deadlines = new Deadlines({ bodyTimeoutMs: sendTimeoutMs, minBodyRate: 1, sendTimeoutMs, minSendRate: 1000 });
  deadlines.start();
  cuts = [];
  budget = new SendBudget({ sendBudget: 200_000, sendShare: 200_000 }, deadlines, (why) => cuts.push(why));
  const app = { networkOf: () => undefined } as unknown as App;
  upgrade(exchange, head, opened, { app, open: new OpenSockets(), deadlines, unsent: budget, sendTimeoutMs });
  return () => {
    deadlines.stop();
    vi.unstubAllGlobals();
    vi.useRealTimers();
  };
});

describe("a send", () => {
  beforeEach(() => played.tell("open"));

  it("waits until its client has read, and no longer", async () => {
    expect(link.send("x".repeat(65_535))).toBe(true);
    const waits = link.send("x");
    await vi.advanceTimersByTimeAsync(500);
    played.bufferedAmount = 65_535;
    await vi.advanceTimersByTimeAsync(10);
    expect([await waits, timers(), lost]).toEqual([true, 0, []]);
  });

  it("waits for the full time again, each time that its client has read some of it", async () => {
    const waits = link.send("x".repeat(100_000));
    for (let i = 0; i < 10; i++) {
      await vi.advanceTimersByTimeAsync(750);
      played.bufferedAmount -= 1000;
    }
    expect([lost, played.closes]).toEqual([[], []]);
    await vi.advanceTimersByTimeAsync(2000);
    expect([await waits, lost, played.closes]).toEqual([false, ["nothing written was taken for 1s"], [[]]]);
  });

  it("does not wait for a client that has gone", async () => {
    const waits = link.send("x".repeat(100_000));
    played.readyState = 3;
    await vi.advanceTimersByTimeAsync(10);
    expect([await waits, timers(), lost]).toEqual([false, 0, []]);
  });
});

it("a socket is closed with its code, and destroyed without one if it is already closing", () => {
  played.tell("open");
  void link.close(1000, "over");
  link.terminate();
  expect(played.closes).toEqual([[1000, "over"]]);
  played.readyState = 1;
  link.terminate();
  expect(played.closes).toEqual([[1000, "over"], []]);
});

describe("a handshake whose socket Deno never opens", () => {
  it("ends after the send timeout, and its acquired values are released", async () => {
    await vi.advanceTimersByTimeAsync(sendTimeoutMs - 1);
    expect([unsent, isGone]).toEqual([0, false]);
    await vi.advanceTimersByTimeAsync(1);
    expect([opens, unsent, isGone, timers()]).toEqual([0, 1, true, 0]);
  });

  it("ends when Deno reports that it has closed, and once", async () => {
    played.tell("close");
    expect([opens, unsent, isGone, timers()]).toEqual([0, 1, true, 0]);
    await vi.advanceTimersByTimeAsync(2 * sendTimeoutMs);
    expect(unsent).toBe(1);
  });

  it("closes a socket that opens after that, without running its handler", async () => {
    await vi.advanceTimersByTimeAsync(sendTimeoutMs);
    played.tell("open");
    played.tell("close");
    expect([opens, unsent, played.closes.length]).toEqual([0, 1, 1]);
  });

  it("does not time out if it opens in time", async () => {
    played.tell("open");
    await vi.advanceTimersByTimeAsync(2 * sendTimeoutMs);
    expect([opens, unsent, isGone, played.closes]).toEqual([1, 0, false, []]);
    played.tell("close");
    expect([unsent, isGone]).toEqual([0, true]);
  });
});
