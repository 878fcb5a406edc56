import { endedEarly, gather, isFailure, noRoom, partOf } from "../inputs/body-source.ts";
import type { BodyFailure, BodyReceiver, BodySource } from "../inputs/body-source.ts";
import { guarded } from "../logging/raised.ts";
import type { Deadline, Deadlines } from "./deadlines.ts";

type BodyRead = Uint8Array | BodyFailure | undefined;

const tooSlow: BodyFailure = { kind: "unreadable", detail: "the body stopped arriving" };
const coded: BodyFailure = { kind: "unreadable", detail: "a transfer coding that is not chunked" };

const hidden: BodyFailure = { kind: "unreadable", detail: "the runtime shows no body of this request" };

/** How a listener reads bodies. */
export interface BodyReadingLimits {
  readonly sweep: Deadlines;
  /**
   * Bytes of a body that is taken in one piece, which costs a request half of what reading its stream does. How much of
   * it has come nobody can tell meanwhile: it is one that comes at the least rate within the time it may stand still.
   */
  readonly pieceBytes: number;
  /** Reads that the runtime has not come back from, also of bodies that were given up meanwhile. */
  unread: number;
}

/** The body a request's head announces; undefined where it has none, or where the runtime shows none. */
export function bodyOf(request: Request, method: string, reading: BodyReadingLimits): TimedBody | undefined {
  if (method === "GET" || method === "HEAD") return undefined;
  // Only now: where nobody looks at the headers, Bun does not make them.
  const { headers } = request;
  const length = headers.get("content-length");
  if (length !== null) {
    const announced = lengthOf(length);
    return announced === 0 ? undefined : new TimedBody(request, reading, announced);
  }
  const coding = headers.get("transfer-encoding");
  if (coding === null) return undefined;
  const failure = coding.toLowerCase() === "chunked" ? undefined : coded;
  return new TimedBody(request, reading, undefined, failure);
}

