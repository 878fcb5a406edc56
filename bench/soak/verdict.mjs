/** What a soak shows: whether memory, handles or descriptors grow without end, and whether well-behaved clients were served. */
import { median } from "../harness/figures.mjs";

/**
 * @typedef {object} Minute
 * @property {number} minute
 * @property {number} heldMb What a full collection leaves.
 * @property {number} rssMb
 * @property {number} handles Sockets, timers and the like that Node counts.
 * @property {number} descriptors Open files of the process.
 * @property {number} requests
 * @property {number} failures Requests of well-behaved clients that were not answered as they should be.
 * @property {Readonly<Record<"p50" | "p90" | "p99" | "p999", number>>} times In milliseconds.
 */

/** How much of each may be more at the end than after the warm-up: a part of it, and an amount that is noise. */
const bounds = {
  heldMb: { what: "memory held, MB", part: 0.2, amount: 8 },
  rssMb: { what: "memory of the process, MB", part: 0.3, amount: 48 },
  handles: { what: "handles", part: 0.2, amount: 60 },
  descriptors: { what: "descriptors", part: 0.2, amount: 60 },
};

/** Minutes at the start that count for nothing, and how many minutes there must be to compare. */
export const minMinutes = 6;

/**
 * Compares the first third of the minutes after the warm-up with the last third. Growth without end passes any bound if the
 * soak is long enough; what is kept for a while stays within it.
 *
 * @param {readonly Minute[]} minutes
 * @returns {readonly string[]} One sentence for each fault.
 */
export function faultsOf(minutes) {
  const failed = minutes.filter(({ failures }) => failures > 0);
  const faults = failed.map(
    ({ minute, failures }) => `minute ${minute}: ${failures} requests of well-behaved clients failed`,
  );
  const idle = minutes.filter(({ requests }) => requests === 0);
  faults.push(...idle.map(({ minute }) => `minute ${minute}: no request was answered`));
  const warm = minutes.slice(Math.ceil(minutes.length / 5));
  if (minutes.length < minMinutes) return faults;
  const third = Math.max(1, Math.floor(warm.length / 3));
  for (const [key, { what, part, amount }] of Object.entries(bounds)) {
    const [before, after] = [warm.slice(0, third), warm.slice(-third)].map((some) =>
      median(some.map((one) => one[key])),
    );
    const isGrown = after > before * (1 + part) && after > before + amount;
    if (isGrown) faults.push(`${what}: ${before.toFixed(1)} after the warm-up, ${after.toFixed(1)} at the end`);
  }
  return faults;
}

/** The percentiles of some times. @param {readonly number[]} times @returns {Minute["times"]} */
export function timesOf(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999) };
}
