/** The time limit of clients that take a response part by part, and of WebSockets: the clock is fake. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BufferedUnsent } from "../../src/server/buffered-unsent.ts";
import { Deadlines } from "../../src/server/deadlines.ts";
import { PulledUnsent } from "../../src/server/pulled-unsent.ts";
import type { SendStop, SendingState } from "../../src/server/pulled-unsent.ts";
import { SendBudget } from "../../src/server/send-budget.ts";

const sendTimeoutMs = 10_000;
let state: SendingState;
let slow: number;
let stops: SendStop[];
const stoppedReading = (why: SendStop): void => void stops.push(why);

beforeEach(() => {
  vi.useFakeTimers();
  const deadlines = new Deadlines({ bodyTimeoutMs: 1000, minBodyRate: 1, sendTimeoutMs, minSendRate: 100 });
  deadlines.start();
  [slow, stops] = [0, []];
  const unsent = new SendBudget({ sendBudget: 1000, sendShare: 1000 }, deadlines, (why) => {
    if (why === "slow") slow++;
  });
  state = { deadlines, unsent, sendTimeoutMs };
});
afterEach(() => void vi.useRealTimers());

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

describe("a client that takes parts", () => {
  it.each([
    ["at the rate", 500, 4500, 0, []],
    ["below the rate", 100, 4500, 1, ["slow"]],
    ["never", 500, 11_000, 0, ["unread"]],
    ["as they are made, however short they are", 1, 400, 0, []],
  ] as const)("%s", async (_how, bytes, ms, isSlow, why) => {
    const unsent = new PulledUnsent(state, { network: undefined, stoppedReading });
    for (let i = 0; i < 100 && stops.length === 0; i++) {
      unsent.made(bytes);
      await pass(ms);
      unsent.making();
    }
    expect([slow, stops]).toEqual([isSlow, why]);
    unsent.ended();
  });

  it("late, and then a short one at once, again and again, is slow: a short part gives no time back but its own", async () => {
    const unsent = new PulledUnsent(state, { network: undefined, stoppedReading });
    for (let i = 0; i < 100 && stops.length === 0; i++) {
      for (const ms of [9000, 0]) {
        unsent.made(1);
        await pass(ms);
        unsent.making();
      }
    }
    expect([slow, stops]).toEqual([1, ["slow"]]);
  });

  it("is not stopped once its stream has ended, and nothing waits for it any more", async () => {
    const unsent = new PulledUnsent(state, { network: undefined, stoppedReading });
    unsent.made(500);
    await pass(sendTimeoutMs - 1000);
    expect(state.unsent.bytes).toBe(500);
    unsent.ended();
    await pass(2 * sendTimeoutMs);
    expect([slow, stops, state.unsent.bytes]).toEqual([0, [], 0]);
  });
});

describe("a WebSocket of which sends wait", () => {
  it.each([
    ["at the rate", 100, 0, []],
    ["below the rate", 50, 1, ["slow"]],
    ["never", 0, 0, ["unread"]],
  ] as const)("and are taken %s", async (_how, perSecond, isSlow, why) => {
    const socket = { network: undefined, buffered: 0, stoppedReading };
    const unsent = new BufferedUnsent(state, socket);
    socket.buffered = 100_000;
    unsent.count(100_000);
    unsent.waits();
    for (let i = 0; i < 60 && stops.length === 0; i++) {
      await pass(1000);
      socket.buffered -= perSecond;
      unsent.count();
    }
    expect([slow, stops]).toEqual([isSlow, why]);
    unsent.ended();
    expect(state.unsent.bytes).toBe(0);
  });

  it("is not stopped, nor counted as slow, once it has ended", async () => {
    const socket = { network: undefined, buffered: 100_000, stoppedReading };
    const unsent = new BufferedUnsent(state, socket);
    unsent.count(100_000);
    unsent.waits();
    await pass(sendTimeoutMs - 1000);
    unsent.ended();
    await pass(2 * sendTimeoutMs);
    expect([slow, stops, state.unsent.bytes]).toEqual([0, [], 0]);
  });

  it("that takes what is sent while other bytes wait is seen to take it", () => {
    const socket = { network: undefined, buffered: 500, stoppedReading };
    const unsent = new BufferedUnsent(state, socket);
    unsent.count(500);
    const before = unsent.taken;
    // 300 were taken, and 300 were sent.
    unsent.count(300);
    expect(unsent.taken - before).toBe(300);
    expect(state.unsent.bytes).toBe(500);
  });

  it("is cut past the budget: the one that has taken nothing for the longest time", async () => {
    const [first, second] = [0, 1].map((i) => {
      const socket = {
        network: undefined,
        buffered: 600,
        stoppedReading: (why: SendStop) => stops.push(`${i} ${why}` as SendStop),
      };
      return new BufferedUnsent(state, socket);
    }) as [BufferedUnsent, BufferedUnsent];
    first.count(600);
    await pass(2000);
    second.count(600);
    await pass(0);
    expect(stops).toEqual(["0 past budget"]);
    expect(state.unsent.bytes).toBe(600);
  });
});
