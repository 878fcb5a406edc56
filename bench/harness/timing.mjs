import { median } from "./figures.mjs";

/**
 * Nanoseconds a call takes: the median over many batches, so that a batch that lost its processor does not count.
 *
 * @template Given
 * @param {object} what
 * @param {(count: number) => Given[]} what.prepare Makes what a batch is called with, outside the clock.
 * @param {(given: Given) => unknown} what.call A promise it answers is awaited.
 * @param {number} what.batch Calls in a batch.
 * @param {number} what.ms How long to measure, after half as long to warm up.
 */
export async function nsPerCall({ prepare, call, batch, ms }) {
  await batches(prepare, call, batch, ms / 2);
  return median(await batches(prepare, call, batch, ms));
}

async function batches(prepare, call, batch, ms) {
  const figures = [];
  for (const until = performance.now() + ms; performance.now() < until;) {
    const given = prepare(batch);
    const startedAt = performance.now();
    for (let i = 0; i < batch; i++) {
      const result = call(given[i]);
      if (result instanceof Promise) await result;
    }
    figures.push(((performance.now() - startedAt) * 1e6) / batch);
    // Without a turn of the event loop no finalizer runs, and the bodies undici makes fill the memory.
    await new Promise(setImmediate);
  }
  return figures;
}
