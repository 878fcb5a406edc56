/** A post of spans to a collector, however it ends: one that fails is one warning, and a flush waits for it no longer. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Collector, postMs } from "../../src/telemetry/exporter.ts";
import type { LoadBatches } from "../../src/telemetry/exporter.ts";
import { messages } from "../support/logs.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Done = (result: { readonly code: number; readonly error?: Error }) => void;
const refused = Object.assign(new Error("secret"), { code: 503 });

it.each<readonly [how: string, post: (done: Done) => void, waitMs: number, warnings: readonly string[]]>([
  ["arrives", (done) => done({ code: 0 }), 0, []],
  ["is refused", (done) => done({ code: 1, error: refused }), 0, ["the collector refused 1 span: 503"]],
  [
    "raises",
    () => {
      throw new RangeError("secret");
    },
    0,
    ["could not send 1 span to the collector: RangeError"],
  ],
  ["does not end", () => {}, postMs, ["could not send 1 span to the collector: timeout"]],
  [
    "ends after its time",
    (done) => void setTimeout(done, 2 * postMs, { code: 0 }),
    postMs,
    ["could not send 1 span to the collector: timeout"],
  ],
])("a post that %s", async (how, post, waitMs, warnings) => {
  const load: LoadBatches = async (counted) => {
    const exporter = counted({ export: (_spans, done) => post(done), shutdown: async () => {} });
    return {
      onStart: () => {},
      onEnd: (span) => exporter.export([span] as never, () => {}),
      forceFlush: async () => {},
      shutdown: () => exporter.shutdown(),
    };
  };
  const collector = new Collector(load);
  collector.onEnd({} as never);
  let isFlushed = false;
  const flushing = collector.forceFlush().then(() => (isFlushed = true));
  if (waitMs > 0) {
    await vi.advanceTimersByTimeAsync(waitMs - 1);
    expect(isFlushed).toBe(false);
  }
  await vi.advanceTimersByTimeAsync(waitMs > 0 ? 1 : 0);
  // One is the collector's own, which answers late.
  expect([isFlushed, vi.getTimerCount()]).toEqual([true, how === "ends after its time" ? 1 : 0]);
  await flushing;
  expect(messages("warn")).toEqual(warnings);
  await vi.advanceTimersByTimeAsync(2 * postMs);
  await collector.shutdown();
  expect([messages("warn"), vi.getTimerCount()]).toEqual([warnings, 0]);
});
