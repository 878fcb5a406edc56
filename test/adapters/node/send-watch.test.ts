/** The time limit of a client that takes what was written to its connection, or does not: the clock is fake. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SendWatch } from "../../../adapters/node/send-watch.ts";
import { Deadlines } from "../../../src/server/deadlines.ts";
import { SendBudget } from "../../../src/server/send-budget.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const sendTimeoutMs = 10_000;
interface Client {
  bytesTaken: number;
  writableLength: number;
  destroyed: boolean;
}

/** Watches a client for two minutes. `act` is called each second, with the number of the second. */
async function watched(act: (client: Client, second: number, watch: SendWatch) => void): Promise<readonly unknown[]> {
  const deadlines = new Deadlines({ bodyTimeoutMs: 1000, minBodyRate: 1, sendTimeoutMs, minSendRate: 100 });
  deadlines.start();
  let slow = 0;
  const unsent = new SendBudget({ sendBudget: 1000, sendShare: 1000 }, deadlines, () => slow++);
  const client: Client = { bytesTaken: 0, writableLength: 100_000, destroyed: false };
  const cuts: boolean[] = [];
  const watch = new SendWatch(client as never, { deadlines, unsent, sendTimeoutMs }, (isSlow) => cuts.push(isSlow));
  watch.start();
  for (let second = 1; second <= 120; second++) {
    act(client, second, watch);
    await vi.advanceTimersByTimeAsync(1000);
  }
  deadlines.stop();
  return [cuts, slow];
}

const takes = (client: Client, bytes: number): void => {
  client.bytesTaken += bytes;
  client.writableLength -= bytes;
};

it.each<readonly [how: string, act: Parameters<typeof watched>[0], cuts: readonly boolean[], slow: number]>([
  ["takes nothing", () => {}, [false], 0],
  ["takes bytes at the rate", (client) => takes(client, 100), [], 0],
  ["takes bytes below the rate", (client) => takes(client, 50), [true], 1],
  ["takes everything at once", (client, second) => void (second === 1 && takes(client, 100_000)), [], 0],
  ["leaves", (client, second) => void (second === 5 && (client.destroyed = true)), [], 0],
  ["is watched no more", (_client, second, watch) => void (second === 5 && watch.stop()), [], 0],
  ["is watched no more, twice", (_client, second, watch) => void (second >= 5 && watch.stop()), [], 0],
  ["rests", (_client, second, watch) => void (second === 5 && watch.rest()), [], 0],
  [
    "rests and continues",
    (_client, second, watch) => (second === 5 ? watch.rest() : second === 60 ? watch.start() : undefined),
    [false],
    0,
  ],
])("a client that %s", async (_how, act, cuts, slow) => {
  expect(await watched(act)).toEqual([cuts, slow]);
});
