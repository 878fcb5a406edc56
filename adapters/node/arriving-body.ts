import { answeredBefore, bodyTooLarge, endedEarly, joined, noRoom, tooSlow } from "../../src/doors/inputs.ts";
import type { BodyFailure, BodyReceiver, BodySource } from "../../src/doors/inputs.ts";
import type { Deadline, Deadlines, DeadlineListener } from "../../src/doors/server.ts";
import { discardLimit } from "../../src/doors/server.ts";

/** What a body is opened for: to be read whole, or part by part, or to be dropped. */
export type BodyUse = "whole" | "parts" | "rest";

type PartRead = Uint8Array | BodyFailure | undefined;

/** Who reads a body, and what became of it. */
export type BodyState =
  /** It was not read. No `100 Continue` was sent. */
  | { readonly at: "unread" }
  /** Its reader works on the last part. That time is not charged to the client. */
  | { readonly at: "between parts" }
  | { readonly at: "awaiting a part"; readonly give: (read: PartRead) => void }
  | WholeRead
  /** It is dropped while its response is made or streamed. `allowed` bytes may arrive before the next check of the deadlines. */
  | { readonly at: "discarding"; allowed: number }
  /** Its rest is dropped, up to `allowed` bytes. Then `done` is called. */
  | { readonly at: "draining"; allowed: number; readonly done: () => void }
  /** Its end has arrived. */
  | { readonly at: "ended" }
  /** Its reader has the failure, and reads no further. */
  | { readonly at: "failed"; readonly failure: BodyFailure }
  /** Its request was answered before its reader had read it to its end, which may have arrived since. */
  | { readonly at: "released" };

interface WholeRead {
  readonly at: "reading whole";
  readonly limit: number;
  readonly receiver: BodyReceiver;
  /** Most bodies are one part: V8 would make room for seventeen in a list. */
  first: Uint8Array | undefined;
  others: Uint8Array[] | undefined;
}

const unread: BodyState = { at: "unread" };
const between: BodyState = { at: "between parts" };
const ended: BodyState = { at: "ended" };
const released: BodyState = { at: "released" };
const noBytes = new Uint8Array();

/**
 * The one reader of a body. A handler reads it part by part or whole, and the writer of its response drops the rest. A
 * subclass says where the parts come from. It calls `take`, `end` and `fail`.
 */
export abstract class ArrivingBody implements BodySource, DeadlineListener {
  readonly length: number | undefined;
  /** Bytes that have arrived here. */
  protected received = 0;
  /** Those of them that were dropped. */
  dropped = 0;
  readonly #deadlines: Deadlines;
  #state: BodyState = unread;
  #deadline: Deadline | undefined = undefined;

  constructor(length: number | undefined, deadlines: Deadlines) {
    this.length = length;
    this.#deadlines = deadlines;
  }

  /** Lets parts arrive. It may end or fail at once. A client that waits for `100 Continue` gets it, unless this is for the rest. */
  protected abstract open(use: BodyUse): void;
  protected abstract resume(): void;
  protected abstract pause(): void;
  /** Takes nothing more. */
  protected abstract shut(hasEnded: boolean): void;
  /** Whether the server itself does not read the connection now. That is not charged to the client. */
  protected get isHeldBack(): boolean {
    return false;
  }

  protected get state(): BodyState {
    return this.#state;
  }

