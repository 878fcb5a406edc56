import { onAbort } from "../following.ts";
import { currentDeadline } from "../logging/context.ts";
import { RefusingError, busy, refuse } from "../refusals.ts";
import type { Refusal } from "../refusals.ts";

/** Too many hashes are waited for, or one for too long: 503 `busy`. */
class PasswordsBusy extends RefusingError {
  override readonly name: string = "PasswordsBusy";
  readonly refusal: Refusal = refuse(busy, undefined, { detail: "too many passwords are hashed at once" });
}

/** One that waits for its turn. */
interface Waiting {
  readonly begin: () => void;
  /** Waits no more. */
  readonly leave: () => void;
}

/** Lets so much work run at once: each hash takes a thread and its memory. */
export class Turns {
  readonly #atOnce: number;
  readonly #maxWaiting: number;
  readonly #waitMs: number;
  #running = 0;
  /** In the order of their arrival. */
  readonly #waiting = new Set<Waiting>();

  constructor(atOnce: number, maxWaiting: number, waitMs: number) {
    this.#atOnce = atOnce;
    this.#maxWaiting = maxWaiting;
    this.#waitMs = waitMs;
  }

  /** @throws PasswordsBusy where it would wait for too long. At the deadline of its request it throws that of the deadline. */
  async run<A>(work: () => Promise<A>): Promise<A> {
    if (this.#running < this.#atOnce) this.#running++;
    else await this.#turn();
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turn(): Promise<void> {
    if (this.#waiting.size >= this.#maxWaiting) return Promise.reject(new PasswordsBusy("too many wait"));
    const signal = currentDeadline()?.signal;
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const late = (): void => {
        one.leave();
        reject(new PasswordsBusy("it waited for too long"));
      };
      // Its request is answered already.
      const passed = (): void => {
        one.leave();
        reject(signal?.reason as Error);
      };
      const timer = setTimeout(late, this.#waitMs);
      const unlisten = signal && onAbort(signal, passed);
      const one: Waiting = {
        begin: resolve,
        leave: () => {
          this.#waiting.delete(one);
          clearTimeout(timer);
          unlisten?.();
        },
      };
      this.#waiting.add(one);
    });
  }

  /** Hands its turn to the one that waits longest. */
  #next(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running--;
      return;
    }
    next.leave();
    next.begin();
  }
}
