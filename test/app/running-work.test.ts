/** Work that no request waits for: a server that stops waits until none of it runs, however it ended. */
import { expect, it } from "vitest";
import { RunningWork } from "../../src/app/running-work.ts";
import type { MaybePromise } from "../../src/deferred.ts";
import { messages } from "../support/logs.ts";

const oh = (): never => {
  throw new RangeError("oh");
};

it.each<readonly [how: string, work: () => MaybePromise<void>, errors: number]>([
  ["returns nothing", () => {}, 0],
  ["resolves", async () => {}, 0],
  ["resolves later", () => new Promise((resolve) => void setImmediate(resolve)), 0],
  ["throws", oh, 1],
  ["rejects", async () => oh(), 0],
])("work that %s runs no longer", async (_how, work, errors) => {
  const running = new RunningWork(10, "tasks");
  running.soon(work);
  running.soon(work);
  expect(await running.settled(20_000)).toBe(0);
  expect(messages("error")).toHaveLength(2 * errors);
});

it("is waited for while a request holds what it has not released", async () => {
  const running = new RunningWork(10, "tasks");
  const seen: string[] = [];
  running.hold();
  running.hold();
  const settled = running.settled(20_000).then(() => seen.push("settled"));
  running.letGo();
  await new Promise((resolve) => void setImmediate(resolve));
  expect(seen).toEqual([]);
  running.soon(() => void seen.push("released"));
  running.letGo();
  await settled;
  expect(seen).toEqual(["released", "settled"]);
});

it("is waited for no longer than the given time", async () => {
  const running = new RunningWork(10, "tasks");
  running.hold();
  expect(await running.settled(1)).toBe(0);
});
