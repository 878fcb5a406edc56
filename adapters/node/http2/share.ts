import { AsyncLocalStorage } from "node:async_hooks";

/** Runs code without the context of an earlier request, whose end makes room. */
const inRoot = AsyncLocalStorage.snapshot();

/**
 * What waits on the streams of one connection. Past its share no further request of the connection is begun, and no stream of it is read
 * on: a client that opens no window would have 100 responses made.
 */
export class ConnectionShare {
  readonly #most: number;
  #bytes = 0;
  /** What begins once there is room, in the order of arrival. */
  readonly #held = new Set<() => void>();
  #isDue = false;

  constructor(most: number) {
    this.#most = most;
  }

  /** The number of requests and streams that wait. */
  get held(): number {
    return this.#held.size;
  }

  /** Whether more waits than may. */
  get isOver(): boolean {
    return this.#bytes > this.#most;
  }

  /** This number of bytes more waits, or less where it is negative. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (bytes >= 0 || this.#isDue || this.isOver || this.#held.size === 0) return;
    this.#isDue = true;
    // In a turn of its own: it may be within a callback of nghttp2, and what begins may take long.
    setImmediate(() => {
      this.#isDue = false;
      inRoot(() => this.#release());
    });
  }

  /** Calls `act` once there is room, which must not throw. Returns what gives that up. */
  hold(act: () => void): () => void {
    this.#held.add(act);
    return () => this.#held.delete(act);
  }

  #release(): void {
    for (const act of this.#held) {
      if (this.isOver) return;
      this.#held.delete(act);
      act();
    }
  }
}
