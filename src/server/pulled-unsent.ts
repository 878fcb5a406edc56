import { guarded } from "../logging/raised.ts";
import type { Deadline, DeadlineListener, Deadlines } from "./deadlines.ts";
import type { Recipient, SendBudget, SendCut, Unsent } from "./send-budget.ts";

/** The state of a listener that counts what waits for its clients. */
export interface SendingState {
  readonly deadlines: Deadlines;
  readonly unsent: SendBudget;
  readonly sendTimeoutMs: number;
}

/** Why a client is disconnected: it took nothing for `sendTimeoutMs`, it takes too little, or too much waits for all. */
export type SendStop = "unread" | SendCut;

/** The time that a client takes for a part is free up to here: short parts, as of events, are no sign of a slow client. */
const promptMs = 1000;

/** The stream that is counted. */
interface CountedStream {
  /** The client network of its request. */
  readonly network: string | undefined;
  /** Its client is to be disconnected. */
  stoppedReading(why: SendStop): void;
}

/**
 * What waits of a stream whose runtime asks for each part: it has handed over the part before. Its client has `sendTimeoutMs` for each,
 * and takes `minSendRate` bytes a second.
 */
export class PulledUnsent implements DeadlineListener, Recipient {
  /** The runtime does not tell what its client takes of a part. */
  readonly taken = undefined;
  readonly #stream: CountedStream;
  readonly #deadline: Deadline;
  readonly #unsent: Unsent;
  readonly #state: SendingState;
  /** The length of the part that its client takes, and since when. */
  #bytes = 0;
  #since = 0;
  /** Kept: to ask a runtime for an address takes up to 0.5 µs. Null where there is none. */
  #network: string | null | undefined = undefined;

  constructor(state: SendingState, stream: CountedStream) {
    const { deadlines, unsent } = state;
    this.#stream = stream;
    this.#state = state;
    this.#unsent = unsent.of(this);
    this.#deadline = deadlines.sending(this);
    this.#deadline.pause();
  }

  get network(): string | undefined {
    if (this.#network === undefined) this.#network = this.#stream.network ?? null;
    return this.#network ?? undefined;
  }

  /**
   * A part was handed to the runtime.
   *
   * @param waiting The bytes that wait with it, as the rest of a text does.
   */
  made(bytes: number, waiting: number = bytes): void {
    this.#bytes = bytes;
    this.#since = this.#state.deadlines.now;
    this.#deadline.resume();
    this.#unsent.wait(waiting);
  }

  /** The runtime asks for the next part. */
  making(): void {
    const tookMs = this.#bytes === 0 ? 0 : this.#state.deadlines.now - this.#since;
    this.#deadline.arrived(this.#bytes, tookMs < promptMs ? tookMs : 0);
    this.#deadline.pause();
    this.#bytes = 0;
    this.#unsent.wait(0);
  }

  ended(): void {
    this.#deadline.clear();
    this.#unsent.end();
  }

  expire(): void {
    const { deadlines, unsent, sendTimeoutMs } = this.#state;
    const isSlow = deadlines.now - this.#since < sendTimeoutMs;
    if (isSlow) unsent.slow();
    this.#stop(isSlow ? "slow" : "unread");
  }

  cut(): void {
    this.#stop("past budget");
  }

  // In a microtask: the end of a stream clears other deadlines, and `Deadlines` may iterate.
  #stop(why: SendStop): void {
    queueMicrotask(guarded(undefined, () => this.#stream.stoppedReading(why)));
  }
}
