/** `maxEventLoopDelayMs`: 503 `busy` while the event loop is late. The clock and the timers are fake. */
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { App, Overload, Path, Returns, get } from "usher-http";
import type { AppOptions } from "usher-http";
import { gate } from "../support/gate.ts";
import { messages } from "../support/logs.ts";

let passed = 0;
/** Blocks the event loop for this time: no timer runs meanwhile. */
const block = (ms: number): void => void (passed += ms);
/** Time in which the event loop is idle: the timers run. */
const rest = (ms: number): void => void vi.advanceTimersByTime(ms);
beforeEach(() => {
  passed = 0;
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + passed);
});
afterEach(() => {
  rest(1000);
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const at = Path.of("x");
const text = { returns: Returns.text };
const made = (options: AppOptions = {}) => {
  const held = gate<string>();
  const app = App.make([get(at, text, () => "x"), get(Path.of("held"), text, () => held.passed)], {
    overload: Overload.make({ maxEventLoopDelayMs: 50 }),
    ...options,
  });
  // Otherwise the line of what it refused since would come a minute later, in the test of another file.
  onTestFinished(() => app.drain());
  const asks = async (path = "/x") => (await app.fetch(new Request(`http://h${path}`))).status;
  return { app, asks, held };
};

describe("the event loop", () => {
  it("refuses requests of one turn once it is late by more than the limit", async () => {
    const { asks } = made();
    const statuses = [];
    for (let i = 0; i < 8; i++) {
      statuses.push(await asks());
      block(10);
    }
    // The timer is due 5 ms after the first.
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 503, 503]);
    rest(5);
    expect(await asks()).toBe(200);
    expect(messages("warn")).toEqual(["requests refused with 503 busy past maxEventLoopDelayMs (50): 1"]);
  });

  it("serves when it was late once, and refuses after it was late twice until it is in time", async () => {
    const { asks } = made();
    await asks();
    block(100);
    rest(5);
    expect(await asks()).toBe(200);
    block(100);
    rest(5);
    expect(await asks()).toBe(503);
    rest(5);
    expect(await asks()).toBe(200);
  });

  it("serves every request of the next turn when it was late without requests", async () => {
    const { asks } = made();
    await asks();
    for (let i = 0; i < 2; i++) {
      block(100);
      rest(5);
    }
    // No request arrived, so its timer has stopped, and the timer's last value is out of date.
    expect(vi.getTimerCount()).toBe(0);
    expect([await asks(), await asks()]).toEqual([200, 200]);
  });

  it("serves for a tenth of the limit after it was late once, as those requests have already waited", async () => {
    const { asks } = made();
    await asks();
    block(100);
    rest(5);
    const statuses = [];
    for (let i = 0; i < 4; i++) {
      statuses.push(await asks());
      block(3);
    }
    expect(statuses).toEqual([200, 200, 503, 503]);
    rest(5);
    expect(await asks()).toBe(200);
  });
});

describe("the timer of the event loop", () => {
  it("runs only while a request is in flight", async () => {
    const { asks, held } = made();
    expect(vi.getTimerCount()).toBe(0);
    const waiting = asks("/held");
    rest(1000);
    expect(vi.getTimerCount()).toBe(1);
    // The work of the waiting request blocks the event loop.
    block(100);
    expect(await asks()).toBe(503);
    held.open("x");
    expect(await waiting).toBe(200);
    rest(10);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("does not count the time between two requests", async () => {
    const { asks } = made();
    await asks();
    rest(10);
    block(10_000);
    expect(await asks()).toBe(200);
  });

  it("does not exist without the option", async () => {
    const app = App.make([get(at, text, () => "x")], { overload: Overload.make({ maxInFlight: 1 }) });
    await app.fetch(new Request("http://h/x"));
    expect(vi.getTimerCount()).toBe(0);
  });
});
