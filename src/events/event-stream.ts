import { shouldYield, yieldToEventLoop } from "../async.ts";
import { attempt, inBackground } from "../logging/raised.ts";
import { Queue } from "../queue.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import { stoppingText } from "./event-reader.ts";
import type { Event } from "./event.ts";
import type { StreamRequest, StreamSink, StreamWriting } from "./stream.ts";

/** An idle timer. */
export interface KeptAlive {
  noteActivity(): void;
  end(): void;
}

/** Calls `onQuiet` whenever there was no activity for `ms`; the call counts as activity. */
export function keepAlive(ms: number, onQuiet: () => void): KeptAlive {
  return new QuietTimer(ms, onQuiet);
}

/**
 * Activity does not reset the timer: when it fires, it waits for the rest of the time since the last activity. Each has its
 * own timer, as Workers end a timer with the request that set it.
 */
class QuietTimer implements KeptAlive {
  readonly #ms: number;
  readonly #onQuiet: () => void;
  /** On the monotonic clock. */
  #activeAt: number = performance.now();
  #timer: ReturnType<typeof setTimeout>;

  constructor(ms: number, onQuiet: () => void) {
    this.#ms = ms;
    this.#onQuiet = onQuiet;
    this.#timer = setTimeout(this.#check, ms);
  }

  noteActivity(): void {
    this.#activeAt = performance.now();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  readonly #check = (): void => {
    const leftMs = this.#activeAt + this.#ms - performance.now();
    // A timer may fire a fraction of a millisecond early.
    if (leftMs >= 1) {
      this.#timer = setTimeout(this.#check, leftMs);
      return;
    }
    this.noteActivity();
    this.#timer = setTimeout(this.#check, this.#ms);
    attempt(undefined, this.#onQuiet);
  };
}

/** Sends an event. Resolves once there is room for another; with the error `gone` once the client has gone. */
export type Send<K> = (event: Event<K>) => Promise<Result<void, "gone">>;

/** Sends the events of one response, after its head is sent. The stream ends when it returns. */
export type Producer<K> = (send: Send<K>) => void | Promise<void>;

/** As {@link Producer}, of a handler. Its first parameter is a sentence of the compiler's error where the handler itself sends. */
export interface EventsAnswer<_Do extends string, K> {
  (send: Send<K>): void | Promise<void>;
}

type StreamPart = IteratorResult<Uint8Array, undefined>;

/** A `next()` that waits for a part. */
interface PendingRead {
  readonly take: (part: StreamPart) => void;
  readonly fail: (thrown: unknown) => void;
}

/** A part that is not read yet, and the `send` that waits for it. */
interface Queued {
  readonly bytes: Uint8Array;
  readonly sent: () => void;
}

const isSent = ok();
const isGone = error("gone" as const);
// One promise for every event that is written at once: its own would cost each a tenth of its delivery.
const sent = /* @__PURE__ */ Promise.resolve(isSent);
const gone = /* @__PURE__ */ Promise.resolve(isGone);
const whenSent = (): typeof isSent => isSent;
const keepAliveComment = /* @__PURE__ */ new TextEncoder().encode(": keep-alive\n\n");
const stoppingComment = /* @__PURE__ */ new TextEncoder().encode(`: ${stoppingText}\n\n`);
const end: StreamPart = { done: true, value: undefined };
const noop = (): void => {};

/**
 * The body of an event stream, with backpressure: a client that reads slowly slows its producer. A listener either pulls
 * parts by `next()`, where a `send` resolves when the part after its own is pulled; or it gives a sink, to which each `send`
 * writes.
 */
export class EventStream<K> implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array, undefined>, StreamWriting {
  readonly #producer: Producer<K>;
  readonly #declared: ReadonlySet<string> | undefined;
  readonly #keepAliveMs: number;
  #keepAliveComment: KeptAlive | undefined = undefined;
  /** Set when the response is sent. */
  request: StreamRequest | undefined = undefined;
  #sink: StreamSink | undefined = undefined;
  /** The number of `send` calls that wait for room in the sink. */
  #waiting = 0;
  #pendingRead: PendingRead | undefined = undefined;
  readonly #queue = new Queue<Queued>();
  /** Resolves the `send` whose part was pulled last. */
  #sending: () => void = noop;
  #state: "new" | "producing" | "finished" | "gone" = "new";
  #thrown: { readonly thrown: unknown } | undefined = undefined;
  /** Settles once the producer has returned or thrown. Never rejects; undefined until the producer starts. */
  produced: Promise<void> | undefined = undefined;

