/** What follows a signal: all of them by one listener, as on Node 20 an eleventh one writes a warning. */
import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { following, onAbort } from "../src/following.ts";

it("many follow one signal by one listener, and those that were released do not abort", () => {
  const one = new AbortController();
  const all = Array.from({ length: 20 }, () => following([one.signal, undefined]));
  expect(getEventListeners(one.signal, "abort")).toHaveLength(1);
  for (const { release } of all.slice(0, 10)) release();
  one.abort("over");
  expect(all.map(({ signal }) => signal.reason as unknown)).toEqual([
    ...Array.from({ length: 10 }, () => undefined),
    ...Array.from({ length: 10 }, () => "over"),
  ]);
  expect(getEventListeners(one.signal, "abort")).toHaveLength(0);
});

it("who is left out by another one at the abort is not called", () => {
  const one = new AbortController();
  const called: string[] = [];
  onAbort(one.signal, () => {
    called.push("first");
    leave();
  });
  const leave = onAbort(one.signal, () => called.push("second"));
  one.abort();
  expect(called).toEqual(["first"]);
});

it("what listens again after all have left is called", () => {
  const one = new AbortController();
  const called: string[] = [];
  onAbort(one.signal, () => called.push("first"))();
  onAbort(one.signal, () => called.push("second"));
  one.abort();
  expect(called).toEqual(["second"]);
});
