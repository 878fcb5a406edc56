import { guarded } from "../../src/doors/logging.ts";

/** How many turns a request waits at most: about 50 ms where each accepts a connection and does no more. */
const maxTurns = 1000;

/**
 * Holds the requests of a turn of the event loop in which a connection was accepted until a turn accepts none.
 *
 * Since libuv 1.45 (Node 20) a turn accepts one connection. While each turn also serves a request that computes for 20 ms, new
 * connections wait in the kernel's queue, where no clock of the process sees them: the last of 250 a second waited 3 s for its 503. Turns
 * that serve nothing take the whole queue in milliseconds, and the app then knows how many requests there are.
 */
export class Arrivals {
  #hasAccepted = false;
  #turns = 0;
  #waiting: Promise<void> | undefined = undefined;
  #pass = (): void => {};

  accepted(): void {
    this.#hasAccepted = true;
  }

  /** Resolves once a turn accepted no connection. Undefined where the last one did not. */
  wait(): Promise<void> | undefined {
    if (this.#waiting !== undefined || !this.#hasAccepted) return this.#waiting;
    this.#waiting = new Promise((resolve) => {
      this.#pass = resolve;
    });
    setImmediate(this.#turn);
    return this.#waiting;
  }

  readonly #turn = guarded(undefined, (): void => {
    if (this.#hasAccepted && this.#turns < maxTurns) {
      this.#hasAccepted = false;
      this.#turns++;
      setImmediate(this.#turn);
      return;
    }
    this.#hasAccepted = false;
    this.#turns = 0;
    this.#waiting = undefined;
    this.#pass();
  });
}