  /** The next part. */
  read(): Promise<PartRead> {
    if (this.#state.at === "unread") this.#openParts();
    const { at } = this.#state;
    if (at !== "between parts" && at !== "awaiting a part") return Promise.resolve(readLate(this.#state));
    return new Promise((give) => {
      this.#state = { at: "awaiting a part", give };
      this.#deadline?.resume();
      this.resume();
    });
  }

  // Part by part, each with its promise and a pause of the stream, a short body took 4 µs more.
  whole(limit: number, receiver: BodyReceiver): void {
    if (this.#state.at !== "unread") return receiver.done(readLate(this.#state) ?? answeredBefore);
    this.#deadline = this.#deadlines.body(this);
    this.#state = { at: "reading whole", limit, receiver, first: undefined, others: undefined };
    this.open("whole");
  }

  #openParts(): void {
    this.#deadline = this.#deadlines.body(this);
    this.#state = between;
    this.open("parts");
  }

  /**
   * Drops the body, or its rest, while its response is made or streamed, without `100 Continue`. Node does not read a socket while a
   * body waits to be read, and such a socket reports neither a FIN nor a RST. The handler would wait forever for a client that has
   * gone. After `discardLimit` bytes, as many are read after each check of the deadlines, so a client that keeps sending is read slowly.
   */
  discard(): void {
    this.#state = { at: "discarding", allowed: discardLimit };
    this.resume();
    this.open("rest");
  }

  /** Drops the rest. `done` is called once: at its end, after more than `limit` bytes, or when its client takes too long. */
  drain(limit: number, deadlineFor: (listener: DeadlineListener) => Deadline, done: () => void): void {
    this.#deadline = deadlineFor(this);
    this.#state = { at: "draining", allowed: limit, done };
    this.resume();
    this.open("rest");
  }

  /** The request is answered: the response's writer drops the rest. */
  release(): void {
    const state = this.#state;
    switch (state.at) {
      case "between parts":
      case "discarding":
        return this.#leave(released);
      case "awaiting a part":
        this.#leave(released);
        return state.give(answeredBefore);
      // Answered before it arrived: the rest cannot go to the stream's readers, so the connection closes.
      case "reading whole":
        return this.fail(endedEarly);
      default:
    }
  }

  /** A part has arrived. */
  take(part: Uint8Array): void {
    const state = this.#state;
    this.received += part.byteLength;
    switch (state.at) {
      case "reading whole":
        this.#deadline?.arrived(part.byteLength);
        if (this.received > state.limit) this.fail(bodyTooLarge);
        else if (!state.receiver.take(part.byteLength)) this.fail(noRoom);
        else if (state.first === undefined) state.first = part;
        else (state.others ??= []).push(part);
        return;
      case "awaiting a part":
        this.#state = between;
        this.pause();
        this.#deadline?.arrived(part.byteLength);
        this.#deadline?.pause();
        return state.give(part);
      // Other code of its server has let the request flow: a part that is not awaited would be missing.
      case "between parts":
        return this.fail(endedEarly);
      case "discarding":
        this.dropped += part.byteLength;
        state.allowed -= part.byteLength;
        if (state.allowed > 0) return;
        this.pause();
        this.#deadline ??= this.#deadlines.time(0, this);
        return;
      case "draining":
        state.allowed -= part.byteLength;
        this.#deadline?.arrived(part.byteLength);
        if (state.allowed < 0) this.#drained(state.done, false);
        return;
      // Its reader has left.
      default:
    }
  }

  /** Its end has arrived. */
  end(): void {
    const state = this.#state;
    switch (state.at) {
      case "between parts":
        return this.#leave(ended);
      case "discarding":
        return this.#leave(released, true);
      case "awaiting a part":
        this.#leave(ended);
        return state.give(undefined);
      case "reading whole": {
        this.#leave(ended);
        const { first = noBytes, others, receiver } = state;
        return receiver.done(others === undefined ? first : joined([first, ...others], this.received));
      }
      case "draining":
        return this.#drained(state.done, true);
      default:
    }
  }

  /** The rest will not arrive: its client has left it, or the server has stopped. */
  breakOff(): void {
    this.fail(this.#deadlines.brokenBody);
  }

  /** No more of it arrives, or no more is read. What is dropped is not awaited. */
  fail(failure: BodyFailure): void {
    const state = this.#state;
    switch (state.at) {
      case "between parts":
        return this.#leave({ at: "failed", failure });
      case "awaiting a part":
        this.#leave({ at: "failed", failure });
        return state.give(failure);
      case "reading whole":
        this.#leave({ at: "failed", failure });
        return state.receiver.done(failure);
      case "draining":
        return this.#drained(state.done, false);
      default:
    }
  }

  expire(): void {
    const state = this.#state;
    if (state.at === "discarding") {
      this.#deadline = undefined;
      state.allowed = discardLimit;
      this.resume();
    } else if (state.at === "draining") this.#drained(state.done, false);
    else if (this.isHeldBack) this.#deadline?.restart();
    else this.fail(tooSlow);
  }

  #drained(done: () => void, hasEnded: boolean): void {
    this.#leave(released, hasEnded);
    done();
  }

  #leave(state: BodyState, hasEnded: boolean = state.at === "ended"): void {
    this.#state = state;
    this.#deadline?.clear();
    this.#deadline = undefined;
    this.shut(hasEnded);
  }
}

/** What a further read gets of a body that is read no further. One that was dropped would look complete by an end. */
function readLate(state: BodyState): BodyFailure | undefined {
  if (state.at === "ended") return undefined;
  return state.at === "failed" ? state.failure : answeredBefore;
}
