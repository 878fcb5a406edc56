import { following, onAbort } from "../following.ts";
import type { Following } from "../following.ts";
import { currentDeadline } from "../logging/context.ts";
import { inBackground } from "../logging/raised.ts";
import { abandonedBy } from "./transaction.ts";

type BatchRows<R> = AsyncGenerator<readonly R[], "complete" | void>;

type BatchesState<R> =
  | { readonly at: "new" }
  | { readonly at: "open"; readonly rows: BatchRows<R>; readonly ending: Following; readonly unlisten: () => void }
  | { readonly at: "over" };

/**
 * Batches of rows on a connection of their own. A generator alone holds it until its caller asks for the next batch: here the signal
 * closes it while the caller does something else, too.
 */
export class Batches<R> implements AsyncIterableIterator<readonly R[]> {
  readonly #read: (signal: AbortSignal) => BatchRows<R>;
  readonly #signal: AbortSignal | undefined;
  #state: BatchesState<R> = { at: "new" };

  /** @param read Makes what borrows a connection, and returns "complete" once all rows are read. */
  constructor(read: (signal: AbortSignal) => BatchRows<R>, signal: AbortSignal | undefined) {
    this.#read = read;
    this.#signal = signal;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<readonly R[], undefined>> {
    if (this.#state.at === "over") return done;
    const { rows, ending } = this.#state.at === "new" ? this.#open() : this.#state;
    let step: IteratorResult<readonly R[], "complete" | void>;
    try {
      step = await rows.next();
    } catch (thrown) {
      this.#end();
      throw thrown;
    }
    if (step.done !== true) return step;
    // Of several calls at a time, the first one rejects.
    const isReported = (this.#state as BatchesState<R>).at === "over";
    this.#end();
    if (step.value !== "complete" && ending.signal.aborted && !isReported) throw abandonedBy(ending.signal);
    return done;
  }

  /** Closes the cursor and returns the connection: a loop calls it where it ends early. */
  async return(): Promise<IteratorResult<readonly R[], undefined>> {
    const state = this.#state;
    this.#end();
    if (state.at === "open") await state.rows.return(undefined);
    return done;
  }

  async throw(thrown: unknown): Promise<IteratorResult<readonly R[], undefined>> {
    await this.return();
    throw thrown;
  }

  #open(): BatchesState<R> & { readonly at: "open" } {
    const ending = following([this.#signal, currentDeadline()?.signal]);
    const rows = this.#read(ending.signal);
    const unlisten = onAbort(ending.signal, () => inBackground(rows.return(undefined)));
    const state = { at: "open", rows, ending, unlisten } as const;
    this.#state = state;
    return state;
  }

  #end(): void {
    if (this.#state.at === "open") {
      this.#state.unlisten();
      this.#state.ending.release();
    }
    this.#state = { at: "over" };
  }
}

const done = { done: true, value: undefined } as const;
