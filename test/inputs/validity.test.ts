/** How long what an input checked is valid: once what followed has ended, nothing looks any more, and nothing ends it again. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { RequestValidity } from "../../src/inputs/validity.ts";
import type { CheckedValidity } from "../../src/inputs/validity.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const end = vi.fn();
const check = vi.fn(() => true);
let listening: Set<() => void>;
beforeEach(() => {
  end.mockClear();
  check.mockClear();
  listening = new Set();
});

const endsBy = (lapse: () => void): (() => void) => {
  listening.add(lapse);
  return () => void listening.delete(lapse);
};
const minutes = 60_000;
const now = new Date(1_800_000_000_000);
const given: readonly (readonly [what: string, validity: CheckedValidity])[] = [
  ["an instant", { until: now.getTime() + 5 * minutes }],
  ["an instant that no timer reaches", { until: 1e300 }],
  ["a check", { check, everyMs: 1000 }],
  ["what ends it here", { endsBy }],
];

const lapse = async (validity: RequestValidity): Promise<void> => {
  validity.add({ until: now.getTime() });
  await vi.advanceTimersByTimeAsync(1);
};
type Ending = readonly [how: string, hasLapsed: boolean, act: (validity: RequestValidity) => unknown];
const endings: readonly Ending[] = [
  ["is over", false, (validity) => validity.over()],
  ["is over twice", false, (validity) => (validity.over(), validity.over())],
  ["another input ended", true, lapse],
  ["another input ended, and is over", true, async (validity) => (await lapse(validity), validity.over())],
];
const rows = given.flatMap(([what, validity]) =>
  endings.map(([how, hasLapsed, act]) => [what, how, validity, hasLapsed, act] as const),
);

it.each(rows)("%s is not looked at any more for a stream that %s", async (_what, _how, validity, hasLapsed, act) => {
  const request = new RequestValidity(now);
  request.add(validity);
  request.open(end);
  await vi.advanceTimersByTimeAsync(2500);
  await act(request);
  const checks = check.mock.calls.length;
  expect([vi.getTimerCount(), listening.size]).toEqual([0, 0]);
  await vi.advanceTimersByTimeAsync(10 * minutes);
  expect([end.mock.calls.length, check.mock.calls.length]).toEqual([hasLapsed ? 1 : 0, checks]);
  expect(request.hasLapsed).toBe(hasLapsed);
});
