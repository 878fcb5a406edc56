const firstMs = 1000;
const longestMs = 30_000;
// No timer takes a longer time: it would end at once.
const mostOfTimerMs = 2 ** 31 - 1;

/**
 * How long to wait before a stream is asked for again: what the server asked for, or a second; after each failure twice as
 * long, up to 30 seconds, and not all clients of a server at once.
 */
export function waitMs(retryMs: number | undefined, failures: number): number {
  const asked = Math.min(retryMs ?? firstMs, mostOfTimerMs);
  if (failures === 0) return asked;
  const longer = Math.min((asked || firstMs) * 2 ** failures, longestMs);
  return Math.max(asked, longer * (1 - Math.random() / 2));
}

/** Waits, unless the signal aborts before. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
