import type { ServerHttp2Stream } from "node:http2";
import { logListener } from "../../../src/app/failures.ts";
import { readParts } from "../../../src/events/stream.ts";
import type { Parts, StreamBody, StreamEnd, StreamSink, StreamWriting } from "../../../src/events/stream.ts";
import { caught, guarded, inBackground } from "../../../src/logging/raised.ts";
import type { Deadline, DeadlineListener } from "../../../src/server/deadlines.ts";
import type { OpenStream, ServerState } from "../stream.ts";

/**
 * Resets a stream (INTERNAL_ERROR), so that its client sees that the response is not whole. Node's `close` with an error code ends
 * the response first, and the client takes it for whole.
 */
function reset(stream: ServerHttp2Stream): void {
  stream.destroy(new Error("reset"));
}

/** The bytes of one write: HTTP/2's smallest frame limit. */
const partBytes = 16_384;
/** How long a stream that is cut has to send what was written. */
const lingerMs = 1000;

/**
 * Limits how long a client may take nothing of a response, with the window of the stream or the connection closed: a part of 16
 * KiB must be taken in `sendTimeoutMs`. Only the stream is reset; the idle timeout ends a connection that is stuck.
 */
export class SendTimeout implements DeadlineListener {
  readonly #stream: ServerHttp2Stream;
  readonly #server: ServerState;
  #deadline: Deadline | undefined = undefined;
  hasExpired = false;

  constructor(stream: ServerHttp2Stream, server: ServerState) {
    this.#stream = stream;
    this.#server = server;
  }

  /** The client takes nothing from now on, until `clear` or the next `start`. */
  start(): void {
    this.clear();
    this.#deadline = this.#server.deadlines.time(this.#server.sendTimeoutMs, this);
  }

  clear(): void {
    this.#deadline?.clear();
    this.#deadline = undefined;
  }

