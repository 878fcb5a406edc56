/** The timers of an adapter, which imports them from `node:timers`: a test ends one without waiting. */
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import { onTestFinished, vi } from "vitest";

export interface AdapterTimers {
  /** Ends every timer of that many milliseconds that is not cleared. Returns how many there were. */
  end(ms: number): number;
}

/** Records the timers that are set until the test is over. */
export function adapterTimers(): AdapterTimers {
  const set = vi.spyOn(timers, "setTimeout");
  const clear = vi.spyOn(timers, "clearTimeout");
  syncBuiltinESMExports();
  onTestFinished(() => {
    set.mockRestore();
    clear.mockRestore();
    syncBuiltinESMExports();
  });
  return {
    end(ms) {
      const cleared = new Set<unknown>(clear.mock.calls.map(([timer]) => timer));
      const left = set.mock.calls.flatMap(([act, given], i) => {
        const timer = set.mock.results[i]?.value;
        return given === ms && !cleared.has(timer) ? [{ act, timer }] : [];
      });
      for (const { act, timer } of left) {
        timers.clearTimeout(timer);
        act();
      }
      return left.length;
    },
  };
}
