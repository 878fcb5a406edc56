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
