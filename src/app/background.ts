import { inTime, soon } from "../async.ts";
import { isPending, whenResolved } from "../deferred.ts";
import type { MaybePromise } from "../deferred.ts";
import { attempt } from "../logging/raised.ts";
import { figures } from "../telemetry/measure.ts";

/** The work of an app that continues after its answers. A server that stops waits for it. */
export class Background {
  /** The most tasks of `after` that wait or run. */
  readonly #maxTasks: number;
  #tasks = 0;
  #running = 0;
  #queue: (() => MaybePromise<void>)[] = [];
  readonly #whenIdle: (() => void)[] = [];

  constructor(maxTasks: number) {
    this.#maxTasks = maxTasks;
  }

  /** Takes a place for a task; false where all are taken. The request that took it calls `free` once. */
  take(): boolean {
    if (this.#tasks >= this.#maxTasks) return false;
    this.#tasks++;
    figures.tasks++;
    return true;
  }

  free(): void {
    this.#tasks--;
    figures.tasks--;
  }

  /** Runs work once the answer that is being made was written. The answers of one turn share one callback. */
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
