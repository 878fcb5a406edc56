/** `maxEventLoopDelayMs`: 503 `busy` while the event loop is late. The clock and the timers are held. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { App, Path, Returns, get } from "usher-http";
import type { AppOptions } from "usher-http";
import { gate } from "../support/gate.ts";
import { messages } from "../support/logs.ts";

let passed = 0;
/** A turn of the event loop that long: no timer runs in it. */
const block = (ms: number): void => void (passed += ms);
/** Time in which the event loop is free: the timers run. */
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
    maxEventLoopDelayMs: 50,
    ...options,
  });
  const asks = async (path = "/x") => (await app.fetch(new Request(`http://h${path}`))).status;
  return { app, asks, held };
};

describe("an event loop", () => {
  it("that is late for the requests of one turn refuses those that come after more than the bound", async () => {
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

  it("that was late once serves, and late twice in a row it refuses until it is in time", async () => {
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

  it("that was late, and that nobody asked meanwhile, serves every request of the next turn", async () => {
    const { asks } = made();
    await asks();
    for (let i = 0; i < 2; i++) {
      block(100);
      rest(5);
    }
    // No request came, so its timer has stopped, whose last reading says nothing of now.
    expect(vi.getTimerCount()).toBe(0);
    expect([await asks(), await asks()]).toEqual([200, 200]);
  });

  it("that was late once serves for a tenth of the bound, as its requests have waited already", async () => {
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

describe("the timer of an event loop", () => {
  it("is watched while a request is in flight, and has no timer when none is", async () => {
    const { asks, held } = made();
    expect(vi.getTimerCount()).toBe(0);
    const waiting = asks("/held");
    rest(1000);
    expect(vi.getTimerCount()).toBe(1);
    // What blocks it is the work of the request that waits.
    block(100);
    expect(await asks()).toBe(503);
    held.open("x");
    expect(await waiting).toBe(200);
    rest(10);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("may stand still between two requests for as long as it likes", async () => {
    const { asks } = made();
    await asks();
    rest(10);
    block(10_000);
    expect(await asks()).toBe(200);
  });

  it("is not watched without the option", async () => {
    const app = App.make([get(at, text, () => "x")], { maxInFlight: 1 });
    await app.fetch(new Request("http://h/x"));
    expect(vi.getTimerCount()).toBe(0);
  });
});
