import { AsyncLocalStorage } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { attempt, guarded } from "../../src/doors/logging.ts";
import type { Unsent } from "../../src/doors/server.ts";
import { writings } from "./connection-state.ts";
import type { WriteState } from "./connection-state.ts";

/**
 * What a request takes that waits for the response before it: its objects and its head. With one header it is 2.1 kB of the heap and
 * 3 kB of the process (Node 20 to 26), and a packet of 64 KiB has 2,000 of them.
 */
const heldBytes = 3072;

/** What may wait for the client while the next response is made: to make it later costs a short one a quarter more. */
export const maxAheadBytes = 16_384;

/** Runs code without the context of an earlier request, in which a connection finds that its response has ended. */
const inRoot = AsyncLocalStorage.snapshot();

const open: WriteState = { at: "open" };
const cut: WriteState = { at: "cut" };

/**
 * What is written on a connection. Numbers and no state say how much is on its way: of requests that are pipelined, one response is made
 * while several are read. And objects that were kept until the next request would survive into the old generation.
 */
export class ConnectionWriting {
  readonly #socket: Socket;
  readonly #beginsUnsent: () => Unsent;
  readonly #answered: () => void;
  #state: WriteState = open;
  /** The number of responses that are being made. */
  #making = 0;
  /** Starts the requests that wait for the responses before them; the first `#started` have begun. */
  readonly #held: ((() => void) | undefined)[] = [];
  #started = 0;
  /** The number of responses that the client has not read whole: all but event streams. */
  #unreadResponses = 0;
  /** The bytes of those that are not streams. */
  #unreadBytes = 0;
  /** What waits to be sent on it; undefined until something has waited. */
  #unsent: Unsent | undefined = undefined;
  /** The number of streams that are being written. */
  streams = 0;
  /** Runs while its client may take nothing of a response. */
  sendWatch: { start(): void; rest(): void; stop(): void } | undefined = undefined;

  /**
   * @param beginsUnsent Begins to count what waits, in the budget of its server.
   * @param answered Called once fewer requests may wait for their responses.
   */
  constructor(socket: Socket, beginsUnsent: () => Unsent, answered: () => void) {
    this.#socket = socket;
    this.#beginsUnsent = beginsUnsent;
    this.#answered = answered;
  }

  /** Whether no response is pending on it. */
  get isIdle(): boolean {
    return this.#making === 0 && this.#held.length === 0 && this.#unreadResponses === 0 && this.streams === 0;
  }

  /** Whether its client has to read something: a response, or a stream. */
  get isSending(): boolean {
    return this.#unreadResponses + this.streams > 0;
  }

  /** Whether its client read nothing of a response for too long, so the connection ends. */
  get isCut(): boolean {
    return this.#state.at === "cut";
  }

  /** The number of requests whose responses its client has not read whole. */
  get unsent(): number {
    return this.#unreadResponses + this.#heldCount;
  }

  /** The number of requests without a response. */
  get pendingAnswers(): number {
    return this.#making + this.#held.length - this.#started;
  }

  /** Ends the connection with `end` once no response is pending; only the first call counts. */
  whenIdle(end: () => void): void {
    if (this.isIdle) end();
    else if (writings[this.#state.at].ends !== undefined) this.#state = { at: "ending", end };
  }

  /** Its client is disconnected, because it does not read. */
  cut(): void {
    if (writings[this.#state.at].cut !== undefined) this.#state = cut;
  }

  /**
   * Counts what waits for the client now. It may be disconnected for it.
   *
   * @param streaming The stream that is being written: on Bun the socket does not count its bytes.
   */
  count(streaming?: ServerResponse): void {
    const streamed = this.streams === 0 ? 0 : (streaming ?? this.#socket).writableLength;
    this.waits(this.#unreadBytes + streamed + this.#heldCount * heldBytes);
  }

  /** Sets how many bytes wait of what is not a response: a WebSocket, or a protocol of the application's own. */
  waits(bytes: number): void {
    if (bytes > 0) this.#unsent ??= this.#beginsUnsent();
    this.#unsent?.wait(bytes);
  }

  /** Whether a response is being made or streamed, or waits for the client: no further one is begun. */
  get #isBlocked(): boolean {
    return this.#making > 0 || this.streams > 0 || this.#unreadBytes > maxAheadBytes;
  }

  /** Whether a request may be answered now. Otherwise `hold` does it later. */
  get isFree(): boolean {
    return this.#held.length === 0 && this.#making === 0 && this.streams === 0 && this.#unreadBytes <= maxAheadBytes;
  }

  /**
   * Starts to answer a request once the client has taken the responses to those before it. So a packet with 2,000 requests makes one
   * response at a time, however long they are.
   *
   * @param start Does nothing where one of them was the last of the connection.
   */
  hold(start: () => void): void {
    this.#held.push(start);
    this.count();
  }

  #startHeld(): void {
    while (this.#heldCount > 0 && !this.#isBlocked) {
      const start = this.#held[this.#started] as () => void;
      this.#held[this.#started++] = undefined;
      inRoot(attempt, this.#socket, start);
    }
    if (this.#heldCount === 0) this.#forgetHeld();
    this.#answered();
  }

  #forgetHeld(): void {
    this.#held.length = 0;
    this.#started = 0;
  }

  /** The number of requests that wait for the responses before them. */
  get #heldCount(): number {
    return this.#held.length - this.#started;
  }

  /** A response is being made, until `endAnswer`. */
  beginAnswer(): void {
    this.#making++;
  }

  endAnswer(): void {
    this.#making--;
    this.#answered();
    this.#settle();
  }

  /** A response is there, and the client has not read it, until `endSending`. */
  beginSending(): void {
    this.#unreadResponses++;
  }

  endSending(): void {
    this.#unreadResponses--;
    this.#settle();
  }

  /** A response is written, and the client has not read it yet. */
  trackSent(response: ServerResponse): void {
    const bytes = response.writableLength;
    this.#unreadBytes += bytes;
    this.beginSending();
    response.once(
      "close",
      guarded(this.#socket, () => {
        this.#unreadBytes -= bytes;
        this.endSending();
      }),
    );
  }

  /** A stream is written, until `endStream`. */
  beginStream(): void {
    this.streams++;
  }

  endStream(): void {
    this.streams--;
    this.#settle();
  }

  /** Its client has taken what was written of a stream. */
  streamTaken(): void {
    this.count();
    if (this.#unreadResponses === 0) this.sendWatch?.rest();
  }

  #settle(): void {
    if (this.#held.length > 0) this.#startHeld();
    if (this.#unsent !== undefined) this.count();
    if (!this.isIdle) return;
    this.sendWatch?.stop();
    const state = this.#state;
    if (state.at !== "ending") return;
    this.#state = open;
    state.end();
  }

  /** The connection is closed. */
  closed(): void {
    this.sendWatch?.stop();
    this.#unsent?.end();
    this.#forgetHeld();
  }
}
