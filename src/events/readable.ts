import { attempt, inBackground } from "../logging/raised.ts";
import { isWholeEnd } from "./open-stream.ts";
import type { OpenStream, BodySender } from "./open-stream.ts";
import type { StreamEnd } from "./stream.ts";

/** The steps of a sender while a body is sent. */
export interface StreamEvents extends Pick<BodySender, "ended"> {
  /** The runtime stops reading a body at its announced length, without a sign that the body was complete. */
  readonly stopsAtLength: boolean;
  /** The runtime prints the error of a stream that fails in the turn in which it got that, with lines of its source. */
  readonly printsErrors?: boolean;
  /** The next part is being made, which may take any time. If this ends the stream, no part is read. */
  making(): void;
  /** The longest part that is handed over now; without it a part has any length. */
  readonly longestPart?: number;
  /**
   * A part of this length was handed over: now the client has to read.
   *
   * @param waiting The bytes that wait with it: those of the part that was cut for `longestPart`.
   */
  made(bytes: number, waiting: number): void;
  /** Why the runtime cancelled the stream. */
  cancelled(): StreamEnd;
}

/**
 * The error that the reader of an incomplete stream gets. It has nothing of the producer's exception, which goes to the log
 * alone. A runtime may report it in its own hook.
 */
export class StreamCut extends Error {
  constructor(how: StreamEnd) {
    super(causes[how] ?? "the stream was cut");
  }
}

const causes: { readonly [End in StreamEnd]?: string } = {
  short: "the stream sent less than the length it was given",
  failed: "the stream failed",
};

type Controller = ReadableStreamDefaultController<Uint8Array>;

/**
 * A body as a `ReadableStream` that makes a part only when its reader asks for one. Listeners that take a `Response`
 * send bodies by it, and so does `app.fetch`; Node's and Workers' write to a stream of the runtime's.
 */
export class PulledStream implements BodySender {
  readonly #stream: OpenStream;
  readonly #sending: StreamEvents;
  #opening: Uint8Array | undefined;
  /** The part that was pending when the opening was sent. */
  #first: Promise<Uint8Array | undefined> | undefined = undefined;
  /** What is left of a part that was longer than `longestPart`. */
  #tail: Uint8Array | undefined = undefined;
  #controller: Controller | undefined = undefined;

  /** @param opening Bytes without meaning, sent first where the first part is not available at once. */
  constructor(stream: OpenStream, sending: StreamEvents, opening?: Uint8Array) {
    this.#stream = stream;
    this.#sending = sending;
    this.#opening = opening;
    stream.sentBy(this);
  }

  get readable(): ReadableStream<Uint8Array> {
    return new ReadableStream(this, { highWaterMark: 0 });
  }

  start(controller: Controller): void {
    this.#controller = controller;
  }

  async pull(controller: Controller): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    try {
      this.#sending.making();
      if (this.#stream.how !== undefined) return;
      const next = this.#first ?? this.#next();
      this.#first = undefined;
      if (opening !== undefined && !(await settlesAtOnce(next))) {
        this.#first = next;
        if (this.#stream.how === undefined) controller.enqueue(opening);
        return;
      }
      this.#send(controller, await next);
    } catch (thrown) {
      this.#stream.end("failed", thrown);
    }
  }

  cancel(): void {
    const isWhole = this.#stream.isAtLength && this.#tail === undefined;
    if (isWhole && this.#sending.stopsAtLength) inBackground(this.#rest());
    else attempt(undefined, () => this.end(this.#sending.cancelled()));
  }

  /** Ends the stream now. */
  end(how: StreamEnd): void {
    this.#stream.end(how);
  }

  /** The server stops: see the same of `OpenStream`. */
  stopWithServer(later: (cut: () => void) => void): void {
    this.#stream.stopWithServer(later);
  }

  ended(how: StreamEnd): void {
    this.#tail = undefined;
    attempt(undefined, () => this.#sending.ended(how));
    try {
      // A body that is too long is cut at its length, and its client got all that was announced.
      if (isWholeEnd(how) || how === "long") this.#controller?.close();
      else this.#controller?.error(this.#sending.printsErrors === true ? undefined : new StreamCut(how));
    } catch {
      // It was cancelled, which has closed it.
    }
  }

  #next(): Promise<Uint8Array | undefined> {
    const tail = this.#tail;
    this.#tail = undefined;
    return tail === undefined ? this.#stream.next() : Promise.resolve(tail);
  }

  #send(controller: Controller, part: Uint8Array | undefined): void {
    const stream = this.#stream;
    if (stream.how !== undefined) return;
    if (part === undefined) return stream.finish();
    const { longestPart = Number.POSITIVE_INFINITY } = this.#sending;
    // A copy of a part of a longer buffer: a runtime that holds a view holds all bytes behind it.
    const sent = part.buffer.byteLength <= longestPart ? part : new Uint8Array(part.subarray(0, longestPart));
    if (sent.byteLength < part.byteLength) this.#tail = part.subarray(longestPart);
    // Nothing is left of a part that follows the last byte of the length.
    if (sent.byteLength > 0) controller.enqueue(sent);
    if (stream.isLong && this.#tail === undefined) return stream.finish();
    this.#sending.made(sent.byteLength, part.byteLength);
  }

  /** The runtime has all bytes of the length: is there more? */
  async #rest(): Promise<void> {
    await this.#stream.next().catch(() => undefined);
    this.#stream.finish();
  }
}

/** Whether a promise settles before the next event. */
function settlesAtOnce(promise: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), 0);
    const settled = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    promise.then(settled, settled);
  });
}
