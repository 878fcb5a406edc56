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

/** The body of a standard `Request`, with a deadline for each wait. */
export class TimedBody implements BodySource {
  readonly length: number | undefined;
  readonly #request: Request;
  readonly #reading: BodyReadingLimits;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined = undefined;
  #deadline: Deadline | undefined = undefined;
  #deliver: (read: BodyRead) => void = ignore;
  /** Who gets the body in one piece. */
  #receiver: BodyReceiver | undefined = undefined;
  #isReadPending = false;
  #received = 0;
  #state: "unread" | "reading" | "over" = "unread";
  #failure: BodyFailure | undefined;
  /** Its rest was dropped: an end would make it look complete. */
  #isDropped = false;

  constructor(request: Request, reading: BodyReadingLimits, length: number | undefined, failure?: BodyFailure) {
    this.length = length;
    this.#request = request;
    this.#reading = reading;
    this.#failure = failure;
    if (failure !== undefined) this.#state = "over";
  }

  /** The body is being read and is incomplete. */
  get isReading(): boolean {
    return this.#state === "reading";
  }

  /** The next request on its connection must not be waited for. */
  get isLost(): boolean {
    return this.#failure !== undefined;
  }

  /** Bytes still to arrive; infinite without a length. */
  get left(): number {
    if (this.#state === "over" && this.#failure === undefined) return 0;
    return (this.length ?? Number.POSITIVE_INFINITY) - this.#received;
  }

  /** The next part. Time without a pending read is not charged to the client. */
  read(): Promise<BodyRead> {
    if (this.#state === "over") return Promise.resolve(this.#failure ?? (this.#isDropped ? answeredBefore : undefined));
    const reader = (this.#reader ??= this.#open());
    if (reader === undefined) return Promise.resolve(this.#failure);
    // There is one pending read: an earlier one ends here.
    this.#deliver(undefined);
    const read = new Promise<BodyRead>((resolve) => (this.#deliver = resolve));
    if (!this.#isReadPending) this.#readNext(reader);
    return read;
  }

  whole(limit: number, receiver: BodyReceiver): void {
    const { length } = this;
    const { pieceBytes, deadlines } = this.#reading;
    if (this.#state === "over" || length === undefined || length > Math.min(pieceBytes, deadlines.shortBytes, limit)) {
      gather(this, limit, receiver);
      return;
    }
    this.#state = "reading";
    this.#receiver = receiver;
    this.#deadline = deadlines.body(this);
    this.#reading.unread++;
    const arrived = (bytes: Uint8Array): void => {
      this.#reading.unread--;
      this.#end(bytes);
    };
    this.#request.bytes().then(arrived, () => this.#broken());
  }

  /** Reads and drops the rest of the body, up to `limit` bytes and within `ms`, or longer where its client is sending (`Lingering`). */
  async drop(limit: number, ms: number): Promise<void> {
    const max = this.#received + limit;
    this.#isDropped = this.#state !== "over";
    const lingering = new Lingering();
    const expire = (): void => {
      if (lingering.continues()) deadline.restart();
      else this.expire();
    };
    const deadline = this.#reading.deadlines.time(ms, { expire });
    for (let before = this.#received; this.#state !== "over" && before <= max; before = this.#received) {
      await this.read();
      lingering.takes(this.#received - before);
    }
    deadline.clear();
  }

  /** The request is answered or given up: the runtime drops the rest. */
  release(): void {
    if (this.#state !== "reading") return;
    const { isCut, brokenBody } = this.#reading.deadlines;
    this.#isDropped = true;
    // Where the server has cut it, a later read is not too late.
    if (isCut) this.#fail(brokenBody);
    else this.#end(brokenBody);
    this.#drop();
  }

  #open(): ReadableStreamDefaultReader<Uint8Array> | undefined {
    const reader = bodyReaderOf(this.#request);
    if (reader === undefined) this.#fail(hidden);
    else {
      this.#state = "reading";
      this.#deadline = this.#reading.deadlines.body(this);
      this.#deadline.pause();
    }
    return reader;
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
    if (this.#state === "over") return this.#drop();
    if (part === undefined) return this.#end(undefined);
    if (isFailure(part)) return this.#fail(part);
    this.#received += part.byteLength;
    this.#deadline?.arrived(part.byteLength);
    this.#deadline?.pause();
    if (part.byteLength > 0) this.#deliver(part);
    else this.#readNext(reader);
  }

  #end(read: BodyRead): void {
    if (this.#state === "over") return;
    this.#state = "over";
    this.#deadline?.clear();
    const receiver = this.#receiver;
    if (receiver === undefined) this.#deliver(read);
    else if (read instanceof Uint8Array && !receiver.take(read.byteLength)) receiver.done(noRoom);
    else receiver.done(read as Uint8Array | BodyFailure);
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
    if (this.#state === "over") return;
    this.#failure = failure;
    this.#end(failure);
  }

  // A body that is not read would block the next request on its connection. A pending read is awaited first: Deno does not
  // end it on `cancel()`, and it keeps the process alive.
  #drop(): void {
    if (!this.#isReadPending) this.#reader?.cancel().catch(() => {});
  }
}

function ignore(): void {}

/** Undefined for a body that the runtime does not show, as Bun's of a TRACE, or that other code reads. */
function bodyReaderOf({ body }: Request): ReadableStreamDefaultReader<Uint8Array> | undefined {
  try {
    return body?.getReader();
  } catch {
    return undefined;
  }
}
