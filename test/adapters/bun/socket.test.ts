/** The time limits of a socket on Bun: the test takes the place of the runtime, and the clock is fake. */
import { beforeEach, describe, expect, it, vi } from "vitest";
import { socketHandlers } from "../../../adapters/bun/socket.ts";
import type { SocketData } from "../../../adapters/bun/socket.ts";
import type { BunSocket, BunSocketHandlers } from "../../../adapters/bun/listen.ts";
import { Deadlines } from "../../../src/server/deadlines.ts";
import { SendBudget } from "../../../src/server/send-budget.ts";
import { OpenSockets } from "../../../src/server/lifecycle.ts";
import { Path, Returns, Socket, get } from "../../../src/index.ts";
import type { SocketListener, SocketTransport } from "../../../src/exchange/transport.ts";

const sendTimeoutMs = 1000;
const texts = Socket.protocol({ client: Socket.text, server: Socket.text });
const route = get(Path.of("s"), { returns: Returns.websocket(texts) }, () => async () => {});

/** Bun's side of a socket. */
class Played implements BunSocket<SocketData> {
  readonly data: SocketData;
  readyState = 1;
  buffered = 0;
  readonly calls: unknown[] = [];
  constructor(data: SocketData) {
    this.data = data;
  }
  getBufferedAmount(): number {
    return this.buffered;
  }
  send(data: string | Uint8Array): number {
    this.buffered += data.length;
    return data.length;
  }
  ping(): number {
    return 0;
  }
  close(...said: unknown[]): void {
    this.calls.push(["close", ...said]);
    this.readyState = 3;
  }
  terminate(): void {
    this.calls.push("terminate");
    this.readyState = 3;
  }
  pause(): void {}
  resume(): void {}
}

let played: Played;
let handlers: BunSocketHandlers<SocketData>;
let link: SocketTransport;
let heard: unknown[];
let budget: SendBudget;
let cuts: unknown[];

beforeEach(() => {
  vi.useFakeTimers();
  const deadlines = new Deadlines({ bodyTimeoutMs: sendTimeoutMs, minBodyRate: 1, sendTimeoutMs, minSendRate: 1 });
  deadlines.start();
  budget = new SendBudget({ sendBudget: 200_000, sendShare: 200_000 }, deadlines, (why) => cuts.push(why));
  cuts = [];
  const nothing = (): void => {};
  heard = [];
  const listener: SocketListener = {
    message: nothing,
    frame: nothing,
    closed: (...said) => heard.push(["closed", ...said]),
    lost: (detail) => heard.push(["lost", detail]),
    stopping: nothing,
  };
  const open = async (transport: SocketTransport): Promise<void> => {
    link = transport;
    transport.start(listener);
  };
  const opened = { subprotocol: undefined, maxMessage: 1, keepAliveMs: 1, maxUnheard: 1, open };
  handlers = socketHandlers([route], {
    open: new OpenSockets(),
    deadlines,
    unsent: budget,
    sendTimeoutMs,
  }) as typeof handlers;
  played = new Played({ opened, network: undefined, transport: undefined });
  handlers.open(played);
  return () => {
    deadlines.stop();
    vi.useRealTimers();
  };
});

/** The client reads until this number of bytes is left. */
function takes(left: number): void {
  played.buffered = left;
  handlers.drain(played);
}

/** Longer than a client may read nothing. */
const tooLong = (): void => void vi.advanceTimersByTime(2 * sendTimeoutMs);

describe("a send", () => {
  it("waits for a slow client, which is not disconnected after it has read", async () => {
    expect(link.send("x".repeat(65_535))).toBe(true);
    const waits = link.send("x");
    takes(65_535);
    expect(await waits).toBe(true);
    tooLong();
    expect([played.calls, link.send("")]).toEqual([[], true]);
  });

  it("waits for the full time again, each time that the client has read some of it", async () => {
    const waits = link.send("x".repeat(100_000));
    for (let left = 99_999; left > 99_990; left--) {
      vi.advanceTimersByTime(sendTimeoutMs * 0.75);
      takes(left);
    }
    expect(played.calls).toEqual([]);
    tooLong();
    await vi.advanceTimersByTimeAsync(0);
    expect(played.calls).toEqual(["terminate"]);
    handlers.close(played, 1006, "");
    expect([await waits, heard]).toEqual([false, [["lost", "nothing written was taken for 1s"]]]);
  });
});

it("a client that reads some of what it was sent is alive, and one that reads nothing is not", () => {
  void link.send("x".repeat(100_000));
  const before = link.progress?.();
  vi.advanceTimersByTime(sendTimeoutMs / 2);
  expect(link.progress?.()).toBe(before);
  takes(90_000);
  expect(link.progress?.()).not.toBe(before);
});

describe("a close", () => {
  it("is immediate without unsent messages", () => {
    expect(link.close(1000, "over")).toBeUndefined();
    expect(played.calls).toEqual([["close", 1000, "over"]]);
  });

  it("follows the unsent messages", async () => {
    void link.send("x");
    const closes = link.close(1000, "over");
    expect(played.calls).toEqual([]);
    takes(0);
    await closes;
    expect(played.calls).toEqual([["close", 1000, "over"]]);
  });

  it("is not sent when the client has gone, whose time limit then ends too", async () => {
    void link.send("x");
    const closes = link.close(1000, "over");
    handlers.close(played, 1006, "");
    await closes;
    tooLong();
    expect([played.calls, heard]).toEqual([[], [["lost", "the connection ended without a close"]]]);
  });
});
