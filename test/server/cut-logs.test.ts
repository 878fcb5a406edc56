/** The lines about clients that are disconnected because of what waits for them: one a minute, and the rest when the server stops. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CutLogs } from "../../src/server/listener.ts";
import { messages } from "../support/logs.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it.each([
  ["past budget", "clients disconnected past sendBudget (1000) or sendShare, which read nothing"],
  ["slow", "clients disconnected that read fewer bytes a second than minSendRate (100)"],
] as const)("counts of %s are logged once: the rest of a minute at the stop", (why, message) => {
  const logs = new CutLogs({ sendBudget: 1000, sendShare: 500, minSendRate: 100 });
  for (let i = 0; i < 3; i++) logs.count(why);
  expect(messages("warn")).toEqual([`${message}: 1`]);
  logs.stop();
  expect(messages("warn")).toEqual([`${message}: 1`, `${message}: 2`]);
  logs.stop();
  vi.advanceTimersByTime(120_000);
  expect(messages("warn")).toHaveLength(2);
});
