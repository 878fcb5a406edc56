import type { Duplex } from "node:stream";
import type { Deadline, DeadlineListener, Deadlines } from "../../src/server/deadlines.ts";
import { takenBytes } from "./private.ts";

/**
 * Limits how long a client takes nothing of what was written, or too little, whatever it sends meanwhile. Node's socket timeout starts
 * again with each byte that a client sends, and with each write.
 */
export class SendWatch implements DeadlineListener {
  readonly #socket: Duplex;
  readonly #deadlines: Deadlines;
  readonly #cut: () => void;
  #taken = 0;
  #deadline: Deadline | undefined = undefined;

  constructor(socket: Duplex, deadlines: Deadlines, cut: () => void) {
    this.#socket = socket;
    this.#deadlines = deadlines;
    this.#cut = cut;
  }

  /** Continues where it rests. Does nothing where it runs already, or the runtime does not tell what was taken. */
  start(): void {
    if (this.#deadline !== undefined) return this.#deadline.resume();
    const taken = takenBytes(this.#socket);
    if (taken === undefined) return;
    this.#taken = taken;
    this.#deadline = this.#deadlines.sending(this);
  }

  /** The client has taken everything: the time that is left is left for what comes next. */
  rest(): void {
    this.#credit();
    this.#deadline?.pause();
  }

  stop(): void {
    this.#deadline?.clear();
    this.#deadline = undefined;
  }

  expire(): void {
    const deadline = this.#deadline;
    if (deadline === undefined || !this.#credit()) return this.stop();
    if (this.#socket.writableLength === 0) return deadline.restart();
    if (deadline.goOn()) return;
    this.#deadline = undefined;
    this.#cut();
  }

  /** Extends the time by the bytes that were taken since the last look. False where the connection is closed. */
  #credit(): boolean {
    const taken = takenBytes(this.#socket);
    if (this.#socket.destroyed || taken === undefined) return false;
    this.#deadline?.arrived(taken - this.#taken);
    this.#taken = taken;
    return true;
  }
}
