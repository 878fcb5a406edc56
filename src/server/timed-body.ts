import { contentLengthOf } from "../http/fields.ts";
import { answeredBefore, gather, isFailure, noRoom, partOf, tooSlow } from "../inputs/body-source.ts";
import type { BodyFailure, BodyReceiver, BodySource } from "../inputs/body-source.ts";
import { guarded } from "../logging/raised.ts";
import type { Deadline, Deadlines } from "./deadlines.ts";
import { Lingering } from "./lingering.ts";

type BodyRead = Uint8Array | BodyFailure | undefined;

const coded: BodyFailure = { kind: "unreadable", detail: "a transfer coding that is not chunked" };

const hidden: BodyFailure = { kind: "unreadable", detail: "the runtime shows no body of this request" };

/** A listener's state for reading bodies. */
export interface BodyReadingLimits {
  readonly deadlines: Deadlines;
  /**
   * The longest body that is read in one piece, which costs half of reading its stream. Meanwhile the number of bytes
   * received is unknown, so such a body must arrive within the body timeout at the minimum rate.
   */
  readonly pieceBytes: number;
  /** Pending reads of the runtime, also of bodies that were given up. */
  unread: number;
}

/** The body that a request's head announces; undefined without one, or where the runtime does not show it. */
export function timedBodyOf(request: Request, method: string, reading: BodyReadingLimits): TimedBody | undefined {
  if (method === "GET" || method === "HEAD") return undefined;
  // Read late, because Bun makes the headers only when they are read.
  const { headers } = request;
  const length = headers.get("content-length");
  if (length !== null) {
    const announced = contentLengthOf(length);
    return announced === 0 ? undefined : new TimedBody(request, reading, announced);
  }
  const coding = headers.get("transfer-encoding");
  // HTTP/2 frames a body itself, so its head need not announce one (RFC 9113 §8.1). Deno does not tell the version.
  if (coding === null) return request.body === null ? undefined : new TimedBody(request, reading, undefined);
  const failure = coding.toLowerCase() === "chunked" ? undefined : coded;
  return new TimedBody(request, reading, undefined, failure);
}

/** Who reads a body, and what became of it. */
export type TimedBodyState =
  | { readonly at: "unread" }
  /** Its reader works on the last part. That time is not charged to the client. */
  | { readonly at: "between parts" }
  | { readonly at: "awaiting a part"; readonly give: (read: BodyRead) => void }
  | { readonly at: "reading whole"; readonly receiver: BodyReceiver }
  /** Its rest is dropped. `arrived` is called for each part, and once it is over. */
  | { readonly at: "dropping"; readonly arrived: () => void }
  | OverState;

/** It is read no further. */
type OverState =
  /** Its end has arrived, and its reader has all of it. */
  | { readonly at: "ended" }
  | { readonly at: "failed"; readonly failure: BodyFailure }
  /** Its request was answered before its reader had read it to its end: an end would make it look complete. */
  | { readonly at: "released" };

const unread: TimedBodyState = { at: "unread" };
const between: TimedBodyState = { at: "between parts" };
const ended: OverState = { at: "ended" };
const released: OverState = { at: "released" };

/** The body of a standard `Request`, with a deadline for each wait. */
export class TimedBody implements BodySource {
  readonly length: number | undefined;
  readonly #request: Request;
  readonly #reading: BodyReadingLimits;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined = undefined;
  #deadline: Deadline | undefined = undefined;
  #isReadPending = false;
  #received = 0;
  #state: TimedBodyState;

  constructor(request: Request, reading: BodyReadingLimits, length: number | undefined, failure?: BodyFailure) {
    this.length = length;
    this.#request = request;
    this.#reading = reading;
    this.#state = failure === undefined ? unread : { at: "failed", failure };
  }

  /** The body is being read and is incomplete. */
  get isReading(): boolean {
    return this.#state.at !== "unread" && !isOver(this.#state);
  }

  /** The next request on its connection must not be waited for. */
  get isLost(): boolean {
    return this.#state.at === "failed";
  }

  /** Bytes still to arrive; infinite without a length. */
  get left(): number {
    const { at } = this.#state;
    if (at === "ended" || at === "released") return 0;
    return (this.length ?? Number.POSITIVE_INFINITY) - this.#received;
  }

