import { median } from "./figures.mjs";

// Long enough to include garbage collection, short enough for many laps.
const callsInLap = 2048;

/**
 * Nanoseconds per call: the median of many laps, so that an interrupted lap does not count.
 *
 * @template Given
 * @param {object} what
 * @param {(count: number) => Given[]} what.prepare Makes the arguments of a batch, outside the clock.
 * @param {(given: Given) => unknown} what.call A returned promise is awaited.
 * @param {number} what.batch Calls between two turns of the event loop.
 * @param {number} what.ms How long to measure, after half as long to warm up.
 */
export async function nsPerCall({ prepare, call, batch, ms }) {
  await laps(prepare, call, batch, ms / 2);
  return median(await laps(prepare, call, batch, ms));
}

async function laps(prepare, call, batch, ms) {
  const figures = [];
  for (const until = performance.now() + ms; figures.length < 3 || performance.now() < until;) {
    let spent = 0;
    let calls = 0;
    for (; calls < callsInLap; calls += batch) {
      const given = prepare(batch);
      const startedAt = performance.now();
      for (let i = 0; i < batch; i++) {
        const result = call(given[i]);
        if (result instanceof Promise) await result;
      }
      spent += performance.now() - startedAt;
      // Without a turn of the event loop no finalizer runs, and undici's bodies fill the memory.
      await new Promise(setImmediate);
    }
    figures.push((spent * 1e6) / calls);
  }
  return figures;
}
