/** A signal that aborts with the first of those it follows. */
export interface Following {
  readonly signal: AbortSignal;
  /** Aborts it with a reason, unless it is over. */
  readonly abort: (reason: unknown) => void;
  /** It follows no longer: for a signal that lives longer than what is ended by it. */
  readonly release: () => void;
}

/**
 * As `AbortSignal.any`, but what is followed holds it, until it is released. The platforms follow weakly: on Node 20 a
 * signal of `any` that was collected as garbage calls none of its listeners.
 */
export function following(signals: readonly (AbortSignal | undefined)[]): Following {
  const controller = new AbortController();
  const abort = (reason: unknown): void => {
    release();
    controller.abort(reason);
  };
  const listening = signals.map((signal) => {
    const follow = (): void => abort(signal?.reason);
    signal?.addEventListener("abort", follow, { once: true });
    return () => signal?.removeEventListener("abort", follow);
  });
  const release = (): void => {
    for (const end of listening.splice(0)) end();
  };
  const first = signals.find((signal) => signal?.aborted);
  if (first !== undefined) abort(first.reason);
  return { signal: controller.signal, abort, release };
}
