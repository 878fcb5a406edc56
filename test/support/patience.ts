/**
 * How long a test waits for what should come: 30 seconds on a quiet machine. On a busy one it waits longer in proportion, so that
 * no verdict turns on how fast the machine is. `vitest.config.ts` sets the factor for all processes of a run.
 */
import { availableParallelism, loadavg } from "node:os";

const variable = "USHER_PATIENCE";

/** A wait ends after four minutes, however busy the machine was. */
const mostPatience = 8;

/** A run of all tests keeps each core busy with several processes. */
export function setPatience(isWholeRun: boolean): void {
  const busy = Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
  process.env[variable] ??= String(Math.min(mostPatience, busy * (isWholeRun ? 2 : 1)));
}

/** In milliseconds. */
export function waitMs(): number {
  // `execFile` takes whole numbers alone.
  return Math.ceil(30_000 * Number(process.env[variable] ?? 1));
}

/** How long a test may take, in milliseconds: longer than a wait inside it, whose error says what did not come. */
export function testMs(): number {
  return Math.ceil(waitMs() * 1.5);
}