  /** The next part. Time without a pending read is not charged to the client. */
  read(): Promise<BodyRead> {
    const state = this.#state;
    if (isOver(state)) return Promise.resolve(readLate(state));
    // What arrives is dropped.
    if (state.at === "dropping") return Promise.resolve(answeredBefore);
    const reader = this.#open();
    if (reader === undefined) return Promise.resolve(hidden);
    // There is one pending read.
    if (state.at === "awaiting a part") state.give(answeredBefore);
    return new Promise((give) => this.#awaits({ at: "awaiting a part", give }, reader));
  }

  whole(limit: number, receiver: BodyReceiver): void {
    const { length } = this;
    const { pieceBytes, deadlines } = this.#reading;
    const isOnePiece = length !== undefined && length <= Math.min(pieceBytes, deadlines.shortBytes, limit);
    if (this.#state.at !== "unread" || !isOnePiece) {
      gather(this, limit, receiver);
      return;
    }
    this.#state = { at: "reading whole", receiver };
    this.#deadline = deadlines.body(this);
    this.#reading.unread++;
    const arrived = (bytes: Uint8Array): void => {
      this.#reading.unread--;
      if (isOver(this.#state)) return;
      this.#leave(ended);
      receiver.done(receiver.take(bytes.byteLength) ? bytes : noRoom);
    };
    this.#request.bytes().then(arrived, () => this.#broken());
  }

  /** Reads and drops the rest of the body, up to `limit` bytes and within `ms`, or longer where its client is sending (`Lingering`). */
  async drop(limit: number, ms: number): Promise<void> {
    if (isOver(this.#state)) return;
    const reader = this.#open();
    if (reader === undefined) return;
    if (this.#state.at === "awaiting a part") this.#state.give(answeredBefore);
    const max = this.#received + limit;
    const lingering = new Lingering();
    const expire = (): void => {
      if (lingering.continues()) deadline.restart();
      else this.expire();
    };
    const deadline = this.#reading.deadlines.time(ms, { expire });
    for (let before = this.#received; !isOver(this.#state) && before <= max; before = this.#received) {
      await new Promise<void>((arrived) => this.#awaits({ at: "dropping", arrived }, reader));
      lingering.takes(this.#received - before);
    }
    deadline.clear();
  }

  /** The request is answered or given up: the runtime drops the rest. */
  release(): void {
    const state = this.#state;
    if (!this.isReading) return;
    const { isCut, brokenBody } = this.#reading.deadlines;
    // Where the server has cut it, a later read is not too late.
    const over: OverState = isCut ? { at: "failed", failure: brokenBody } : released;
    this.#leave(over);
    tell(state, readLate(over));
    this.#cancel();
  }

  /** Undefined where the body cannot be read: it has failed then. */
  #open(): ReadableStreamDefaultReader<Uint8Array> | undefined {
    if (this.#reader !== undefined) return this.#reader;
    this.#reader = bodyReaderOf(this.#request);
    if (this.#reader === undefined) this.#fail(hidden);
    else {
      this.#state = between;
      this.#deadline = this.#reading.deadlines.body(this);
    }
    return this.#reader;
  }

  #awaits(state: TimedBodyState, reader: ReadableStreamDefaultReader<Uint8Array>): void {
    this.#state = state;
    if (!this.#isReadPending) this.#readNext(reader);
  }

  #readNext(reader: ReadableStreamDefaultReader<Uint8Array>): void {
    this.#isReadPending = true;
    this.#reading.unread++;
    this.#deadline?.resume();
    reader.read().then(
      (read) => this.#arrived(reader, partOf(read)),
      () => this.#broken(),
    );
  }

  #arrived(reader: ReadableStreamDefaultReader<Uint8Array>, part: BodyRead): void {
    this.#isReadPending = false;
    this.#reading.unread--;
    const state = this.#state;
    if (isOver(state)) return this.#cancel();
    if (part === undefined) {
      this.#leave(state.at === "dropping" ? released : ended);
      return tell(state, undefined);
    }
    if (isFailure(part)) return this.#fail(part);
    this.#received += part.byteLength;
    this.#deadline?.arrived(part.byteLength);
    this.#deadline?.pause();
    if (part.byteLength === 0) return this.#readNext(reader);
    if (state.at === "awaiting a part") this.#state = between;
    tell(state, part);
  }

  // Each runtime has another error for a broken body, and none helps a client.
  #broken(): void {
    this.#reading.unread--;
    this.#fail(this.#reading.deadlines.brokenBody);
  }

  // In a microtask, because failing the body may clear other deadlines while `Deadlines` iterates.
  expire(): void {
    queueMicrotask(guarded(undefined, () => this.#fail(tooSlow)));
  }

  #fail(failure: BodyFailure): void {
    const state = this.#state;
    if (isOver(state)) return;
    this.#leave({ at: "failed", failure });
    tell(state, failure);
  }

  #leave(state: OverState): void {
    this.#state = state;
    this.#deadline?.clear();
  }

  // A body that is not read would block the next request on its connection. A pending read is awaited first: Deno does not
  // end it on `cancel()`, and it keeps the process alive.
  #cancel(): void {
    if (!this.#isReadPending) this.#reader?.cancel().catch(() => {});
  }
}

function isOver(state: TimedBodyState): state is OverState {
  return state.at === "ended" || state.at === "failed" || state.at === "released";
}

/** Gives the reader, or the drop, that waits in a state what it waits for. */
function tell(state: TimedBodyState, read: BodyRead): void {
  if (state.at === "awaiting a part") state.give(read);
  else if (state.at === "dropping") state.arrived();
  else if (state.at === "reading whole") state.receiver.done(read as BodyFailure);
}

/** What a read gets of a body that is read no further. */
function readLate(state: OverState): BodyFailure | undefined {
  if (state.at === "ended") return undefined;
  return state.at === "failed" ? state.failure : answeredBefore;
}

/** Undefined for a body that the runtime does not show, as Bun's of a TRACE, or that other code reads. */
function bodyReaderOf({ body }: Request): ReadableStreamDefaultReader<Uint8Array> | undefined {
  try {
    return body?.getReader();
  } catch {
    return undefined;
  }
}
