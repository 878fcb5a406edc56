import { shouldYield, yieldToEventLoop } from "../async.ts";
import { attempt, inBackground } from "../logging/raised.ts";
import { error, ok } from "../result.ts";
import type { Result } from "../result.ts";
import type { Event } from "./event.ts";
import type { StreamRequest, StreamSink, StreamWriting } from "./stream.ts";

/** A bound to how long something stays quiet, until it is ended. */
export interface KeptAlive {
  /** It was heard of just now. */
  heard(): void;
  end(): void;
}

/** Calls `onQuiet` whenever it was not heard of for that long; the call itself counts as being heard of. */
export function keepAlive(ms: number, onQuiet: () => void): KeptAlive {
  return new QuietTimer(ms, onQuiet);
}

/**
 * A wait with a timer of its own, which is not set anew with every event: once due, it looks when it was last heard of,
 * and goes on for what is left. One timer for all would die on Workers with the request that had set it.
 */
class QuietTimer implements KeptAlive {
  readonly #ms: number;
  readonly #onQuiet: () => void;
  /** On the monotonic clock. */
  #heardAt: number = performance.now();
  #timer: ReturnType<typeof setTimeout>;

  constructor(ms: number, onQuiet: () => void) {
    this.#ms = ms;
    this.#onQuiet = onQuiet;
    this.#timer = setTimeout(this.#look, ms);
  }

  heard(): void {
    this.#heardAt = performance.now();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  readonly #look = (): void => {
    const leftMs = this.#heardAt + this.#ms - performance.now();
    // A timer may be a fraction of a millisecond early.
    if (leftMs >= 1) {
      this.#timer = setTimeout(this.#look, leftMs);
      return;
    }
    this.heard();
    this.#timer = setTimeout(this.#look, this.#ms);
    attempt(undefined, this.#onQuiet);
  };
}

/** Sends an event: resolves once there is room for another, with `gone` where nobody is left to read it. */
export type Send<K> = (event: Event<K>) => Promise<Result<void, "gone">>;

/** Makes the events of one answer, after its head is sent. The stream ends when it returns. */
export type Producer<K> = (send: Send<K>) => void | Promise<void>;

type StreamPart = IteratorResult<Uint8Array, undefined>;

/** Somebody waits for the next part. */
interface Taker {
  readonly take: (part: StreamPart) => void;
  readonly fail: (thrown: unknown) => void;
}

/** A part nobody waited for yet, and the `send` that waits for it. */
interface Queued {
  readonly bytes: Uint8Array;
  readonly sent: () => void;
}

const isSent = ok();
const isGone = error("gone" as const);
// One for every event that goes out at once: a promise of its own would cost each a tenth of its delivery.
const sent = Promise.resolve(isSent);
const gone = Promise.resolve(isGone);
const whenSent = (): typeof isSent => isSent;
const keptAlive = /* @__PURE__ */ new TextEncoder().encode(": keep-alive\n\n");
const end: StreamPart = { done: true, value: undefined };
const nobody = (): void => {};

/**
 * The body of an event stream. A client that reads slowly slows its producer, and nothing piles up. Whoever sends it
 * takes one part after the other, and a `send` is over once the part behind its own is asked for; or it brings a sink, to
 * which each `send` writes by itself.
 */
export class EventStream<K> implements AsyncIterable<Uint8Array>, AsyncIterator<Uint8Array, undefined>, StreamWriting {
  readonly #producer: Producer<K>;
  readonly #declared: ReadonlySet<string> | undefined;
  readonly #keepAliveMs: number;
  #keptAlive: KeptAlive | undefined = undefined;
  /** The request it answers, once it is sent. */
  request: StreamRequest | undefined = undefined;
  #sink: StreamSink | undefined = undefined;
  /** How many `send` wait for the sink to have room. */
  #waiting = 0;
  #taker: Taker | undefined = undefined;
  readonly #queued: Queued[] = [];
  /** The `send` whose part was taken last. */
  #sending: () => void = nobody;
  #state: "new" | "producing" | "finished" | "gone" = "new";
  #thrown: { readonly thrown: unknown } | undefined = undefined;
  /** Settles once the producer has returned or raised. Never rejects; undefined where it has not begun. */
  produced: Promise<void> | undefined = undefined;