/** The runtime frames the body. A length on two lines, which is one where they are equal, comes as a list: it bounds nothing. */
function lengthOf(length: string): number | undefined {
  return /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

/** The body of a standard `Request`, with a bound to each wait for it. */
export class TimedBody implements BodySource {
  readonly length: number | undefined;
  readonly #request: Request;
  readonly #reading: BodyReadingLimits;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined = undefined;
  #deadline: Deadline | undefined = undefined;
  #asked: (read: BodyRead) => void = () => {};
  #isAsking = false;
  #received = 0;
  #state: "unread" | "reading" | "over" = "unread";
  #failure: BodyFailure | undefined;

  constructor(request: Request, reading: BodyReadingLimits, length: number | undefined, failure?: BodyFailure) {
    this.length = length;
    this.#request = request;
    this.#reading = reading;
    this.#failure = failure;
    if (failure !== undefined) this.#state = "over";
  }

  /** It is being read, and has not come whole. */
  get isReading(): boolean {
    return this.#state === "reading";
  }

  /** What comes behind it on its connection is not to be waited for. */
  get isLost(): boolean {
    return this.#failure !== undefined;
  }

  /** Bytes that have not come; no number where no length says how many there are. */
  get left(): number {
    if (this.#state === "over" && this.#failure === undefined) return 0;
    return (this.length ?? Number.POSITIVE_INFINITY) - this.#received;
  }

  /** The next part. Time in which nobody asks for one is not the client's. */
  read(): Promise<BodyRead> {
    if (this.#state === "over") return Promise.resolve(this.#failure);
    const reader = (this.#reader ??= this.#open());
    if (reader === undefined) return Promise.resolve(this.#failure);
    // Who asked before is asked no more: there is one read at a time.
    this.#asked(undefined);
    const read = new Promise<BodyRead>((resolve) => (this.#asked = resolve));
    if (!this.#isAsking) this.#ask(reader);
    return read;
  }

  whole(limit: number, receiver: BodyReceiver): void {
    const { length } = this;
    const { pieceBytes, sweep } = this.#reading;
    if (this.#state === "over" || length === undefined || length > Math.min(pieceBytes, sweep.shortBytes, limit)) {
      gather(() => this.read(), limit, receiver);
      return;
    }
    this.#state = "reading";
    // By a name, and not put straight in its place: V8 makes such a closure old at once, and with it all that it holds.
    const asked = (read: BodyRead): void => {
      if (read instanceof Uint8Array && !receiver.take(read.byteLength)) receiver.done(noRoom);
      else receiver.done(read as Uint8Array | BodyFailure);
    };
    this.#asked = asked;
    this.#deadline = sweep.body(this);
    this.#reading.unread++;
    this.#request.bytes().then((bytes) => {
      this.#reading.unread--;
      this.#end(bytes);
    }, this.#broken);
  }

  /** Takes what is left of it off the wire, as far as that is `limit` bytes and comes within `ms`. */
  async drop(limit: number, ms: number): Promise<void> {
    const most = this.#received + limit;
    const deadline = this.#reading.sweep.time(ms, this);
    while (this.#state !== "over" && this.#received <= most) await this.read();
    deadline.clear();
  }

  /** The request is answered, or given up: what is left of it is the runtime's to drop. */
  release(): void {
    if (this.#state !== "reading") return;
    this.#end(endedEarly);
    this.#drop();
  }

  #open(): ReadableStreamDefaultReader<Uint8Array> | undefined {
    const reader = readerOf(this.#request);
    if (reader === undefined) this.#fail(hidden);
    else {
      this.#state = "reading";
      this.#deadline = this.#reading.sweep.body(this);
      this.#deadline.rest();
    }
    return reader;
  }

  #ask(reader: ReadableStreamDefaultReader<Uint8Array>): void {
    this.#isAsking = true;
    this.#reading.unread++;
    this.#deadline?.goOn();
    reader.read().then((read) => this.#arrived(reader, partOf(read)), this.#broken);
  }

  #arrived(reader: ReadableStreamDefaultReader<Uint8Array>, part: BodyRead): void {
    this.#isAsking = false;
    this.#reading.unread--;
    if (this.#state === "over") return this.#drop();
    if (part === undefined) return this.#end(undefined);
    if (isFailure(part)) return this.#fail(part);
    this.#received += part.byteLength;
    this.#deadline?.arrived(part.byteLength);
    this.#deadline?.rest();
    if (part.byteLength > 0) this.#asked(part);
    else this.#ask(reader);
  }

  #end(read: BodyRead): void {
    if (this.#state === "over") return;
    this.#state = "over";
    this.#deadline?.clear();
    this.#asked(read);
  }

  // What a runtime says of a broken body differs on each, and tells a client nothing.
  readonly #broken = (): void => {
    this.#isAsking = false;
    this.#reading.unread--;
    this.#fail(endedEarly);
  };

  // Not at once: what comes of it may end other waits, and whoever looks at them is on the way from one to the next.
  expire(): void {
    const end = (): void => {
      this.#fail(tooSlow);
      this.#drop();
    };
    queueMicrotask(guarded(undefined, end));
  }

  #fail(failure: BodyFailure): void {
    if (this.#state === "over") return;
    this.#failure = failure;
    this.#end(failure);
  }

  // One that nobody reads any more would stand in the way of what comes behind it. A read that is under way is waited for:
  // Deno does not end it, whoever cancels it, and it holds the process.
  #drop(): void {
    if (!this.#isAsking) this.#reader?.cancel().catch(() => {});
  }
}

/** Undefined for a body that the runtime does not show, as Bun's of a TRACE, and for one that somebody else reads. */
function readerOf({ body }: Request): ReadableStreamDefaultReader<Uint8Array> | undefined {
  try {
    return body?.getReader();
  } catch {
    return undefined;
  }
}