  expire(): void {
    if (this.#stream.destroyed) return;
    this.hasExpired = true;
    logListener("info", `reset a stream whose client stopped reading for ${this.#server.sendTimeoutMs / 1000}s`);
    reset(this.#stream);
  }
}

/** Sends a whole body, the next part once the client has taken the one before. */
export function sendBody(stream: ServerHttp2Stream, body: string | Uint8Array, timeout: SendTimeout): void {
  timeout.start();
  if (body.length <= partBytes) {
    stream.end(body);
    return;
  }
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  let at = 0;
  const next = guarded(stream, () => {
    if (stream.destroyed) return;
    timeout.start();
    const part = bytes.subarray(at, at + partBytes);
    at += part.byteLength;
    if (at < bytes.byteLength) stream.write(part, next);
    else stream.end(part);
  });
  next();
}

/** Writes a streamed body as it is made, at most one part ahead of the client. */
export class Http2Stream implements StreamSink, OpenStream {
  readonly isEventStream: boolean;
  readonly #stream: ServerHttp2Stream;
  readonly #body: StreamBody;
  readonly #server: ServerState;
  readonly #timeout: SendTimeout;
  readonly #finished: () => void;
  /** The source of the body, which is cancelled when reading ends. */
  #source: Parts | StreamWriting | undefined = undefined;
  #isCut = false;
  #hasEnded = false;
  #draining: Promise<void> | undefined = undefined;
  /** Ends the wait for a part, if there is one. */
  #wake: (() => void) | undefined = undefined;

  /** @param finished Called once the whole body was given to the stream. */
  constructor(
    stream: ServerHttp2Stream,
    body: StreamBody,
    isEventStream: boolean,
    server: ServerState,
    finished: () => void,
  ) {
    this.isEventStream = isEventStream;
    this.#stream = stream;
    this.#body = body;
    this.#server = server;
    this.#finished = finished;
    this.#timeout = new SendTimeout(stream, server);
  }

  run(): void {
    this.#stream.on("close", this.#cancel);
    this.#server.streams.add(this);
    this.#begin();
    // It was requested while the server ran, and answered after it stopped.
    if (this.isEventStream && this.#server.endsEventStreams) this.cut();
  }

  #begin(): void {
    const { writeTo } = this.#body;
    if (writeTo !== undefined) {
      const source = writeTo(this);
      this.#source = source;
      // It may have ended meanwhile, before the source could be cancelled.
      if (this.#hasEnded) source.cancel();
      return;
    }
    const parts = readParts(this.#body);
    this.#source = parts;
    this.#writeParts(parts)
      .then(
        (how) => this.#over(how),
        (thrown: unknown) => this.fail(thrown),
      )
      .catch((thrown: unknown) => caught(thrown, this.#stream));
  }

  write(part: Uint8Array): boolean {
    return !this.#isOver() && this.#stream.write(part);
  }

  async room(): Promise<boolean> {
    if (!this.#isOver()) await this.#drained();
    return !this.#isOver();
  }

  end(): void {
    this.#over(this.#isOver() ? this.#gone() : "finished");
  }

  fail(thrown: unknown): void {
    // A producer that is cancelled may throw.
    this.#over(this.#isOver() ? this.#gone() : "failed", thrown);
  }

  readonly #cancel = (): void => {
    try {
      this.#timeout.clear();
      inBackground(this.#source?.cancel());
      if (this.#body.writeTo !== undefined) this.#over(this.#gone());
      else this.#wake?.();
    } catch (thrown) {
      caught(thrown, this.#stream);
    }
  };

  /** The server stops: the source is cancelled, and what was written is sent. */
  cut(): void {
    if (this.#hasEnded || this.#isCut) return;
    this.#isCut = true;
    this.#cancel();
    this.#reset();
  }

  /** Resets the stream once its written part is sent: its client sees that the rest is missing. */
  #reset(): void {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return;
    const act = guarded(stream, () => reset(stream));
    const deadline = this.#server.deadlines.time(lingerMs, { expire: act });
    stream.once("close", () => deadline.clear());
    stream.write("", act);
  }

  #over(how: StreamEnd, thrown?: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#server.streams.delete(this);
    this.#end(how);
    this.#body.request?.ended(how, thrown);
  }

  #end(how: StreamEnd): void {
    if (how !== "finished") inBackground(this.#source?.cancel());
    // Of too long a body, its client has all that the head announced.
    if (how === "finished" || (how === "long" && !this.#isOver())) {
      this.#timeout.start();
      this.#finished();
      this.#stream.end();
    } else if (!this.#isOver()) this.#reset();
  }

  async #writeParts(parts: Parts): Promise<StreamEnd> {
    const { length } = this.#body;
    let left = length ?? Number.POSITIVE_INFINITY;
    for (let part = await this.#next(parts); part !== undefined; part = await this.#next(parts)) {
      if (this.#isOver()) return this.#gone();
      const written = await this.#writePart(part.subarray(0, left));
      if (!written) return this.#gone();
      if (part.byteLength > left) return "long";
      left -= part.byteLength;
    }
    if (this.#isOver()) return this.#gone();
    return length !== undefined && left > 0 ? "short" : "finished";
  }

  /** A long part in pieces: each must be taken in time. */
  async #writePart(part: Uint8Array): Promise<boolean> {
    for (let at = 0; at < part.byteLength; at += partBytes) {
      if (this.#isOver()) return false;
      if (!this.#stream.write(part.subarray(at, at + partBytes))) await this.#drained();
    }
    return !this.#isOver();
  }

  // The source may not notice that reading has ended: a generator that itself awaits does not.
  #next(parts: Parts): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      const wake = (): void => resolve(undefined);
      this.#wake = wake;
      parts.next().then(resolve, reject);
    });
  }

  #isOver(): boolean {
    return this.#isCut || this.#stream.destroyed || this.#stream.closed;
  }

  #gone(): StreamEnd {
    if (this.#isCut) return "connection closed";
    return this.#timeout.hasExpired ? "client stopped reading" : "client gone";
  }

  /** Waits until the client has taken what was written, or the stream is closed; one wait for all sends. */
  #drained(): Promise<void> {
    const stream = this.#stream;
    if (stream.destroyed) return Promise.resolve();
    this.#draining ??= new Promise((resolve) => {
      const settle = guarded(stream, () => {
        stream.off("drain", settle).off("close", settle);
        this.#timeout.clear();
        this.#draining = undefined;
        resolve();
      });
      this.#timeout.start();
      stream.once("drain", settle).once("close", settle);
    });
    return this.#draining;
  }
}
