import { guarded } from "../logging/raised.ts";
import type { Deadline, DeadlineListener } from "./deadlines.ts";
import type { SendingState, SendStop } from "./pulled-unsent.ts";
import type { Recipient, Unsent } from "./send-budget.ts";

/** A WebSocket that is counted. */
interface CountedSocket {
  /** The client network of its request. */
  readonly network: string | undefined;
  /** The bytes that its runtime holds for it. */
  readonly buffered: number;
  /** Its client is to be disconnected. */
  stoppedReading(why: SendStop): void;
}

/**
 * What waits of a WebSocket whose runtime tells how many bytes it holds. While a send waits for room, its client has `sendTimeoutMs`, and
 * takes `minSendRate` bytes a second.
 */
export class BufferedUnsent implements DeadlineListener, Recipient {
  readonly #socket: CountedSocket;
  readonly #state: SendingState;
  readonly #unsent: Unsent;
  #deadline: Deadline | undefined = undefined;
  /** The bytes that were sent while others waited. */
  #sent = 0;
  /** What its client had taken at the last look, and when that was more than before. */
  #taken = 0;
  #movedAt = Number.NEGATIVE_INFINITY;

  constructor(state: SendingState, socket: CountedSocket) {
    this.#socket = socket;
    this.#state = state;
    this.#unsent = state.unsent.of(this);
  }

  get network(): string | undefined {
    return this.#socket.network;
  }

  get taken(): number {
    return this.#sent - this.#socket.buffered;
  }

  /**
   * Counts what its runtime holds now.
   *
   * @param sent The bytes that were sent since the last call.
   */
  count(sent: number = 0): void {
    this.#sent += sent;
    const { buffered } = this.#socket;
    const took = this.#sent - buffered - this.#taken;
    this.#taken += took;
    if (took > 0) {
      this.#movedAt = this.#state.deadlines.now;
      this.#deadline?.arrived(took);
    }
    this.#unsent.wait(buffered);
  }

  /** A send waits until the client has taken more. */
  waits(): void {
    if (this.#deadline === undefined) this.#deadline = this.#state.deadlines.sending(this);
    else this.#deadline.resume();
  }

  /** No send waits: the time that is left is left for the next one. */
  rests(): void {
    this.#deadline?.pause();
  }

  ended(): void {
    this.#deadline?.clear();
    this.#unsent.end();
  }

  expire(): void {
    const { deadlines, unsent, sendTimeoutMs } = this.#state;
    this.count();
    if (this.#deadline?.goOn() === true) return;
    const isSlow = deadlines.now - this.#movedAt < sendTimeoutMs;
    if (isSlow) unsent.slow();
    this.#stop(isSlow ? "slow" : "unread");
  }

  cut(): void {
    this.#stop("past budget");
  }

  // In a microtask: it may be within a send of this socket or another one, and `Deadlines` may iterate.
  #stop(why: SendStop): void {
    queueMicrotask(guarded(undefined, () => this.#socket.stoppedReading(why)));
  }
}

/** Why a WebSocket is lost whose client does not read. */
export function unreadFault(why: SendStop, sendTimeoutMs: number): string {
  if (why === "slow") return "what was written was taken too slowly";
  if (why === "past budget") return "nothing written was taken while too much waited for all clients";
  return `nothing written was taken for ${sendTimeoutMs / 1000}s`;
}