  /** @param declared The names of the event kinds that the route declares; undefined if it declares none. */
  constructor(producer: Producer<K>, declared: ReadonlySet<string> | undefined, keepAliveMs: number) {
    this.#producer = producer;
    this.#declared = declared;
    this.#keepAliveMs = keepAliveMs;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<StreamPart> {
    this.#sending();
    this.#sending = noop;
    if (this.#state === "new") this.#start();
    const queued = this.#queue.shift();
    if (queued !== undefined) {
      this.#sending = queued.sent;
      return Promise.resolve({ done: false, value: queued.bytes });
    }
    if (this.#thrown !== undefined) return Promise.reject(this.#thrown.thrown);
    if (this.#state !== "producing") return Promise.resolve(end);
    return new Promise((take, fail) => (this.#pendingRead = { take, fail }));
  }

  /** Starts the producer. Its events are written to the sink. */
  writeTo(sink: StreamSink): StreamWriting {
    this.#sink = sink;
    if (this.#state === "new") this.#start();
    else {
      for (const { bytes } of this.#queue.takeAll()) sink.write(bytes);
      sink.end();
    }
    return this;
  }

  /** Ends the stream now, as though its producer had returned: what that sends later answers `gone`. */
  stop(): void {
    if (this.#state === "new") this.#state = "finished";
    else this.#finish();
  }

  /** The same where the server stops: the last line is a comment that says so. */
  stopWithServer(): void {
    if (this.#state === "new") this.#queue.push({ bytes: stoppingComment, sent: noop });
    else if (this.#state !== "producing") return;
    else if (this.#sink === undefined) this.#push(stoppingComment, noop);
    else this.#sink.write(stoppingComment);
    this.stop();
  }

  cancel(): void {
    inBackground(this.return());
  }

  /** The reader stops: every waiting `send` resolves with `gone`. */
  return(): Promise<StreamPart> {
    if (this.#state === "gone") return Promise.resolve(end);
    this.#state = "gone";
    this.#keepAliveComment?.end();
    this.#pendingRead?.take(end);
    this.#sending();
    this.#sending = noop;
    for (const { sent } of this.#queue.takeAll()) sent();
    return Promise.resolve(end);
  }

  #start(): void {
    this.#state = "producing";
    this.#keepAliveComment = keepAlive(this.#keepAliveMs, () => this.#keepAlive());
    const produce = async (): Promise<void> => this.#producer((event) => this.#send(event));
    const produced = this.request === undefined ? produce() : this.request.run(produce);
    this.produced = produced.then(
      () => this.#finish(),
      (thrown: unknown) => this.#finish({ thrown }),
    );
    this.request?.producing(this.produced);
  }

  #send(event: Event<K>): Promise<Result<void, "gone">> {
    if (this.#state !== "producing") return gone;
    if (event.wire === "") return sent;
    this.#checkDeclared(event);
    this.#keepAliveComment?.noteActivity();
    const sink = this.#sink;
    if (sink !== undefined) {
      if (!sink.write(event.bytes)) return this.#whenRoom(sink);
      return shouldYield() ? yieldToEventLoop().then(whenSent) : sent;
    }
    return new Promise((resolve) => {
      this.#push(event.bytes, () => resolve(this.#state === "gone" ? isGone : isSent));
    });
  }

  async #whenRoom(sink: StreamSink): Promise<Result<void, "gone">> {
    this.#waiting++;
    const hasRoom = await sink.room();
    this.#waiting--;
    if (hasRoom && shouldYield()) await yieldToEventLoop();
    return hasRoom ? isSent : isGone;
  }

  // A slow client that still has data to read needs no comment. If the comment finds no room, wait as for an event, so that
  // the send time-out drops a client that reads nothing.
  #keepAlive(): void {
    const sink = this.#sink;
    if (sink === undefined) {
      if (this.#pendingRead !== undefined) this.#push(keepAliveComment, noop);
    } else if (this.#waiting === 0 && !sink.write(keepAliveComment)) inBackground(this.#whenRoom(sink));
  }

  #push(bytes: Uint8Array, sent: () => void): void {
    const pending = this.#pendingRead;
    if (pending === undefined) {
      this.#queue.push({ bytes, sent });
      return;
    }
    this.#pendingRead = undefined;
    this.#sending = sent;
    pending.take({ done: false, value: bytes });
  }

  /** The producer returned or threw. Queued events are still sent. */
  #finish(thrown?: { readonly thrown: unknown }): void {
    if (this.#state !== "producing") return;
    this.#state = "finished";
    this.#thrown = thrown;
    this.#keepAliveComment?.end();
    if (thrown === undefined) {
      this.#pendingRead?.take(end);
      this.#sink?.end();
    } else {
      this.#pendingRead?.fail(thrown.thrown);
      this.#sink?.fail(thrown.thrown);
    }
  }

  #checkDeclared({ name }: Event<K>): void {
    if (name === undefined || this.#declared === undefined || this.#declared.has(name)) return;
    this.request?.undeclared(`sent the event ${name}, which it does not declare`);
  }
}
