/** Runs for each test file: ends what its tests started, and sends what they log to `logs.ts`, not to standard error. */
import { afterAll, afterEach, beforeEach, vi } from "vitest";
import { endFile, endTest } from "./ends.ts";

// Imported late: some tests change what the source reads before it is loaded.
const logs = () => import("./logs.ts");

const clock: { readonly [name: string]: unknown } = { setTimeout, setInterval, setImmediate, now: performance.now };

beforeEach(async () => (await logs()).logWith({}));
afterEach(async () => {
  await endTest();
  (await logs()).endLogging();
});
afterAll(async () => {
  await endFile();
  // The next file of this process would wait for a clock that stands.
  vi.restoreAllMocks();
  const now: typeof clock = { setTimeout, setInterval, setImmediate, now: performance.now };
  const left = Object.keys(clock).filter((name) => now[name] !== clock[name]);
  if (left.length > 0) throw new Error(`this file leaves a clock of its own behind: ${left.join(", ")}`);
});