  /** @param declared The names of the kinds its route declares; undefined where it has no list. */
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
    this.#sending = nobody;
    if (this.#state === "new") this.#start();
    const queued = this.#queued.shift();
    if (queued !== undefined) {
      this.#sending = queued.sent;
      return Promise.resolve({ done: false, value: queued.bytes });
    }
    if (this.#thrown !== undefined) return Promise.reject(this.#thrown.thrown);
    if (this.#state !== "producing") return Promise.resolve(end);
    return new Promise((take, fail) => (this.#taker = { take, fail }));
  }

  /** Begins, and writes what is sent. */
  writeTo(sink: StreamSink): StreamWriting {
    this.#sink = sink;
    this.#start();
    return this;
  }

  cancel(): void {
    inBackground(this.return());
  }

  /** Nobody reads any further: every `send` is told. */
  return(): Promise<StreamPart> {
    if (this.#state === "gone") return Promise.resolve(end);
    this.#state = "gone";
    this.#keptAlive?.end();
    this.#taker?.take(end);
    this.#taker = undefined;
    this.#sending();
    this.#sending = nobody;
    for (const { sent } of this.#queued.splice(0)) sent();
    return Promise.resolve(end);
  }

  #start(): void {
    this.#state = "producing";
    this.#keptAlive = keepAlive(this.#keepAliveMs, () => this.#keepAlive());
    const produce = async (): Promise<void> => this.#producer((event) => this.#send(event));
    const produced = this.request === undefined ? produce() : this.request.run(produce);
    this.produced = produced.then(
      () => this.#finish(),
      (thrown: unknown) => this.#finish({ thrown }),
    );
  }

  #send(event: Event<K>): Promise<Result<void, "gone">> {
    if (this.#state !== "producing") return gone;
    if (event.wire === "") return sent;
    this.#checkDeclared(event);
    this.#keptAlive?.heard();
    const sink = this.#sink;
    if (sink !== undefined) {
      if (!sink.write(event.bytes)) return this.#whenRoom(sink);
      return shouldYield() ? yieldToEventLoop().then(whenSent) : sent;
    }
    return new Promise((resolve) => {
      this.#give(event.bytes, () => resolve(this.#state === "gone" ? isGone : isSent));
    });
  }

  async #whenRoom(sink: StreamSink): Promise<Result<void, "gone">> {
    this.#waiting++;
    const hasRoom = await sink.room();
    this.#waiting--;
    if (hasRoom && shouldYield()) await yieldToEventLoop();
    return hasRoom ? isSent : isGone;
  }

  // A client that is slow to take what it was sent is not waiting for more; and one that has no room for this much is
  // waited for as it is for an event, so that it is left when it takes nothing.
  #keepAlive(): void {
    const sink = this.#sink;
    if (sink === undefined) {
      if (this.#taker !== undefined) this.#give(keptAlive, nobody);
    } else if (this.#waiting === 0 && !sink.write(keptAlive)) inBackground(this.#whenRoom(sink));
  }

  #give(bytes: Uint8Array, sent: () => void): void {
    const taker = this.#taker;
    if (taker === undefined) {
      this.#queued.push({ bytes, sent });
      return;
    }
    this.#taker = undefined;
    this.#sending = sent;
    taker.take({ done: false, value: bytes });
  }

  /** The producer returned, or raised: what it sent before that is still sent. */
  #finish(thrown?: { readonly thrown: unknown }): void {
    if (this.#state !== "producing") return;
    this.#state = "finished";
    this.#thrown = thrown;
    this.#keptAlive?.end();
    const taker = this.#taker;
    this.#taker = undefined;
    if (thrown === undefined) {
      taker?.take(end);
      this.#sink?.end();
    } else {
      taker?.fail(thrown.thrown);
      this.#sink?.fail(thrown.thrown);
    }
  }

  #checkDeclared({ name }: Event<K>): void {
    if (name === undefined || this.#declared === undefined || this.#declared.has(name)) return;
    this.request?.undeclared(`sent the event ${name}, which it does not declare`);
  }
}
