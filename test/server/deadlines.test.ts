/** Time limits for clients, checked by one timer. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Deadlines } from "../../src/server/deadlines.ts";
import type { Deadline } from "../../src/server/deadlines.ts";
import { lines } from "../support/logs.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const swept = (): Deadlines => {
  const sweep = new Deadlines({ bodyTimeoutMs: 1000, minBodyRate: 100, sendTimeoutMs: 1000, minSendRate: 100 });
  sweep.start();
  return sweep;
};

describe("a deadline: its expiry", () => {
  it("that throws does not prevent the expiry of others", () => {
    const sweep = swept();
    const expired = vi.fn();
    sweep.time(500, {
      expire: () => {
        throw new TypeError("a secret");
      },
    });
    sweep.time(500, { expire: expired });
    vi.advanceTimersByTime(1000);
    expect(expired).toHaveBeenCalledTimes(1);
    const errors = lines().filter(({ level }) => level === "error");
    expect(errors).toEqual([expect.objectContaining({ "error.kind": "TypeError" })]);
    expect(JSON.stringify(errors)).not.toContain("secret");
    sweep.stop();
  });

  it("leaves no timer when the sweep is stopped", () => {
    const sweep = swept();
    sweep.time(500, { expire: vi.fn() });
    expect(vi.getTimerCount()).toBe(1);
    sweep.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("expires after its time, and not before", () => {
    const sweep = swept();
    const expired = vi.fn();
    sweep.time(500, { expire: expired });
    vi.advanceTimersByTime(500);
    expect(expired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(100);
    expect(expired).toHaveBeenCalledTimes(1);
    sweep.stop();
  });

  it.each([
    ["is first started", 0],
    ["is started again", 1],
  ])("has its full time when the sweep %s long after it was created", (_when, stops) => {
    const sweep = new Deadlines({ bodyTimeoutMs: 1000, minBodyRate: 100, sendTimeoutMs: 1000, minSendRate: 100 });
    for (let i = 0; i < stops; i++) {
      sweep.start();
      sweep.stop();
    }
    vi.advanceTimersByTime(60_000);
    sweep.start();
    const [expired, body] = [vi.fn(), vi.fn()];
    sweep.time(500, { expire: expired });
    sweep.body({ expire: body });
    vi.advanceTimersByTime(500);
    expect(expired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(100);
    expect(expired).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(400);
    expect(body).not.toHaveBeenCalled();
    vi.advanceTimersByTime(100);
    expect(body).toHaveBeenCalledTimes(1);
    sweep.stop();
  });
});

describe("a deadline: for a body", () => {
  it("is longer for a body that arrives, and pauses while no code waits", () => {
    const sweep = swept();
    const expired = vi.fn();
    const wait = sweep.body({ expire: expired });
    vi.advanceTimersByTime(900);
    wait.arrived(100);
    vi.advanceTimersByTime(900);
    wait.pause();
    wait.pause();
    vi.advanceTimersByTime(60_000);
    expect(expired).not.toHaveBeenCalled();
    wait.resume();
    wait.resume();
    vi.advanceTimersByTime(300);
    expect(expired).toHaveBeenCalledTimes(1);
    sweep.stop();
  });

  // A body that arrives at 100 bytes a second never expires; the time limit of a stall is a second.
  it.each([
    ["nothing", 0],
    ["a byte", 1],
    ["a second's worth", 100],
    ["a day's worth at once", 8_640_000],
  ])("for a body that stalls expires after its time, and not later, after %s", (_what, bytes) => {
    const sweep = swept();
    const expired = vi.fn();
    const wait = sweep.body({ expire: expired });
    wait.arrived(bytes);
    wait.pause();
    vi.advanceTimersByTime(60_000);
    wait.resume();
    wait.arrived(bytes);
    vi.advanceTimersByTime(1000);
    expect(expired).not.toHaveBeenCalled();
    vi.advanceTimersByTime(200);
    expect(expired).toHaveBeenCalledTimes(1);
    sweep.stop();
  });

  it("for a body at the minimum rate never expires, and for a slower one it does", () => {
    const sweep = swept();
    const [steady, slow] = [vi.fn(), vi.fn()];
    const [one, other] = [sweep.body({ expire: steady }), sweep.body({ expire: slow })];
    for (let seconds = 0; seconds < 600; seconds++) {
      vi.advanceTimersByTime(1000);
      one.arrived(100);
      other.arrived(90);
    }
    expect([steady.mock.calls.length, slow.mock.calls.length]).toEqual([0, 1]);
    sweep.stop();
  });
});

describe("a deadline: several", () => {
  it("may clear others when it expires, and create new ones", () => {
    const sweep = swept();
    const expired: string[] = [];
    const waits: Deadline[] = [];
    for (const name of ["a", "b", "c", "d"]) {
      waits.push(
        sweep.time(100, {
          expire() {
            expired.push(name);
            // The next one in the ring, and itself.
            for (const wait of waits.splice(0, 3)) wait.clear();
            sweep.time(100, { expire: () => expired.push(`${name} again`) });
          },
        }),
      );
    }
    vi.advanceTimersByTime(200);
    expect(expired).toEqual(["a", "d"]);
    vi.advanceTimersByTime(300);
    expect(expired).toEqual(["a", "d", "a again", "d again"]);
    sweep.stop();
  });

  it("that is cleared never expires", () => {
    const sweep = swept();
    const expired = vi.fn();
    const wait = sweep.time(100, { expire: expired });
    wait.clear();
    wait.clear();
    vi.advanceTimersByTime(10_000);
    expect(expired).not.toHaveBeenCalled();
    sweep.stop();
  });
});

describe("the Date of an answer", () => {
  it("is read again after each sweep, and always without a sweep", () => {
    vi.setSystemTime("2026-09-30T12:00:00.900Z");
    const sweep = swept();
    expect(sweep.date).toBe("Wed, 30 Sep 2026 12:00:00 GMT");
    vi.advanceTimersByTime(500);
    expect(sweep.date).toBe("Wed, 30 Sep 2026 12:00:01 GMT");
    sweep.stop();
    vi.setSystemTime("2026-09-30T13:00:00.000Z");
    expect(sweep.date).toBe("Wed, 30 Sep 2026 13:00:00 GMT");
  });
});
