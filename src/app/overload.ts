import { needsOptions, shown } from "../arguments.ts";
import { isWorkers } from "../runtime.ts";
import { Bounds } from "./bounds.ts";

/** The bounds of `Overload.make`, of which at least one is set. */
export interface OverloadOptions {
  /**
   * The most requests in flight: as many as come unless set. One more is refused with 503 `busy` before anything of it is read. A
   * request is in flight until its answer is made: neither an open event stream nor a WebSocket is, nor a request that waits for its
   * body, or for the next part of it.
   */
  readonly maxInFlight?: number;
  /**
   * How late the event loop may be, in milliseconds, 10 or more: as late as it is unless set. While it is later, requests are refused
   * as by `maxInFlight`.
   */
  readonly maxEventLoopDelayMs?: number;
}

/** Bounds, made by `Overload.make`: the app's option `overload`. */
export interface Overload extends OverloadOptions {
  /** Internal to the framework: begins to count for one app. */
  readonly bounds: (problems: string[]) => Bounds;
}

const leastDelayMs = 10;
const maxMs = 2 ** 31 - 1;

/**
 * Bounds past which an app refuses requests, so that those it serves end in time. Routes with `Meta.overload` are exempt, as those of
 * `Health` and `Metrics`. Not on Workers.
 *
 * @throws Error without a bound, and for a bound out of its range.
 * @example
 * ```ts
 * await serve(routes, { port: 8080, overload: Overload.make({ maxInFlight: 200 }) });
 * ```
 */
export function make(options: OverloadOptions): Overload {
  needsOptions("Overload.make", options, "maxInFlight maxEventLoopDelayMs");
  const { maxInFlight, maxEventLoopDelayMs } = options;
  if (maxInFlight === undefined && maxEventLoopDelayMs === undefined)
    throw new Error("Overload.make: set maxInFlight, maxEventLoopDelayMs or both");
  if (maxInFlight !== undefined && !isBetween(1, maxInFlight, Number.MAX_SAFE_INTEGER))
    throw new Error(`Overload.make: maxInFlight is a whole number, 1 or more, and not ${shown(maxInFlight)}`);
  if (maxEventLoopDelayMs !== undefined && !isBetween(leastDelayMs, maxEventLoopDelayMs, maxMs)) {
    const what = `a whole number of milliseconds from ${leastDelayMs} to ${maxMs}`;
    throw new Error(`Overload.make: maxEventLoopDelayMs is ${what}, and not ${shown(maxEventLoopDelayMs)}`);
  }
  const given = {
    ...(maxInFlight !== undefined && { maxInFlight }),
    ...(maxEventLoopDelayMs !== undefined && { maxEventLoopDelayMs }),
  };
  const bounds = (problems: string[]): Bounds => {
    if (isWorkers()) problems.push(notForWorkers);
    return new Bounds(given);
  };
  return { ...given, bounds };
}

const notForWorkers =
  "overload is not for Workers, whose platform runs more isolates under load, and whose clock stands still while code runs";

function isBetween(min: number, value: unknown, max: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}
