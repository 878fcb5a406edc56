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
  readonly timer: ReturnType<typeof setTimeout>;
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

  /** @throws PasswordsBusy where it would wait for too long. */
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
    return new Promise((resolve, reject) => {
      const late = (): void => {
        this.#waiting.delete(one);
        reject(new PasswordsBusy("it waited for too long"));
      };
      const one: Waiting = { begin: resolve, timer: setTimeout(late, this.#waitMs) };
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
    this.#waiting.delete(next);
    clearTimeout(next.timer);
    next.begin();
  }
}
