import type { Duplex } from "node:stream";
import type { Deadline, DeadlineListener, Deadlines } from "../../src/server/deadlines.ts";
import { takenBytes } from "./private.ts";

/**
 * Limits how long a client takes nothing of what was written, whatever it sends meanwhile. Node's socket timeout starts again with each
 * byte that a client sends, and with each write.
 */
export class SendWatch implements DeadlineListener {
  readonly #socket: Duplex;
  readonly #deadlines: Deadlines;
  readonly #ms: number;
  readonly #cut: () => void;
  #taken = 0;
  #deadline: Deadline | undefined = undefined;

  constructor(socket: Duplex, deadlines: Deadlines, ms: number, cut: () => void) {
    this.#socket = socket;
    this.#deadlines = deadlines;
    this.#ms = ms;
    this.#cut = cut;
  }

  /** Does nothing where it runs already, or the runtime does not tell what was taken. */
  start(): void {
    if (this.#deadline !== undefined) return;
    const taken = takenBytes(this.#socket);
    if (taken === undefined) return;
    this.#taken = taken;
    this.#deadline = this.#deadlines.time(this.#ms, this);
  }

  stop(): void {
    this.#deadline?.clear();
    this.#deadline = undefined;
  }

  expire(): void {
    this.#deadline = undefined;
    const taken = takenBytes(this.#socket);
    if (this.#socket.destroyed || taken === undefined) return;
    if (this.#socket.writableLength > 0 && taken <= this.#taken) this.#cut();
    else this.start();
  }
}
