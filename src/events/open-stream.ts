import { attempt, inBackground } from "../logging/raised.ts";
import { readParts, take } from "./stream.ts";
import type { Parts, StreamBody, StreamEnd, StreamRequest, StreamSink, StreamWriting } from "./stream.ts";

/** A sender of bodies. It knows whether its client has gone. */
export interface BodySender {
  /** How the client was lost; undefined while it takes parts. */
  lost?(): StreamEnd | undefined;
  /** The stream has ended. Only after `finished` can the connection carry another response. */
  ended(how: StreamEnd): void;
}

/** How a stream ended. */
export interface Ended {
  readonly how: StreamEnd;
  /** What its producer threw. */
  readonly thrown?: unknown;
}

/** Whether a body that ended so is complete. */
export function isWholeEnd(how: StreamEnd): boolean {
  return how === "finished" || how === "stopped";
}

/**
 * A streamed body while it is sent, by whatever listener: its one reader. It cuts the body at its length and stops its producer. It ends
 * once, whatever ends it first, and calls its request then.
 */
export class OpenStream {
  readonly kind = "stream";
  /** The length in bytes, if known: it is the `Content-Length`, and never more is sent. */
  readonly length: number | undefined;
  /** How it ended; undefined while it is open. */
  how: StreamEnd | undefined = undefined;
  readonly #body: StreamBody;
  readonly #request: StreamRequest | undefined;
  readonly #iterator: AsyncIterator<Uint8Array> | undefined;
  #sending: BodySender | undefined = undefined;
  /** What makes its parts, once it is read, or writes them. */
  #source: Parts | StreamWriting | undefined = undefined;
  /** Settles once the producer that was stopped has ended. */
  #stopped: Promise<void> | undefined = undefined;
  /** The bytes that its length leaves; negative once its producer has made more. */
  #left: number;
  /** How it ends after its last part, where all of its length was read. */
  #wholeEnd: "finished" | "stopped" = "finished";
  /** Ends the wait of `sendTo` for a part. */
  #wake: (() => void) | undefined = undefined;

  /**
   * Takes the parts of a body, which no other response can have then.
   *
   * @throws InvalidAnswerError where another one has them; and what their iterable throws.
   */
  constructor(body: StreamBody, request?: StreamRequest) {
    this.length = body.length;
    this.#left = body.length ?? 0;
    this.#body = body;
    this.#request = request;
    this.#iterator = body.begin === undefined ? take(body.parts) : undefined;
    if (request !== undefined) body.begin?.(request);
  }

  /** Says what sends it. */
  sentBy(sending: BodySender): void {
    this.#sending = sending;
  }

  /** A stream of the platform, which a runtime can pipe by itself. */
  get native(): ReadableStream<Uint8Array> | undefined {
    const { parts } = this.#body;
    return parts instanceof ReadableStream ? parts : undefined;
  }

  /** Runs work in the context of its request. */
  run<A>(work: () => A): A {
    return this.#request === undefined ? work() : this.#request.run(work);
  }

  /** Lets a body write its parts itself, if it can. */
  writeTo(sink: StreamSink): boolean {
    const { writeTo } = this.#body;
    if (writeTo === undefined) return false;
    this.writtenBy(writeTo(sink));
    return true;
  }

  /** Its parts are not read here: `writing` stops what sends them. */
  writtenBy(writing: StreamWriting): void {
    this.#source = writing;
    // It may have ended meanwhile, before the source could be stopped.
    if (this.how !== undefined) inBackground(writing.cancel());
  }

  /** The next part that is not empty, cut at the length; undefined at the end. Rejects with what the producer throws. */
  next(): Promise<Uint8Array | undefined> {
    const next = this.#parts().next();
    return this.length === undefined ? next : this.#cut(next);
  }

  async #cut(next: Promise<Uint8Array | undefined>): Promise<Uint8Array | undefined> {
    const part = await next;
    if (part === undefined) return undefined;
    const left = this.#left;
    this.#left -= part.byteLength;
    return this.#left < 0 ? part.subarray(0, left) : part;
  }

  /** Whether its producer has made more than its length: the part before was cut, and is the last one. */
  get isLong(): boolean {
    return this.#left < 0;
  }

  /** Whether all bytes of its length are read. */
  get isAtLength(): boolean {
    return this.length !== undefined && this.#left === 0;
  }

  /** How it ends where no part follows. */
  get outcome(): "finished" | "stopped" | "short" | "long" {
    return this.#left > 0 ? "short" : this.#left < 0 ? "long" : this.#wholeEnd;
  }

  /** No part follows. */
  finish(): void {
    this.end(this.outcome);
  }

  /**
   * The server stops. An event stream ends whole, once its client has taken what was sent; any other body is cut.
   *
   * @param later Calls its argument after a time: a client that reads nothing does not delay the stop.
   */
  stopWithServer(later: (cut: () => void) => void): void {
    if (this.how !== undefined || this.#wholeEnd === "stopped") return;
    const cut = (): void => this.end("server stopped");
    if (this.#body.stopWithServer === undefined) return cut();
    this.#wholeEnd = "stopped";
    this.#body.stopWithServer();
    // `end` has changed it meanwhile where nothing is left to be read.
    if ((this.how as StreamEnd | undefined) === undefined) later(cut);
  }

  /**
   * Hands over each part until the stream ends, or its client has gone: `send` then resolves with false. Never rejects.
   *
   * @param close Sends the end of a body that is whole. Resolves with false if the client has gone.
   */
  async sendTo(send: (part: Uint8Array) => boolean | Promise<boolean>, close?: () => Promise<boolean>): Promise<Ended> {
    try {
      while (this.how === undefined) {
        const part = await this.#nextOrEnd();
        if (this.how !== undefined) break;
        if (part === undefined) {
          const isClosed = close === undefined || !isWholeEnd(this.outcome) || (await close());
          this.end(isClosed ? this.outcome : "client gone");
          break;
        }
        const sent = send(part);
        const isWanted = typeof sent === "boolean" ? sent : await sent;
        if (this.isLong) this.finish();
        else if (!isWanted) this.end("client gone");
      }
    } catch (thrown) {
      this.end("failed", thrown);
      return { how: this.how as StreamEnd, thrown };
    }
    return { how: this.how as StreamEnd };
  }

  /** Ends it. The first end is the one that counts, and that of its client goes before. */
  end(how: StreamEnd, thrown?: unknown): void {
    if (this.how !== undefined) return;
    const ended = this.#sending?.lost?.() ?? how;
    this.how = ended;
    if (ended !== "finished") inBackground(this.stop());
    this.#wake?.();
    if (this.#sending !== undefined) attempt(undefined, () => this.#sending?.ended(ended));
    this.#request?.ended(ended, thrown);
  }

  /** Stops its producer. Resolves once that has ended: a generator has left its `finally`. Never rejects. */
  stop(): Promise<void> {
    if (this.#stopped !== undefined) return this.#stopped;
    const stopping = (this.#source ?? this.#parts()).cancel();
    // A body that writes itself reports by itself when its producer has ended.
    if (stopping !== undefined) this.#request?.producing(stopping);
    return (this.#stopped = stopping ?? Promise.resolve());
  }

  #parts(): Parts {
    return (this.#source ??= readParts(this.#body, this.#iterator, this.#request)) as Parts;
  }

  // The producer may not see that the stream has ended: a generator that itself awaits does not.
  #nextOrEnd(): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      // A named constant: V8 pretenures a closure that is assigned straight to a member.
      const wake = (): void => resolve(undefined);
      this.#wake = wake;
      this.next().then(resolve, reject);
    });
  }
}
