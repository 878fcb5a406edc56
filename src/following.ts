/** What one signal calls when it aborts, by one listener: past ten of them Node 20 warns of a leak, on stderr. */
class AbortActs {
  readonly #signal: AbortSignal;
  readonly #acts = new Set<() => void>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(act: () => void): void {
    if (this.#acts.size === 0) this.#signal.addEventListener("abort", this.#call);
    this.#acts.add(act);
  }

  delete(act: () => void): void {
    if (this.#acts.delete(act) && this.#acts.size === 0) this.#signal.removeEventListener("abort", this.#call);
  }

  readonly #call = (): void => {
    for (const act of this.#acts) act();
  };
}

const actsOf = /* @__PURE__ */ new WeakMap<AbortSignal, AbortActs>();

/** Calls `act` when the signal aborts, until the returned function is called. Many may listen to one signal. */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  const acts = actsOf.get(signal) ?? new AbortActs(signal);
  actsOf.set(signal, acts);
  acts.add(act);
  return () => acts.delete(act);
}

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
  const listening = signals.flatMap((signal) => (signal ? [onAbort(signal, () => abort(signal.reason))] : []));
  const release = (): void => {
    for (const end of listening.splice(0)) end();
  };
  const first = signals.find((signal) => signal?.aborted);
  if (first !== undefined) abort(first.reason);
  return { signal: controller.signal, abort, release };
}
