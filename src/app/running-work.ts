import { inTime, soon } from "../async.ts";
import { isPending, whenResolved } from "../deferred.ts";
import type { MaybePromise } from "../deferred.ts";
import { attempt } from "../logging/raised.ts";
import { figures } from "../telemetry/measure.ts";

/** Work that no request waits for. A server that stops does. */
export class RunningWork {
  /** The most that may wait or run. */
  readonly #most: number;
  readonly #figure: "tasks" | "works";
  #taken = 0;
  #running = 0;
  #queue: (() => MaybePromise<void>)[] = [];
  readonly #whenIdle: (() => void)[] = [];

  /** @param figure The metric that counts it. */
  constructor(most: number, figure: "tasks" | "works") {
    this.#most = most;
    this.#figure = figure;
  }

  /** Takes a place; false where all are taken. What took it calls `free` once. */
  take(): boolean {
    if (this.#taken >= this.#most) return false;
    this.#taken++;
    figures[this.#figure]++;
    return true;
  }

  free(): void {
    this.#taken--;
    figures[this.#figure]--;
  }

  /** Runs work once the answer that is being made was written. What is given in one turn shares one callback. */
  soon(work: () => MaybePromise<void>): void {
    this.#running++;
    if (this.#queue.push(work) === 1) soon(this.#run);
  }

  /** Counts work that runs already, which never rejects. */
  track(work: Promise<void>): Promise<void> {
    this.#running++;
    return work.finally(this.#ended);
  }

  /** Waits until no work runs, at most `ms`. Resolves with the number of works that have not ended. */
  async settled(ms: number): Promise<number> {
    if (this.#running > 0) await inTime(new Promise<void>((resolve) => this.#whenIdle.push(resolve)), ms);
    return this.#running;
  }

  readonly #run = (): void => {
    const works = this.#queue;
    this.#queue = [];
    for (const work of works) attempt(undefined, () => this.#start(work));
  };

  #start(work: () => MaybePromise<void>): void {
    let pending: MaybePromise<void> = undefined;
    try {
      pending = work();
    } finally {
      if (isPending(pending)) whenResolved(pending, this.#ended, this.#ended);
      else this.#ended();
    }
  }

  readonly #ended = (): void => {
    if (--this.#running > 0) return;
    for (const act of this.#whenIdle.splice(0)) act();
  };
}
