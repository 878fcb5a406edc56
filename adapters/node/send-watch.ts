import type { Duplex } from "node:stream";
import type { Deadline, DeadlineListener, SendingState } from "../../src/doors/server.ts";
import { takenBytes } from "./private.ts";

/** A connection, or a channel that tells what its client has taken. */
type Watched = Duplex & { readonly bytesTaken?: number };

/**
 * Limits how long a client takes nothing of what was written, or too little, whatever it sends meanwhile. Node's socket timeout starts
 * again with each byte that a client sends, and with each write.
 */
export class SendWatch implements DeadlineListener {
  readonly #socket: Watched;
  readonly #server: SendingState;
  readonly #cut: (isSlow: boolean) => void;
  #taken = 0;
  /** When the client was last seen to have taken something. */
  #movedAt = 0;
  #deadline: Deadline | undefined = undefined;

  /** @param cut Gets whether the client has taken something within `sendTimeoutMs`, and too little. */
  constructor(socket: Watched, server: SendingState, cut: (isSlow: boolean) => void) {
    this.#socket = socket;
    this.#server = server;
    this.#cut = cut;
  }

  /** Continues where it rests. Does nothing where it runs already, or the runtime does not tell what was taken. */
  start(): void {
    if (this.#deadline !== undefined) return this.#deadline.resume();
    const taken = this.#takenBytes;
    if (taken === undefined) return;
    this.#taken = taken;
    this.#movedAt = Number.NEGATIVE_INFINITY;
    this.#deadline = this.#server.deadlines.sending(this);
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
    const { deadlines, unsent, sendTimeoutMs } = this.#server;
    const isSlow = deadlines.now - this.#movedAt < sendTimeoutMs;
    if (isSlow) unsent.slow();
    this.#cut(isSlow);
  }

  get #takenBytes(): number | undefined {
    return this.#socket.bytesTaken ?? takenBytes(this.#socket);
  }

  /** Extends the time by the bytes that were taken since the last look. False where the connection is closed. */
  #credit(): boolean {
    const taken = this.#takenBytes;
    if (this.#socket.destroyed || taken === undefined) return false;
    this.#deadline?.arrived(taken - this.#taken);
    if (taken !== this.#taken) this.#movedAt = this.#server.deadlines.now;
    this.#taken = taken;
    return true;
  }
}
